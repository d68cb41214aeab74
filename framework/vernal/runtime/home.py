"""Home: the event loop on which the turns of a client run, where what they use was started on one."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from vernal.errors import UsageError
from vernal.runtime.portal import Crossing, prepare_blocking, refuse_own_loop
from vernal.runtime.streams import BUFFERED_ITEMS, aclose

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


_processes: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()


def note_process(loop: asyncio.AbstractEventLoop) -> None:
    """Note that a loop runs in this process: in a fork of it the loop says that it runs, and nobody does its work."""
    _processes[loop] = os.getpid()


def runs_here(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether a loop runs, and in this process."""
    return loop.is_running() and _processes.get(loop, 0) in (0, os.getpid())


def _nowhere() -> asyncio.AbstractEventLoop | None:
    return None


class Home:
    """Where turns run: on the event loop that `loop` gives when one begins, or wherever they are asked for if it is
    None.

    A turn from elsewhere crosses once to that loop, and a stream has one pump there; cancelling it here ends it there
    before the caller goes on.

    Raises:
        UsageError: from each turn, where that loop no longer runs, or would have to wait for itself.
    """

    __slots__ = ("_loop",)

    def __init__(self, loop: Callable[[], asyncio.AbstractEventLoop | None] = _nowhere) -> None:
        self._loop = loop

    def prepare_blocking(
        self, function: Callable[P, Coroutine[Any, Any, R]], *args: P.args, **kwargs: P.kwargs
    ) -> Crossing[R]:
        """The work of `function` for a blocking caller, to be started."""
        loop = self._running()
        if loop is None:
            return prepare_blocking(function, *args, **kwargs)
        refuse_own_loop(loop, function)
        return Crossing(loop, partial(function, *args, **kwargs))

    def run_blocking(self, function: Callable[P, Coroutine[Any, Any, R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run `function` to its end for a blocking caller."""
        return self.prepare_blocking(function, *args, **kwargs).wait()

    def run(
        self, function: Callable[P, Coroutine[Any, Any, R]], *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, R]:
        """Run `function` to its end for an asynchronous caller."""
        loop = self._running()
        if loop is None or loop is asyncio.get_running_loop():
            return function(*args, **kwargs)
        return run_on_loop(loop, partial(function, *args, **kwargs))

    def stream(self, open: Callable[[], AsyncIterator[T]]) -> AsyncIterator[T]:  # noqa: A002  # says what it does
        """The items of an asynchronous iterator; where nothing has to be crossed, that iterator itself."""
        loop = self._running()
        if loop is None or loop is asyncio.get_running_loop():
            return open()
        return _iterate_on_loop(loop, open)

    def _running(self) -> asyncio.AbstractEventLoop | None:
        loop = self._loop()
        if loop is not None and not runs_here(loop):
            raise UsageError(
                "the event loop on which the asynchronous beans of this chat client's context were started no longer "
                "runs, or belongs to the process that this one was forked from; use the client while it runs, inside "
                "'async with Application(…)' or 'with Application(…)', and start the application after a fork"
            )
        return loop


ANYWHERE = Home()
"""Turns run wherever they are asked for."""


async def run_on_loop(loop: asyncio.AbstractEventLoop, make: Callable[[], Coroutine[Any, Any, R]]) -> R:
    """Await a coroutine that runs on another event loop; cancelled, it ends there before this returns."""
    here, ended = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        with suppress(RuntimeError):  # this loop is closed, and nobody waits
            here.call_soon_threadsafe(ended.set)

    crossing = Crossing(loop, make, on_end=tell)
    try:
        crossing.start()
        await ended.wait()
    except asyncio.CancelledError:
        crossing.cancel()
        await ended.wait()
        raise
    return crossing.wait()  # it has ended: this does not block


async def _iterate_on_loop(
    loop: asyncio.AbstractEventLoop,
    open: Callable[[], AsyncIterator[T]],  # noqa: A002  # says what it does
) -> AsyncIterator[T]:
    here, ready, room = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
    arrived: deque[T] = deque()

    async def pump() -> None:
        iterator = open()
        try:
            async for item in iterator:
                arrived.append(item)
                here.call_soon_threadsafe(ready.set)
                if len(arrived) >= BUFFERED_ITEMS:
                    room.clear()
                    if len(arrived) >= BUFFERED_ITEMS:
                        await room.wait()
        finally:
            await aclose(iterator)

    pumping = asyncio.ensure_future(run_on_loop(loop, pump))
    pumping.add_done_callback(lambda _: ready.set())
    try:
        while True:
            last = pumping.done()
            while arrived:
                yield arrived.popleft()
                if len(arrived) == BUFFERED_ITEMS - 1:
                    loop.call_soon_threadsafe(room.set)
            if last:
                break
            ready.clear()
            if not arrived and not pumping.done():
                await ready.wait()
        await pumping
    finally:
        pumping.cancel()
        await asyncio.gather(pumping, return_exceptions=True)
