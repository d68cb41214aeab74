"""Resources are opened in dependency order, closed in reverse, and every error is told."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager

import anyio
import pytest

from vernal.context import (
    Application,
    ApplicationContext,
    BeanCloseError,
    BeanCreationError,
    bean,
    configuration,
)
from vernal.errors import UsageError
from vernal.testing.runner import ApplicationContextRunner

LOG: list[str] = []


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    LOG.clear()


class Pool:
    pass


class Session:
    pass


class Server:
    pass


@contextmanager
def opened(name: str) -> Iterator[None]:
    LOG.append(f"open {name}")
    yield
    LOG.append(f"close {name}")


@configuration
class Mixed:
    """Written against the order of its dependencies."""

    @bean
    async def server(self, session: Session) -> AsyncIterator[Server]:
        with opened("server"):
            yield Server()

    @bean
    def session(self, pool: Pool) -> Iterator[Session]:
        with opened("session"):
            yield Session()

    @bean
    async def pool(self) -> AsyncIterator[Pool]:
        with opened("pool"):
            yield Pool()


OPENED = ["open pool", "open session", "open server"]
CLOSED = ["close server", "close session", "close pool"]


def application(*sources: type) -> Application:
    return ApplicationContextRunner().with_sources(*sources).application()


def test_resources_start_with_the_context_and_close_in_reverse() -> None:
    """Blocking: sync and async resources are opened in dependency order, whatever the order of their methods."""
    with application(Mixed) as context:
        assert LOG == OPENED
        assert isinstance(context.get(Server), Server)
        assert context.loop is not None
    assert LOG == OPENED + CLOSED


def test_resources_start_and_close_on_the_running_loop() -> None:
    """Asynchronous: the same on the loop of `async with`, which the context remembers."""

    async def main() -> None:
        async with application(Mixed) as context:
            assert LOG == OPENED
            assert context.loop is asyncio.get_running_loop()
            assert isinstance(context.get(Server), Server)
        assert LOG == OPENED + CLOSED

    asyncio.run(main())


def test_an_application_may_be_started_again() -> None:
    """Each start has new beans."""
    app = application(Mixed)
    with app as first:
        one = first.get(Server)
    with app as second:
        assert second.get(Server) is not one
    assert LOG == 2 * (OPENED + CLOSED)


def test_a_failing_start_closes_what_was_opened() -> None:
    """Where a bean fails half-way, those before it are closed, and the error names the bean."""

    @configuration
    class Failing:
        @bean
        async def engine(self, session: Session) -> AsyncIterator[int]:
            raise ZeroDivisionError("no")
            yield 1

    async def main() -> None:
        async with application(Mixed, Failing):
            raise AssertionError("it cannot start")

    for start in (lambda: application(Mixed, Failing).start(), lambda: asyncio.run(main())):
        LOG.clear()
        with pytest.raises(BeanCreationError) as caught:
            start()
        assert caught.value.definition.name == "engine"
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        opened = [line.removeprefix("open ") for line in LOG if line.startswith("open")]
        closed = [line.removeprefix("close ") for line in LOG if line.startswith("close")]
        assert opened == closed[::-1]
        assert {"pool", "session"} <= set(opened)


def test_every_error_of_closing_is_collected() -> None:
    """A bean that fails to close stops no other; all failures are in one group, which names the beans."""

    @configuration
    class Stubborn:
        @bean
        def first(self) -> Iterator[int]:
            yield 1
            raise ZeroDivisionError("first")

        @bean
        async def second(self, pool: Pool) -> AsyncIterator[str]:
            yield "x"
            raise ZeroDivisionError("second")

    context = application(Mixed, Stubborn).start()
    with pytest.raises(ExceptionGroup) as caught:
        context.close()
    failures = caught.value.exceptions
    assert all(isinstance(each, BeanCloseError) for each in failures)
    assert {each.definition.name for each in failures if isinstance(each, BeanCloseError)} == {"first", "second"}
    assert {str(each.__cause__) for each in failures} == {"first", "second"}
    assert LOG[-1] == "close pool"
    context.close()


def test_context_managers_are_beans_too() -> None:
    """A function that is annotated to return a context manager makes a resource of what that yields."""

    @asynccontextmanager
    async def connect() -> AsyncIterator[Server]:
        with opened("server"):
            yield Server()

    @contextmanager
    def borrow() -> Iterator[Session]:
        with opened("session"):
            yield Session()

    @configuration
    class Beans:
        @bean
        def server(self) -> AbstractAsyncContextManager[Server]:
            return connect()

        @bean
        def session(self, server: Server) -> AbstractContextManager[Session]:
            return borrow()

    with application(Beans) as context:
        assert isinstance(context.get(Server), Server)
        assert isinstance(context.get(Session), Session)
    assert LOG == ["open server", "open session", "close session", "close server"]


def test_a_lazy_resource_opens_when_it_is_asked_for() -> None:
    """`lazy=True` leaves a synchronous resource to its first use; it is closed all the same, or never opened."""

    @configuration
    class Beans:
        @bean(lazy=True)
        def session(self) -> Iterator[Session]:
            with opened("session"):
                yield Session()

    with application(Beans) as context:
        assert LOG == []
        context.get(Session)
    with application(Beans):
        pass
    assert LOG == ["open session", "close session"]


def test_asynchronous_beans_are_awaited_once_at_the_start() -> None:
    """A coroutine bean is built at the start, and beans that take it stay synchronous."""

    @configuration
    class Beans:
        @bean
        async def server(self, pool: Pool) -> Server:
            await asyncio.sleep(0)
            LOG.append("served")
            return Server()

        @bean
        def names(self, server: Server) -> list[str]:
            return [type(server).__name__]

    with application(Pools, Beans) as context:
        assert LOG == ["served"]
        assert context.get(list[str]) == ["Server"]
        assert context.get(Server) is context.get(Server)


@configuration
class Pools:
    @bean
    def pool(self) -> Pool:
        return Pool()


def test_a_resource_keeps_its_own_task() -> None:
    """A task group that a resource holds is entered and left in one task, as anyio demands, also from blocking code."""

    @configuration
    class Beans:
        @bean
        async def server(self) -> AsyncIterator[Server]:
            async with anyio.create_task_group() as group:
                group.start_soon(anyio.sleep_forever)
                yield Server()
                group.cancel_scope.cancel()
            LOG.append("ended")

        @bean
        async def other(self, server: Server) -> AsyncIterator[Session]:
            async with anyio.create_task_group():
                yield Session()

    with application(Beans):
        pass

    async def main() -> None:
        async with application(Beans):
            await asyncio.sleep(0)

    asyncio.run(main())
    assert LOG == ["ended", "ended"]


def test_a_time_limit_bounds_start_and_end() -> None:
    """`@bean(timeout=…)` ends a start or a close that takes longer; the failure names the bean."""

    @configuration
    class SlowStart:
        @bean(timeout=0.01)
        async def server(self) -> Server:
            await asyncio.Event().wait()
            return Server()

    @configuration
    class SlowOpen:
        @bean(timeout=0.01)
        async def server(self) -> AsyncIterator[Server]:
            await asyncio.Event().wait()
            yield Server()

    @configuration
    class SlowEnd:
        @bean(timeout=0.01)
        async def server(self) -> AsyncIterator[Server]:
            yield Server()
            await asyncio.Event().wait()

    for source in (SlowStart, SlowOpen):
        with pytest.raises(BeanCreationError, match="time was up"):
            application(source).start()
    context = application(SlowEnd).start()
    with pytest.raises(ExceptionGroup) as caught:
        context.close()
    assert "time was up" in str(caught.value.exceptions[0])
    with pytest.raises(ValueError, match="above 0"):
        bean(timeout=0)


def test_a_blocking_close_on_the_loop_of_the_beans_is_refused_with_the_cure() -> None:
    """R30: close() would wait for its own loop; it says to await aclose(), and nothing is closed yet."""

    async def main() -> None:
        context = await application(Mixed).astart()
        with pytest.raises(UsageError, match="aclose"):
            context.close()
        assert LOG == OPENED
        await context.aclose()
        assert LOG == OPENED + CLOSED

    asyncio.run(main())


def test_closing_from_elsewhere_happens_on_the_loop_that_started() -> None:
    """A context started by blocking code may be closed by a coroutine, and the other way round from a thread."""

    async def close_there(context: ApplicationContext) -> None:
        await context.aclose()

    asyncio.run(close_there(application(Mixed).start()))
    assert LOG == OPENED + CLOSED
    LOG.clear()

    async def main() -> None:
        context = await application(Mixed).astart()
        await asyncio.to_thread(context.close)

    asyncio.run(main())
    assert LOG == OPENED + CLOSED


def test_a_loop_that_has_ended_is_told() -> None:
    """Where the loop of the asynchronous beans is gone, each bean that cannot be closed says why."""

    async def main() -> ApplicationContext:
        return await application(Mixed).astart()

    context = asyncio.run(main())
    with pytest.raises(ExceptionGroup) as caught:
        context.close()
    assert "no longer runs" in str(caught.value.exceptions[0])
    assert "close session" in LOG


def test_a_cancelled_start_leaves_nothing_open() -> None:
    """Cancelling `astart` closes what was opened and ends the task of the bean that was being opened."""
    reached = asyncio.Event()

    @configuration
    class Hanging:
        @bean
        async def hanging(self, server: Server) -> AsyncIterator[int]:
            LOG.append("hanging")
            reached.set()
            try:
                await asyncio.Event().wait()
                yield 1
            finally:
                LOG.append("let go")

    async def main() -> None:
        start = asyncio.create_task(application(Mixed, Hanging).astart())
        await reached.wait()
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await start

    asyncio.run(main())
    assert [*OPENED, "hanging", "let go", *CLOSED] == LOG


def test_threads_build_a_singleton_once_and_others_beside_it() -> None:
    """Each singleton has its own lock: two threads get one object, and a slow bean holds up no other."""
    both = threading.Barrier(2, timeout=10)

    @configuration
    class Beans:
        @bean
        def server(self) -> Server:
            both.wait()
            LOG.append("server")
            return Server()

        @bean
        def session(self) -> Session:
            both.wait()
            LOG.append("session")
            return Session()

    with application(Beans) as context:
        found: list[object] = []
        wanted: list[type] = [Server, Server, Session, Session]
        threads = [threading.Thread(target=lambda kind=kind: found.append(context.get(kind))) for kind in wanted]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=10)
        assert len(found) == 4
        assert len({id(each) for each in found}) == 2
    assert sorted(LOG) == ["server", "session"]


def test_nothing_is_built_after_the_end() -> None:
    """A closed context gives and opens no bean, asked itself, through its container, or entered again."""
    opened: list[str] = []

    @configuration
    class Late:
        @bean(lazy=True)
        def resource(self) -> Iterator[bytearray]:
            opened.append("open")
            yield bytearray()

    with Application(Late, plugins=False) as context:
        container = context.container
    for ask in (lambda: context.get(bytearray), container.resource, context.__enter__):
        with pytest.raises(UsageError, match="the application context is closed"):
            ask()
    looked_at = Application(Late, plugins=False).check()
    with pytest.raises(UsageError, match="was only checked"):
        looked_at.container.resource()
    assert opened == []
