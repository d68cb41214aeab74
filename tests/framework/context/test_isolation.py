"""Contexts of one process do not touch each other, and a context leaves nothing behind."""

import asyncio
import gc
import logging
import os
import subprocess
import sys
import weakref
from collections.abc import AsyncIterator, Iterator

import pytest
from dependency_injector import containers, providers

from vernal.context import Application, ApplicationContext, bean, configuration, on_setting
from vernal.context.settings import Environment, Settings
from vernal.errors import UsageError


class Connection:
    def __init__(self) -> None:
        self.closed = False


class Service:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection


def open_connection() -> Iterator[Connection]:
    connection = Connection()
    yield connection
    connection.closed = True


async def aopen_connection() -> AsyncIterator[Connection]:
    connection = Connection()
    yield connection
    connection.closed = True


class ShopSettings(Settings, prefix="shop"):
    name: str = "corner"


@configuration
class Beans:
    @bean
    async def connection(self) -> AsyncIterator[Connection]:
        connection = Connection()
        yield connection
        connection.closed = True

    @bean
    def service(self, connection: Connection, settings: ShopSettings) -> Service:
        return Service(connection)

    @bean
    @on_setting("shop.name", having="big")
    def size(self) -> int:
        return 7


class SyncContainer(containers.DeclarativeContainer):
    connection = providers.Resource(open_connection)
    service = providers.Singleton(Service, connection)


class AsyncContainer(containers.DeclarativeContainer):
    connection = providers.Resource(aopen_connection)
    service = providers.Singleton(Service, connection)


class Lone(containers.DeclarativeContainer):
    number = providers.Object(7)


def application(*sources: object, **environ: str) -> Application:
    return Application(*sources, plugins=False, environ=environ)  # type: ignore[arg-type]  # tests give anything


@pytest.mark.parametrize("source", [Beans, SyncContainer, AsyncContainer])
def test_contexts_of_the_same_sources_share_nothing(source: type) -> None:
    """Beans, resources, overrides and the end of one context are its own, also where the sources are the same."""
    shared = application(source)
    with shared as first:
        with shared as second:
            assert first.get(Service) is not second.get(Service)
            assert first.get(Service).connection is not second.get(Service).connection
            with first.override(Connection, stand_in := Connection()):
                assert first.get(Service).connection is stand_in
                assert second.get(Service).connection is not stand_in
            inner = second.get(Connection)
        assert inner.closed
        assert not first.get(Connection).closed


def test_settings_and_conditions_are_those_of_each_context() -> None:
    """What is set for one application decides nothing in another."""
    with application(Beans, VERNAL_SHOP__NAME="big") as big, application(Beans) as small:
        assert (big.get(ShopSettings).name, small.get(ShopSettings).name) == ("big", "corner")
        assert (big.has(int), small.has(int)) == (True, False)
        assert big.get(Environment) is not small.get(Environment)
        assert big.get(ApplicationContext) is big


@pytest.mark.parametrize("container", [SyncContainer, AsyncContainer])
def test_an_instance_of_a_container_belongs_to_one_open_context(container: type[containers.Container]) -> None:
    """A second open context would share and close what its providers hold; one after the other is fine."""
    instance, lone = container(), Lone()
    shared, other = application(instance), application(lone, instance)
    with shared as first:
        kept = first.get(Service)
        with pytest.raises(UsageError, match=f"the instance of {container.__name__}.*give the application the class"):
            shared.start()
        with pytest.raises(UsageError, match="still open"):
            other.start()
        assert other.check().beans.keys() >= {"connection", "number"}
        assert first.get(Service) is kept
        assert not kept.connection.closed
        with application(lone) as unhindered:
            assert unhindered.get(int) == 7
    with shared as again:
        assert again.get(Service) is not kept
        assert not again.get(Service).connection.closed


def test_contexts_on_two_loops_do_not_wait_for_each_other() -> None:
    """Two contexts with asynchronous beans live on the loops that started them."""

    async def main() -> None:
        async with application(Beans) as here:
            with application(Beans) as elsewhere:
                assert here.loop is asyncio.get_running_loop()
                assert elsewhere.loop is not here.loop
                assert elsewhere.get(Connection) is not here.get(Connection)

    asyncio.run(main())


def test_a_closed_context_is_forgotten() -> None:
    """Nothing of the process holds on to a context, its beans or its container after its end."""

    def use() -> list[weakref.ref[object]]:
        with application(Beans) as context:
            return [weakref.ref(context), weakref.ref(context.get(Service)), weakref.ref(context.container)]

    references = use()
    gc.collect()
    assert [reference() for reference in references] == [None, None, None]


def test_an_application_may_be_started_inside_itself(caplog: pytest.LogCaptureFixture) -> None:
    """Entered twice, an application leaves the contexts in reverse, and reads its settings each time."""
    environ = {"VERNAL_SHOP__NAME": "first"}
    shared = Application(Beans, plugins=False, environ=environ)
    with caplog.at_level(logging.WARNING), shared as outer:
        environ["VERNAL_SHOP__NAME"] = "second"
        with shared as inner:
            names = (outer.get(ShopSettings).name, inner.get(ShopSettings).name)
        with pytest.raises(UsageError, match="closed"):
            inner.get(Service)
        outer.get(Service)
    assert names == ("first", "second")
    assert not caplog.records


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_is_told_that_the_event_loop_stayed_behind() -> None:
    """In a forked process nobody does the work of the parent's loop: closing and turns say so, and do not wait."""
    program = """
import os, signal
from collections.abc import AsyncIterator
from vernal import Application, ChatClient, bean, configuration

class Connection: ...

@configuration
class Beans:
    @bean
    async def connection(self) -> AsyncIterator[Connection]:
        yield Connection()

with Application(Beans) as context:
    client = context.get(ChatClient)
    client.prompt("Hello").call().content()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        for work in (lambda: client.prompt("Hello").call().content(), context.close):
            try:
                work()
            except Exception as error:
                print(error, *getattr(error, "exceptions", ()), flush=True)
        with Application(Beans) as fresh:
            print(fresh.has(Connection), flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
    environ = {**os.environ, "VERNAL_CHAT__MODEL": "offline"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environ)
    assert done.stdout.count("belongs to the process that this one was forked from") == 2
    assert done.stdout.endswith("True\n")
