"""Worker threads for blocking work: one per job in flight, reused when idle, never limited process-wide.

A process-wide limit would deadlock turns that call turns (R30); how many calls run at once is the manager's decision.
"""

import asyncio
import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_IDLE_SECONDS = 10.0


class _Origin(threading.local):
    loop: asyncio.AbstractEventLoop | None = None


_origin = _Origin()
_idle: "deque[_Worker]" = deque()


def origin_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that started the job of the calling worker thread; None in any other thread."""
    return _origin.loop


async def run_in_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run blocking `function` in a worker thread with a copy of the caller's context variables.

    A cancelled caller abandons the thread; its late result is dropped.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[R] = loop.create_future()
    job = _Job(loop, future, contextvars.copy_context(), function, args, kwargs)
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
        worker.start()
    worker.jobs.put(job)
    return await future


class _Job:
    __slots__ = ("args", "context", "function", "future", "kwargs", "loop")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        future: "asyncio.Future[Any]",
        context: contextvars.Context,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.loop, self.future, self.context = loop, future, context
        self.function, self.args, self.kwargs = function, args, kwargs

    def run(self) -> tuple[Any, BaseException | None]:
        _origin.loop = self.loop
        try:
            return self.context.run(self.function, *self.args, **self.kwargs), None
        except (StopIteration, GeneratorExit) as stop:  # neither can pass through what awaits it
            error = RuntimeError(f"a blocking function raised {type(stop).__name__}")
            error.__cause__ = stop
            return None, error
        except BaseException as error:  # noqa: BLE001  # it belongs to the caller, who gets it
            return None, error
        finally:
            _origin.loop = None

    def deliver(self, outcome: tuple[Any, BaseException | None]) -> None:
        try:
            self.loop.call_soon_threadsafe(self._settle, *outcome)
        except RuntimeError:
            return  # the loop is closed: the caller is gone, and a late result is dropped

    def _settle(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)


class _Worker(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="vernal-worker", daemon=True)
        self.jobs: SimpleQueue[_Job] = SimpleQueue()

    def run(self) -> None:
        while True:
            try:
                job = self.jobs.get(timeout=_IDLE_SECONDS)
            except Empty:
                try:
                    _idle.remove(self)
                except ValueError:
                    continue  # somebody has just taken this worker: a job is coming
                return
            outcome = job.run()
            _idle.append(self)
            job.deliver(outcome)
            del job, outcome


def _forget() -> None:
    """After a fork neither the workers nor the loop of the forking tool exist in the child."""
    _idle.clear()
    _origin.loop = None


os.register_at_fork(after_in_child=_forget)
