"""Worker threads for blocking work: one per job in flight, reused when idle, never limited process-wide.

A process-wide limit would deadlock turns that call turns (R30); how many calls run at once is the manager's decision.
"""

import asyncio
import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
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

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def tell(result: Any, error: BaseException | None) -> None:
        loop.call_soon_threadsafe(settle, result, error)

    _start(_Job(loop, partial(function, *args, **kwargs), tell))
    return await future


async def run_together(works: Sequence[Callable[[], R]]) -> list[tuple[R | None, Exception | None]]:
    """Run all of `works`, each in a worker thread of its own, and give what came of each: a result or an error.

    The caller waits once, whatever their number. What is no `Exception` is raised at once (R11), and the others are
    abandoned, as they are where the caller is cancelled.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    outcomes: list[Any] = [None] * len(works)
    told: list[int] = []

    def settle(error: BaseException | None) -> None:
        if ended.done():
            return
        if error is not None:
            ended.set_exception(error)
        else:
            ended.set_result(None)

    def tell(index: int, result: Any, error: BaseException | None) -> None:
        outcomes[index] = result, error
        told.append(index)
        fatal = None if isinstance(error, Exception) else error
        if fatal is not None or len(told) == len(works):  # the loop is woken once; two of the last may both do it
            loop.call_soon_threadsafe(settle, fatal)

    for index, work in enumerate(works):
        _start(_Job(loop, work, partial(tell, index)))
    await ended
    return outcomes


def _start(job: "_Job") -> None:
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
        worker.start()
    worker.jobs.put(job)


class _Job:
    """Work for a thread, with a copy of the context variables of who makes it; `tell` is told there of its outcome."""

    __slots__ = ("context", "loop", "tell", "work")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        work: Callable[[], Any],
        tell: Callable[[Any, BaseException | None], object],
    ) -> None:
        self.loop, self.work, self.tell = loop, work, tell
        self.context = contextvars.copy_context()

    def run(self) -> tuple[Any, BaseException | None]:
        _origin.loop = self.loop
        try:
            return self.context.run(self.work), None
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
            self.tell(*outcome)
        except RuntimeError:
            return  # the loop is closed: the caller is gone, and a late result is dropped


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
