"""Cancelling an asynchronous function at every place where it can be cancelled."""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Cancellation(Generic[T]):
    """One run of the function.

    `at` is the number of the suspension at which it was cancelled, None for the last run, which came to its end by
    itself; `result` is what that one gave.
    """

    at: int | None
    result: T | None = None


def every_cancellation(function: Callable[[], Coroutine[Any, Any, T]]) -> Iterator[Cancellation[T]]:
    """Run `function` again and again, on an event loop of its own, each time cancelled one suspension later.

    Suspensions are counted in the function and in every task that it starts, so that it is also cancelled where it
    waits and its tasks are half-way. The body of the `for` looks at what is left each time:

        for run in every_cancellation(turn):
            assert connections_open == 0

    Raises:
        AssertionError: a cancelled run went on to its end or raised something else, or left tasks running.
    """
    at = 0
    while True:
        at += 1
        run = asyncio.run(_run(function, at))
        yield run
        if run.at is None:
            return


async def _run(function: Callable[[], Coroutine[Any, Any, T]], at: int) -> Cancellation[T]:
    loop, counter = asyncio.get_running_loop(), _Counter(at)
    loop.set_task_factory(counter.task)
    try:
        counter.watched = asyncio.ensure_future(function())
        outcome = (await asyncio.gather(counter.watched, return_exceptions=True))[0]
    finally:
        loop.set_task_factory(None)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, f"cancelled at suspension {at}, it left running: {sorted(map(str, left))}"
    if counter.struck:
        assert isinstance(outcome, asyncio.CancelledError), (
            f"cancelled at suspension {at}, it did not end with CancelledError but with {outcome!r}"
        )
        return Cancellation(at)
    if isinstance(outcome, BaseException):
        raise outcome
    return Cancellation(None, outcome)


class _Counter:
    """Counts the suspensions of all tasks of a loop, and cancels the watched one at that of the given number."""

    def __init__(self, at: int) -> None:
        self._left = at
        self.struck = False
        self.watched: asyncio.Future[Any] | None = None

    def task(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> "asyncio.Task[Any]":
        """A task whose suspensions count."""
        return asyncio.Task(_counted(coroutine, self), loop=loop, **options)

    def suspended(self) -> None:
        """One more suspension."""
        self._left -= 1
        if self._left == 0 and self.watched is not None:
            self.struck = self.watched.cancel()


async def _counted(coroutine: "Coroutine[Any, Any, T] | Generator[Any, Any, T]", counter: _Counter) -> T:
    return await _Passing(coroutine, counter)


class _Passing(Generic[T]):
    """Passes on what a coroutine yields to its loop, which is what a suspension is."""

    def __init__(self, coroutine: Any, counter: _Counter) -> None:
        self._coroutine = coroutine
        self._counter = counter

    def __await__(self) -> Generator[Any, Any, T]:
        sent: Any = None
        raised: BaseException | None = None
        while True:
            try:
                waited_for = self._coroutine.send(sent) if raised is None else self._coroutine.throw(raised)
            except StopIteration as ended:
                result: T = ended.value
                return result
            self._counter.suspended()
            sent = raised = None
            try:
                sent = yield waited_for
            except GeneratorExit:
                self._coroutine.close()
                raise
            except BaseException as error:  # noqa: BLE001  # whatever the loop throws is the coroutine's
                raised = error
