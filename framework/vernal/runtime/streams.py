"""Streams: cold, closed deterministically, iterators and context managers in both faces."""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from vernal.runtime.portal import Crossing, prepare_blocking
from vernal.runtime.threads import run_in_thread

T = TypeVar("T")

_log = logging.getLogger("vernal.runtime")

BUFFERED_ITEMS = 64
"""How far the producer of a blocking stream may run ahead of its consumer."""


class AsyncStream(Generic[T]):
    """An asynchronous iterator that is also an asynchronous context manager; nothing runs before it is iterated."""

    __slots__ = ("_iterator", "_open")

    def __init__(self, open: Callable[[], AsyncIterator[T]]) -> None:  # noqa: A002  # says what it does
        self._open = open
        self._iterator: AsyncIterator[T] | None = None

    def __aiter__(self) -> AsyncIterator[T]:
        """The underlying iterator itself, so that nothing stands between producer and consumer."""
        if self._iterator is None:
            self._iterator = self._open().__aiter__()
        return self._iterator

    async def __anext__(self) -> T:
        return await self.__aiter__().__anext__()

    async def aclose(self) -> None:
        """End the stream; when this returns, what it held (a connection, running tools) is released (R20)."""
        if self._iterator is None:
            self._iterator = _nothing()  # it was never begun: nothing is opened for the sake of closing it
        await aclose(self._iterator)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Stream(Generic[T]):
    """A blocking iterator that is also a context manager; nothing runs before it is iterated.

    One task on the engine's loop fills a bounded buffer, so that a chunk costs no crossing of its own. `prepare` has
    that task run elsewhere.
    """

    def __init__(
        self,
        open: Callable[[], AsyncIterator[T]],  # noqa: A002  # says what it does
        *,
        prepare: Callable[[Callable[[], Coroutine[Any, Any, None]]], Crossing[None]] = prepare_blocking,
    ) -> None:
        self._prepare = prepare
        self._buffer = _Buffer(open)
        self._ready: deque[T] = deque()
        self._begun = False
        self._crossing: Crossing[None] | None = None

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        if self._ready:
            return self._ready.popleft()
        if self._crossing is None:
            if self._begun:
                raise StopIteration
            self._crossing = self._prepare(self._buffer.pump)
        self._begun = True
        try:
            self._crossing.start()
            self._ready = self._buffer.take(self._crossing)
        except BaseException:
            self.close()
            raise
        if self._ready:
            return self._ready.popleft()
        crossing, self._crossing = self._crossing, None
        crossing.wait()
        raise StopIteration

    def close(self) -> None:
        """End the stream; when this returns, what it held (a connection, running tools) is released (R20).

        An error that lies ahead of what has been read is left there, as in a stream that does not run ahead.
        """
        crossing = self._crossing
        self._ready.clear()
        if crossing is not None:
            crossing.cancel()
            self._crossing = None
            try:
                crossing.wait()
            except asyncio.CancelledError:
                pass
            except Exception as error:
                if error is not self._buffer.failure:
                    raise
                _log.debug("a stream failed ahead of where its reader left it", exc_info=error)
        self._begun = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        crossing = getattr(self, "_crossing", None)
        if crossing is not None:
            crossing.cancel()


class _Buffer(Generic[T]):
    """What a blocking stream shares with its pump.

    The pump knows the buffer and not the stream, so that a stream which nobody holds any more is noticed, and closed.
    """

    __slots__ = ("_arrived", "_changed", "_ended", "_loop", "_open", "_resume", "failure")

    def __init__(self, open: Callable[[], AsyncIterator[T]]) -> None:  # noqa: A002  # says what it does
        self._open = open
        self._arrived: deque[T] = deque()
        self._changed = threading.Condition(threading.Lock())
        self._ended = False
        self.failure: Exception | None = None
        """What the iterator has raised by itself, and not in cleaning up for a reader who has left."""
        self._resume: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def take(self, crossing: Crossing[None]) -> deque[T]:
        """Wait, and give all items that have arrived; none when the pump has ended."""
        with self._changed:
            while not self._arrived and not self._ended:
                crossing.block(self._changed.wait)
            taken, self._arrived = self._arrived, deque()
            ended = self._ended
        if len(taken) >= BUFFERED_ITEMS and not ended and self._loop is not None and self._resume is not None:
            self._loop.call_soon_threadsafe(self._resume.set)
        return taken

    async def pump(self) -> None:
        """Fill the buffer from the iterator, which is closed in the end."""
        self._loop, self._resume = asyncio.get_running_loop(), asyncio.Event()
        iterator: AsyncIterator[T] | None = None
        try:
            iterator = self._open().__aiter__()
            async for item in iterator:
                with self._changed:
                    self._arrived.append(item)
                    full = len(self._arrived) >= BUFFERED_ITEMS
                    self._changed.notify()
                if full:
                    self._resume.clear()
                    if len(self._arrived) >= BUFFERED_ITEMS:
                        await self._resume.wait()
        except Exception as error:
            task = asyncio.current_task()
            if task is not None and not task.cancelling():
                self.failure = error
            raise
        finally:
            try:
                await aclose(iterator)
            finally:
                with self._changed:
                    self._ended = True
                    self._changed.notify()


async def _nothing() -> AsyncIterator[Any]:
    return
    yield


async def aclose(iterator: Any) -> None:
    """Close an asynchronous iterator if it can be closed."""
    close = getattr(iterator, "aclose", None)
    if close is not None:
        await close()


async def iterate_in_thread(open: Callable[[], Iterator[T]]) -> AsyncIterator[T]:  # noqa: A002  # says what it does
    """The items of a blocking iterator, each pulled in a worker thread; closed with the asynchronous one."""
    pulled = _Pulled(iter(await run_in_thread(open)))
    try:
        while (item := await run_in_thread(pulled.next)) is not _END:
            yield item
    finally:
        if pulled.leave():
            await run_in_thread(pulled.close)


_END = object()


class _Pulled:
    """A blocking iterator in the hands of worker threads.

    Where a pull is abandoned in its middle, since its caller is cancelled, the iterator cannot be closed by anybody
    else: the thread closes it when it comes back.
    """

    def __init__(self, iterator: Iterator[Any]) -> None:
        self._iterator = iterator
        self._guard = threading.Lock()
        self._pulling = self._left = False

    def next(self) -> Any:
        """The next item, `_END` behind the last one; in a worker thread."""
        with self._guard:
            if self._left:
                return _END
            self._pulling = True
        try:
            return next(self._iterator, _END)
        finally:
            with self._guard:
                self._pulling = False
                left = self._left
            if left:
                self.close()

    def leave(self) -> bool:
        """Pull no more; says whether the iterator is free to be closed."""
        with self._guard:
            self._left = True
            return not self._pulling

    def close(self) -> None:
        """Close the iterator if it can be closed."""
        close = getattr(self._iterator, "close", None)
        if close is not None:
            close()
