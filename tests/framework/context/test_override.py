"""`context.override(T, value)`: another object in the place of a bean, and everything that depends on it anew."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

import pytest
from dependency_injector import containers, providers

from vernal.context import AmbiguousBeanError, MissingBeanError, ObjectProvider, bean, configuration
from vernal.context.settings import Settings
from vernal.errors import UsageError
from vernal.testing.runner import ApplicationContextRunner

LOG: list[str] = []


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    LOG.clear()


class Model:
    pass


class Client:
    def __init__(self, model: Model) -> None:
        self.model = model


class Desk:
    def __init__(self, client: Client) -> None:
        self.client = client


class Draft:
    def __init__(self, client: Client) -> None:
        self.client = client


class Unrelated:
    pass


@configuration
class Beans:
    @bean
    def model(self) -> Model:
        return Model()

    @bean
    def client(self, model: Model) -> Client:
        return Client(model)

    @bean
    def desk(self, client: Client) -> Desk:
        return Desk(client)

    @bean(scope="prototype")
    def draft(self, client: Client) -> Draft:
        return Draft(client)

    @bean
    def unrelated(self) -> Unrelated:
        return Unrelated()


RUNNER = ApplicationContextRunner().with_sources(Beans)


def test_dependents_are_built_anew_and_restored() -> None:
    """Inside the block singletons and prototypes see the value; after it the very objects of before are back."""
    with RUNNER.run() as run:
        context = run.context
        desk, unrelated, mine = context.get(Desk), context.get(Unrelated), Model()
        with context.override(Model, mine) as value:
            assert value is mine is context.get(Model)
            assert context.get(Desk).client.model is mine
            assert context.get(Draft).client is context.get(Client)
            assert context.get(Draft).client.model is mine
            assert context.get(Desk) is context.get(Desk) is not desk
            assert context.get(Unrelated) is unrelated
        assert context.get(Desk) is desk
        assert context.get(Draft).client is desk.client


def test_a_bean_that_was_never_asked_for_may_be_overridden_first() -> None:
    """What is built for the first time inside the block does not leak out of it."""
    with RUNNER.run() as run:
        mine = Model()
        with run.context.override(Model, mine):
            assert run.context.get(Desk).client.model is mine
        assert run.context.get(Desk).client.model is run.context.get(Model) is not mine


def test_overrides_nest() -> None:
    """An override inside another wins, and each is taken away by its own end, also after an error."""
    with RUNNER.run() as run:
        one, two, client = Model(), Model(), Client(Model())
        with run.context.override(Model, one):
            with contextlib.suppress(ZeroDivisionError), run.context.override(Model, two):
                assert run.context.get(Desk).client.model is two
                raise ZeroDivisionError
            assert run.context.get(Desk).client.model is one
            with run.context.override(Client, client):
                assert run.context.get(Desk).client is client
            assert run.context.get(Desk).client.model is one


def test_those_who_ask_later_see_it_too() -> None:
    """An `ObjectProvider` and `get_all` give the value inside the block."""

    @configuration
    class Asking:
        @bean
        def models(self, models: ObjectProvider[Model]) -> list[ObjectProvider[Model]]:
            return [models]

    with RUNNER.with_sources(Asking).run() as run:
        (models,) = run.context.get(list[ObjectProvider[Model]])
        mine = Model()
        with run.context.override(Model, mine):
            assert models.get() is mine
            assert run.context.get_all(Model) == [mine]
        assert models.get() is not mine


def test_one_of_several_is_overridden_by_name() -> None:
    """`name=` says which; overriding what is not there would have no effect and is an error."""
    runner = ApplicationContextRunner().with_bean(Model, Model(), name="one").with_bean(Model, Model(), name="two")
    with runner.run() as run:
        mine = Model()
        with run.context.override(Model, mine, name="one"):
            assert run.context.get(Model, name="one") is mine is not run.context.get(Model, name="two")
        with pytest.raises(AmbiguousBeanError):
            run.context.override(Model, mine)
        with pytest.raises(MissingBeanError):
            run.context.override(Client, Client(mine))


class ModelSettings(Settings, prefix="model"):
    size: int = 1


def test_settings_may_be_overridden() -> None:
    """A settings object is a bean like others; what takes it is built anew."""

    @configuration
    class Sized:
        @bean
        def size(self, settings: ModelSettings) -> int:
            return settings.size

    with ApplicationContextRunner().with_sources(Sized).run() as run:
        assert run.context.get(int) == 1
        with run.context.override(ModelSettings, ModelSettings(size=5)):
            assert run.context.get(int) == 5
        assert run.context.get(int) == 1


@configuration
class Resources:
    @bean
    async def desk(self, model: Model) -> AsyncIterator[Desk]:
        LOG.append("open")
        yield Desk(Client(model))
        LOG.append("close")

    @bean
    async def client(self, desk: Desk) -> Client:
        return desk.client

    @bean
    def draft(self, desk: Desk) -> Iterator[Draft]:
        LOG.append("begin")
        yield Draft(desk.client)
        LOG.append("end")


ASYNC_RUNNER = ApplicationContextRunner().with_bean(Model, Model()).with_sources(Resources)


def test_asynchronous_dependents_are_started_anew_and_closed() -> None:
    """Resources that depend on the bean are opened for the block and closed with it; the old ones stay open."""
    with ASYNC_RUNNER.run() as run:
        context, mine = run.context, Model()
        desk, client = context.get(Desk), context.get(Client)
        with context.override(Model, mine):
            assert LOG == ["open", "begin"] * 2
            assert context.get(Desk).client.model is context.get(Client).model is mine
            assert context.get(Draft).client.model is mine
        assert LOG == ["open", "begin"] * 2 + ["end", "close"]
        assert (context.get(Desk), context.get(Client)) == (desk, client)


def test_on_the_loop_of_the_beans_an_override_is_awaited() -> None:
    """`async with context.override(…)` works there; the blocking form is refused, and changes nothing."""

    async def main() -> None:
        async with ASYNC_RUNNER.run() as run:
            mine = Model()
            async with run.context.override(Model, mine):
                assert run.context.get(Client).model is mine
            with pytest.raises(UsageError, match="async with"), run.context.override(Model, mine):
                pass
            assert run.context.get(Client).model is run.context.get(Model) is not mine

    asyncio.run(main())


def test_what_fails_inside_takes_the_override_back() -> None:
    """Where a dependent cannot be built with the value, the override is undone and the error is raised."""

    class Refused(Model):
        pass

    @configuration
    class Picky:
        @bean
        async def desk(self, model: Model) -> Desk:
            if isinstance(model, Refused):
                raise ZeroDivisionError("refused")
            return Desk(Client(model))

    with ApplicationContextRunner().with_bean(Model, Model()).with_sources(Picky).run() as run:
        desk = run.context.get(Desk)
        with pytest.raises(Exception, match="refused"), run.context.override(Model, Refused()):
            pass
        assert run.context.get(Desk) is desk
        assert not isinstance(run.context.get(Model), Refused)


def test_providers_of_a_container_are_built_anew_too() -> None:
    """Singletons of a user's container that take an open dependency follow the override and come back."""

    class Container(containers.DeclarativeContainer):
        model = providers.Dependency(instance_of=Model)
        client = providers.Singleton(Client, model=model)
        desk = providers.ThreadSafeSingleton(Desk, client=client)
        draft = providers.Singleton(Draft, client=providers.Singleton(Client, model=model))

    with ApplicationContextRunner().with_bean(Model, Model(), name="the_model").with_sources(Container).run() as run:
        context, mine = run.context, Model()
        desk, draft = context.get(Desk), context.get(Draft)
        with context.override(Model, mine):
            assert context.get(Desk).client.model is mine
            assert context.get(Desk).client is context.get(Client)
            assert context.get(Draft).client.model is mine
        assert (context.get(Desk), context.get(Draft)) == (desk, draft)


async def connect(model: Model) -> AsyncIterator[Client]:
    LOG.append("open")
    yield Client(model)
    LOG.append("close")


def test_resources_of_a_container_are_opened_anew_too() -> None:
    """A user's async resource that takes an open dependency is opened for the block, and the old one is back after."""

    class Container(containers.DeclarativeContainer):
        model = providers.Dependency(instance_of=Model)
        client = providers.Resource(connect, model=model)
        desk = providers.Singleton(Desk, client=client)

    with ApplicationContextRunner().with_bean(Model, Model(), name="the_model").with_sources(Container).run() as run:
        context, mine = run.context, Model()
        client, desk = context.get(Client), context.get(Desk)
        with context.override(Model, mine):
            assert context.get(Client).model is mine
            assert context.get(Desk).client is context.get(Client)
            assert LOG == ["open", "open"]
        assert LOG == ["open", "open", "close"]
        assert (context.get(Client), context.get(Desk)) == (client, desk)
    assert LOG == ["open", "open", "close", "close"]
