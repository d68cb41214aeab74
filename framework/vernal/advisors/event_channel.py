"""Events of a piece of work, told while it runs."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, Generic, TypeVar

from vernal.values.events import ChatEvent

T = TypeVar("T")


class EventChannel(Generic[T]):
    """Runs a coroutine as a task and gives the events that are put meanwhile, from any thread; then `result`.

    Leaving early cancels the task and waits for its end, so that nothing is left running (R20).
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[ChatEvent | None] = asyncio.Queue()
        self.result: T

    def put(self, event: ChatEvent) -> None:
        """Tell `event`; callable in worker threads too. What comes after the end is dropped."""
        if asyncio._get_running_loop() is self._loop:
            self._queue.put_nowait(event)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._queue.put_nowait, event)

    async def during(self, work: Coroutine[Any, Any, T]) -> AsyncGenerator[ChatEvent, None]:
        """The events of `work`, which is raised from if it raises."""
        task = asyncio.ensure_future(work)
        task.add_done_callback(lambda _: self._queue.put_nowait(None))
        try:
            while (event := await self._queue.get()) is not None:
                yield event
            self.result = task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
