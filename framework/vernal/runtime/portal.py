"""The portal: one background event loop of the process, on which blocking callers run the asynchronous engine.

Started on first use, renewed after a fork, closed at exit. Inside a worker thread of the engine, work goes to the loop
that started the thread; on a loop that would have to wait for itself it is refused with the cure (R30).
"""

import asyncio
import atexit
import contextvars
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Generic, ParamSpec, TypeVar

from vernal.errors import UsageError
from vernal.runtime.threads import origin_loop

_STEP = 0.1
"""Seconds between two looks whether the task of a blocked event loop has been cancelled."""

P = ParamSpec("P")
R = TypeVar("R")


def run_blocking(function: Callable[P, Coroutine[Any, Any, R]], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run coroutine function `function` to its end from blocking code, and give its result.

    Ctrl-C cancels the work, waits until it has ended, and is raised.

    Raises:
        UsageError: the calling thread is running the very loop that would have to do the work.
    """
    return prepare_blocking(function, *args, **kwargs).wait()


def prepare_blocking(function: Callable[P, Coroutine[Any, Any, R]], *args: P.args, **kwargs: P.kwargs) -> "Crossing[R]":
    """The work of `function`, to be started where blocking work runs."""
    return Crossing(_target_loop(function), lambda: function(*args, **kwargs))


class Crossing(Generic[R]):
    """Work that a blocking caller starts on an event loop, and waits for.

    It does not start by being made: an interrupt may come between any two steps of the caller, who must have the work
    in hand by then, to cancel it.
    """

    __slots__ = (
        "_caller",
        "_cancelled",
        "_cancelled_before",
        "_context",
        "_done",
        "_ended",
        "_error",
        "_loop",
        "_make",
        "_on_end",
        "_result",
        "_started",
        "_task",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        make: Callable[[], Coroutine[Any, Any, R]],
        *,
        on_end: Callable[[], object] | None = None,
    ) -> None:
        self._loop, self._make, self._on_end = loop, make, on_end
        self._task: asyncio.Task[R] | None = None
        self._result: R | None = None
        self._error: BaseException | None = None
        self._caller = _task_here()
        self._cancelled_before = self._caller.cancelling() if self._caller is not None else 0
        self._context = contextvars.copy_context()
        self._ended = threading.Lock()
        self._ended.acquire()
        self._started = self._cancelled = self._done = False

    def start(self) -> None:
        """Start the work, unless it has been started."""
        if not self._started:
            self._loop.call_soon_threadsafe(self._start, context=self._context)
            self._started = True

    def wait(self) -> R:
        """Start the work if need be, and wait for its end; an interrupt cancels it, and is raised when it has ended."""
        try:
            self.start()
            if not self._done:
                self.block(self._ended.acquire)
        except BaseException:
            if not self._done and self.cancel():  # where it is done, the lock may be in hand already
                self._ended.acquire()
            raise
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # no cycle from the frame through the traceback
        return self._result  # type: ignore[return-value]  # it is set when there is no error

    def block(self, wait: Callable[..., bool]) -> None:
        """Block the caller in `wait`, which takes a `timeout` and says whether it is over, until it is.

        On a running event loop, which is blocked meanwhile, Ctrl-C may only cancel the loop's task, as under
        `asyncio.run`: then `CancelledError` is raised here, where that task stands (R30).
        """
        task = _task_here()
        if task is None or task is not self._caller:
            wait()
            return
        while not wait(timeout=_STEP):
            if task.cancelling() > self._cancelled_before:
                raise asyncio.CancelledError

    def cancel(self) -> bool:
        """Ask the work to end, or never to start, without waiting; says whether its loop is there to do so."""
        if self._loop.is_closed():
            return False
        self._loop.call_soon_threadsafe(self._cancel)
        return True

    def _start(self) -> None:
        if self._cancelled or self._task is not None:  # who starts may be interrupted before it knows that it has
            return
        try:
            self._task = self._loop.create_task(self._make())
        except BaseException as error:  # noqa: BLE001  # such as arguments that do not fit; it belongs to the caller
            self._end(error)
            return
        self._task.add_done_callback(self._finish)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
        elif not self._cancelled:
            self._cancelled = True
            self._end(asyncio.CancelledError())

    def _finish(self, task: "asyncio.Task[R]") -> None:
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is None:
            self._result = task.result()
        self._end(error)

    def _end(self, error: BaseException | None) -> None:
        self._error, self._done = error, True
        self._ended.release()
        if self._on_end is not None:
            self._on_end()


def _target_loop(function: Callable[..., Any]) -> asyncio.AbstractEventLoop:
    loop = origin_loop() or _portal.loop()
    refuse_own_loop(loop, function)
    return loop


def _task_here() -> "asyncio.Task[Any] | None":
    return asyncio.current_task() if asyncio._get_running_loop() is not None else None


def refuse_own_loop(loop: asyncio.AbstractEventLoop, function: Callable[..., Any]) -> None:
    """Refuse to wait for `loop` on that very loop (R30)."""
    if asyncio._get_running_loop() is loop:
        raise UsageError(
            f"a blocking call ({function.__module__}.{function.__qualname__}) was made on the event loop that has to "
            "do the work, which would wait for itself for ever; await the asynchronous face instead, the same name "
            "with an 'a' before it, such as .acall() for .call()"
        )


class _Portal:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            return loop
        with self._lock:
            if self._loop is None or self._loop.is_closed():
                loop = asyncio.new_event_loop()
                thread = threading.Thread(target=_serve, args=(loop,), name="vernal-portal", daemon=True)
                thread.start()
                self._thread, self._loop = thread, loop  # last: an interrupt before leaves no loop that nobody serves
            return self._loop

    def close(self) -> None:
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None and not loop.is_closed():
            loop.call_soon_threadsafe(loop.stop)
            thread.join(timeout=5)

    def forget(self) -> None:
        """After a fork the thread does not exist in the child: the next use starts anew."""
        self.__init__()  # type: ignore[misc]  # the lock may have been held by another thread of the parent


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        while True:
            try:
                loop.run_forever()
                return
            except (KeyboardInterrupt, SystemExit):
                continue  # raised by a task, whose caller gets it; the loop serves the others
    finally:
        _end(loop)


def _end(loop: asyncio.AbstractEventLoop) -> None:
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    try:
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


_portal = _Portal()
atexit.register(_portal.close)
os.register_at_fork(after_in_child=_portal.forget)
