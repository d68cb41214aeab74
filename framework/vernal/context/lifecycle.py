"""What was opened, closed in reverse; and resources that live in an asyncio task of their own."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any

from vernal.context.definitions import BeanDefinition
from vernal.context.failures.errors import BeanCloseError, describe_exception
from vernal.context.steps import Steps
from vernal.values.records import dataclass


@dataclass(frozen=True, slots=True)
class Opened:
    """A bean that has an end, and how it is reached: by a function, or on an event loop by a coroutine function."""

    definition: BeanDefinition
    close: Callable[[], object] | None = None
    aclose: Callable[[], Coroutine[Any, Any, object]] | None = None


class Lifecycle:
    """The beans that are open, in the order in which they were opened."""

    def __init__(self) -> None:
        self._opened: list[Opened] = []
        self.refusal = ""
        """Why nothing is built any more; empty while it is."""

    def add(self, opened: Opened) -> None:
        """Note a bean that was opened."""
        self._opened.append(opened)

    def enter(self, definition: BeanDefinition, manager: AbstractContextManager[Any]) -> Any:
        """Enter a context manager and note its end; gives what it yields."""
        value = manager.__enter__()
        self.add(Opened(definition, close=lambda: manager.__exit__(None, None, None)))
        return value

    def closing(self) -> Steps[list[BeanCloseError]]:
        """Close everything, last opened first; gives the failures, none of which stops the rest."""
        failures: list[BeanCloseError] = []
        interrupt: BaseException | None = None
        while self._opened:
            opened = self._opened.pop()
            try:
                if opened.aclose is not None:
                    yield opened.aclose
                elif opened.close is not None:
                    opened.close()
            except Exception as error:  # noqa: BLE001 - collected: the other beans must be closed too
                failure = BeanCloseError(opened.definition, describe_exception(error))
                failure.__cause__ = error
                failures.append(failure)
            except BaseException as error:  # noqa: BLE001 - raised below, when the other beans are closed
                interrupt = interrupt or error
        if interrupt is not None:
            raise interrupt
        return failures


class KeptResource:
    """An asynchronous context manager that is entered and left in one task.

    Libraries on anyio demand that: a task group or cancel scope held by a resource must end in the task that began it,
    and must not lie around the work of anybody else. `timeout` bounds the entering and the leaving, in seconds each.
    """

    def __init__(self, manager: AbstractAsyncContextManager[Any], name: str, *, timeout: float | None = None) -> None:
        self._manager = manager
        self._name = name
        self._timeout = timeout
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    async def open(self) -> Any:
        """Enter it; gives what it yields."""
        ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._keep(ready), name=f"vernal bean {self._name}")
        try:
            async with asyncio.timeout(self._timeout):
                await asyncio.wait({ready, self._task}, return_when=asyncio.FIRST_COMPLETED)
        except (asyncio.CancelledError, TimeoutError):
            await self._abandon()
            raise
        if not ready.done():
            await self._task  # raises what kept it from being entered
        return ready.result()

    async def close(self) -> None:
        """Leave it; raises what its end raises, or what ended it before."""
        self._closing.set()
        if self._task is not None:
            try:
                async with asyncio.timeout(self._timeout):
                    await asyncio.shield(self._task)
            except TimeoutError:
                await self._abandon()
                raise

    async def _abandon(self) -> None:
        """Cancel the task, and wait until it has ended."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _keep(self, ready: "asyncio.Future[Any]") -> None:
        async with self._manager as value:
            if not ready.done():
                ready.set_result(value)
            await self._closing.wait()
