"""Worker threads for blocking work (R16, R30)."""

import asyncio
import contextvars
import gc
import threading
import weakref

import pytest

from vernal.runtime import threads
from vernal.runtime.threads import origin_loop, run_in_thread

Seen: contextvars.ContextVar[str] = contextvars.ContextVar("seen", default="unset")


def test_work_runs_in_a_thread_with_a_copy_of_the_context() -> None:
    """R16: variables of the caller are seen; what the work sets stays with it, also in a thread that is used again."""

    def work() -> tuple[str, str]:
        seen = Seen.get()
        Seen.set("work")
        return seen, threading.current_thread().name

    async def run() -> list[tuple[str, str]]:
        Seen.set("caller")
        first = await run_in_thread(work)
        assert Seen.get() == "caller"
        return [first, await run_in_thread(work)]

    assert asyncio.run(run()) == [("caller", "vernal-worker")] * 2


def test_an_idle_thread_is_used_again() -> None:
    """One job after the other needs one thread; jobs at the same time need one each."""

    async def run() -> tuple[int, int]:
        one_by_one = {await run_in_thread(threading.get_ident) for _ in range(20)}
        barrier = threading.Barrier(4)

        def meet() -> int:
            barrier.wait(20)
            return threading.get_ident()

        at_once = set(await asyncio.gather(*(run_in_thread(meet) for _ in range(4))))
        return len(one_by_one), len(at_once)

    assert asyncio.run(run()) == (1, 4)


def test_there_is_no_limit_of_threads_in_the_process() -> None:
    """R30: a hundred jobs that wait for one another all run."""
    barrier = threading.Barrier(100)

    async def run() -> int:
        return len(await asyncio.gather(*(run_in_thread(barrier.wait, 20) for _ in range(100))))

    assert asyncio.run(run()) == 100


def test_work_knows_the_loop_that_started_it() -> None:
    """R30: while it runs, and no longer; other threads have none."""

    async def run() -> tuple[bool, bool]:
        here = asyncio.get_running_loop()
        return await run_in_thread(lambda: origin_loop() is here), origin_loop() is None

    assert asyncio.run(run()) == (True, True)
    assert asyncio.run(run()) == (True, True)


@pytest.mark.parametrize("error", [LookupError("gone"), KeyboardInterrupt(), SystemExit(3)])
def test_errors_come_out_as_they_were_raised(error: BaseException) -> None:
    """R11: of every kind; the thread goes on."""

    def fail() -> None:
        raise error

    async def run() -> BaseException:
        try:
            await run_in_thread(fail)
        except BaseException as raised:  # noqa: BLE001  # it is what is looked at
            return raised
        raise AssertionError

    assert asyncio.run(run()) is error
    assert asyncio.run(run_in_thread(lambda: "on")) == "on"


def test_the_end_of_an_iterator_is_no_end_of_the_caller() -> None:
    """A StopIteration cannot leave a coroutine; it is told as what it is."""
    with pytest.raises(RuntimeError, match="raised StopIteration") as caught:
        asyncio.run(run_in_thread(next, iter(())))
    assert isinstance(caught.value.__cause__, StopIteration)


def test_a_cancelled_caller_abandons_its_thread() -> None:
    """R16: the caller goes on at once; the late result, or error, is dropped without a word."""
    release, ended = threading.Event(), [threading.Event(), threading.Event()]

    def late(n: int) -> None:
        release.wait(20)
        ended[n].set()
        if n:
            raise LookupError("late")

    async def run() -> list[str]:
        complaints: list[str] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context["message"]))
        for n in range(2):
            task = asyncio.create_task(run_in_thread(late, n))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        release.set()
        for event in ended:
            assert await run_in_thread(event.wait, 20)
        await run_in_thread(gc.collect)
        return complaints

    assert asyncio.run(run()) == []


def test_a_result_that_comes_after_the_loop_is_closed_is_dropped() -> None:
    """R16: the thread survives it, and serves the next loop."""
    release, worker = threading.Event(), []

    def late() -> None:
        worker.append(threading.current_thread())
        release.wait(20)

    async def leave() -> None:
        task = asyncio.create_task(run_in_thread(late))
        await run_in_thread(lambda: None)
        task.cancel()

    asyncio.run(leave())
    release.set()
    assert asyncio.run(run_in_thread(lambda: "on")) == "on"
    assert all(thread.is_alive() for thread in worker)


def test_a_finished_job_is_not_held() -> None:
    """What a job was given and what it gave can be collected, though its thread waits for more."""

    class Big:
        pass

    async def run() -> tuple[weakref.ref[Big], weakref.ref[Big]]:
        given = Big()
        result = await run_in_thread(lambda big: Big(), given)
        return weakref.ref(given), weakref.ref(result)

    references = asyncio.run(run())
    assert asyncio.run(run_in_thread(lambda: "next job")) == "next job"
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_idle_threads_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that nobody has needed for a while ends, and is not offered any more."""
    monkeypatch.setattr(threads, "_IDLE_SECONDS", 0.01)
    monkeypatch.setattr(threads, "_idle", type(threads._idle)())

    async def run() -> threading.Thread:
        return await run_in_thread(threading.current_thread)

    worker = asyncio.run(run())
    worker.join(20)
    assert not worker.is_alive()
    assert not threads._idle
    assert asyncio.run(run()) is not worker
