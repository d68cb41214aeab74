"""A user's containers of dependency-injector as sources of beans."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from dependency_injector import containers, providers, resources
from dependency_injector.wiring import Provide, inject

from vernal.context import (
    AmbiguousBeanError,
    Application,
    CircularDependencyError,
    MissingBeanError,
    ReservedNameError,
    Scope,
    UntypedBeanError,
    auto_configuration,
    bean,
    configuration,
    on_missing_bean,
    primary,
)
from vernal.context.settings import Settings
from vernal.testing.runner import ApplicationContextRunner


class Service:
    pass


class Special(Service):
    pass


@primary
class Chosen(Service):
    pass


class Client:
    def __init__(self, service: Service) -> None:
        self.service = service


def make_service() -> Service:
    return Service()


def runner(*sources: Any) -> ApplicationContextRunner:
    return ApplicationContextRunner().with_sources(*sources)


@auto_configuration
class Defaults:
    @bean
    @on_missing_bean
    def service(self) -> Service:
        return Service()


def test_a_default_steps_back_for_a_provider_of_the_user() -> None:
    """A provider of the user's container takes the place of a default, and is the very provider object."""

    class Beans(containers.DeclarativeContainer):
        special = providers.Singleton(Special)

    beans = Beans()
    with runner(beans).with_auto_configurations(Defaults).run() as run:
        assert run.context.get(Service) is beans.special()
        assert run.context.container.special is beans.special


def test_a_container_class_is_instantiated_for_each_start() -> None:
    """Two contexts from one container class do not touch each other."""

    class Beans(containers.DeclarativeContainer):
        service = providers.Singleton(Service)

    application = Application(Beans, plugins=False, environ={})
    with application as one, application as two:
        assert one.get(Service) is not two.get(Service)
        assert one.get(Service) is one.get(Service)


def generate() -> Iterator[Special]:
    yield Special()


class Opened(resources.Resource):  # type: ignore[type-arg]
    def init(self) -> Client:
        return Client(Service())

    def shutdown(self, resource: Client | None) -> None:
        pass


def test_types_are_inferred() -> None:
    """The type of a provider is its class, its function's return annotation, or its object's type."""

    class Beans(containers.DeclarativeContainer):
        config = providers.Configuration()
        by_class = providers.Singleton(Special)
        by_function = providers.Factory(make_service)
        by_object = providers.Object("text")
        by_generator = providers.Resource(generate)
        by_resource_class = providers.Resource(Opened)
        by_callable = providers.Callable(make_service)
        everything = providers.List(by_class, by_function)
        anything = providers.Callable(lambda: 3)

    with runner(Beans).run() as run:
        beans = {name: one.type for name, one in run.context.beans.items() if one.origin.source.startswith("Beans.")}
        scopes = {name for name, one in run.context.beans.items() if one.scope is Scope.PROTOTYPE}
        assert isinstance(run.context.get(Special, name="by_generator"), Special)
    assert beans == {
        "by_class": Special,
        "by_function": Service,
        "by_object": str,
        "by_generator": Special,
        "by_resource_class": Client,
        "by_callable": Service,
    }
    assert scopes == {"by_function", "by_callable"}


def test_a_provider_whose_type_cannot_be_told_is_refused() -> None:
    """A lambda says nothing of what it returns, so it could not take the place of anything: an error with the cure."""

    class Beans(containers.DeclarativeContainer):
        service = providers.Singleton(lambda: Service())

    with runner(Beans).run() as run:
        assert isinstance(run.failure, UntypedBeanError)
        assert "annotated function" in str(run.failure)


def test_an_open_dependency_is_filled_by_type_and_emptied_at_the_end() -> None:
    """An unbound `Dependency(instance_of=T)` gets the bean of T; the container is as it was after the context."""

    class Beans(containers.DeclarativeContainer):
        service = providers.Dependency(instance_of=Service)
        client = providers.Singleton(Client, service=service)

    beans = Beans()
    for _ in range(2):
        with runner(beans).with_auto_configurations(Defaults).run() as run:
            assert run.context.get(Client).service is run.context.get(Service)
            client = beans.client()
        assert not beans.service.is_defined
    with runner(beans).with_auto_configurations(Defaults).run() as run:
        assert run.context.get(Client) is not client  # it held a bean of a closed context


def test_an_open_dependency_that_nothing_fits_is_missing() -> None:
    """A bean that needs an unbound dependency is reported with the path, before anything is built."""

    class Beans(containers.DeclarativeContainer):
        service = providers.Dependency(instance_of=Service)
        client = providers.Singleton(Client, service=service)

    with runner(Beans).run() as run:
        assert isinstance(run.failure, MissingBeanError)
        assert run.failure.path[0].name == "client"


def test_a_bound_dependency_is_a_bean_and_a_default_is_kept() -> None:
    """What the user bound counts as a bean; a default holds where there is no bean."""

    class Beans(containers.DeclarativeContainer):
        service = providers.Dependency(instance_of=Service)
        other = providers.Dependency(instance_of=Service, default=providers.Singleton(Special))
        client = providers.Singleton(Client, service=other)

    bound = Chosen()
    with runner(Beans(service=providers.Object(bound))).run() as run:
        assert run.context.get(Service) is bound
        assert run.context.get(Client).service is bound
    with runner(Beans).run() as run:
        assert isinstance(run.context.get(Client).service, Special)


def test_an_open_dependency_takes_the_bean_of_its_name_where_several_fit() -> None:
    """Naming a dependency like a bean picks that bean; without a class the name alone counts."""

    @configuration
    class Others:
        @bean
        def fast(self) -> Service:
            return Special()

        @bean
        def slow(self) -> Service:
            return Service()

    class Beans(containers.DeclarativeContainer):
        fast = providers.Dependency(instance_of=Service)
        slow: providers.Dependency[Any] = providers.Dependency()
        client = providers.Singleton(Client, service=fast)
        other = providers.Singleton(Client, service=slow)

    class Unnamed(containers.DeclarativeContainer):
        service = providers.Dependency(instance_of=Service)
        client = providers.Singleton(Client, service=service)

    with runner(Others, Beans).run() as run:
        context = run.context
        assert context.get(Client, name="client").service is context.get(Service, name="fast")
        assert context.get(Client, name="other").service is context.get(Service, name="slow")
    with runner(Others, Unnamed).run() as run:
        assert isinstance(run.failure, AmbiguousBeanError)


class ClientSettings(Settings, prefix="client"):
    size: int = 4


class Sized:
    def __init__(self, settings: ClientSettings) -> None:
        self.settings = settings


def test_settings_fill_an_open_dependency() -> None:
    """A dependency on a settings class gets the bound settings."""

    class Beans(containers.DeclarativeContainer):
        settings = providers.Dependency(instance_of=ClientSettings)
        sized = providers.Singleton(Sized, settings)

    with runner(Beans).with_settings({"client": {"size": 9}}).run() as run:
        assert run.context.get(Sized).settings.size == 9


def test_a_provided_class_marked_primary_is_preferred() -> None:
    """`@primary` on a class counts where a container provides it."""

    class Beans(containers.DeclarativeContainer):
        special = providers.Singleton(Special)
        chosen = providers.Singleton(Chosen)

    with runner(Beans).run() as run:
        assert type(run.context.get(Service)) is Chosen


def test_a_circle_through_a_container_never_reaches_the_library() -> None:
    """A user's provider that needs a bean that needs it is a readable error, not a crash of the interpreter."""

    class Beans(containers.DeclarativeContainer):
        service = providers.Dependency(instance_of=Service)
        client = providers.ThreadSafeSingleton(Client, service=service)

    @configuration
    class Others:
        @bean
        def special(self, client: Client) -> Special:
            return Special()

    with runner(Beans, Others).run() as run:
        assert isinstance(run.failure, CircularDependencyError)
        assert {definition.name for definition, _ in run.failure.cycle} == {"client", "special"}


def test_a_circle_within_a_container_is_found() -> None:
    """Providers of one container that need each other are found as well."""

    class Beans(containers.DeclarativeContainer):
        service = providers.Singleton(Special)
        client = providers.Singleton(Client, service=service)

    beans = Beans()
    beans.service.add_attributes(client=beans.client)
    with runner(beans).run() as run:
        assert isinstance(run.failure, CircularDependencyError)


def test_beans_of_inner_containers_are_beans() -> None:
    """A container in a container brings its beans, named after both."""

    class Inner(containers.DeclarativeContainer):
        service = providers.Singleton(Special)

    class Beans(containers.DeclarativeContainer):
        inner = providers.Container(Inner)
        client = providers.Singleton(Client, service=inner.service)

    with runner(Beans).run() as run:
        assert run.context.get(Client).service is run.context.get(Service, name="inner.service")
        assert "inner.service" in run.context.graph["client"]


def test_overriding_as_users_of_the_library_know_it() -> None:
    """`.override` on a provider of the user's container, and on one of the context's, is seen by lookups."""

    class Beans(containers.DeclarativeContainer):
        service = providers.Singleton(Special)

    beans = Beans()
    with runner(beans, Defaults2).run() as run:
        mine, other = Service(), Client(Service())
        with beans.service.override(providers.Object(mine)):
            assert run.context.get(Service) is mine
        with run.context.container.client.override(providers.Object(other)):
            assert run.context.get(Client) is other
        assert type(run.context.get(Service)) is Special


@configuration
class Defaults2:
    @bean
    def client(self, service: Service) -> Client:
        return Client(service)


def test_reserved_names_are_refused() -> None:
    """A bean named like a method of the container would replace it."""

    @configuration
    class Beans:
        @bean
        def wire(self) -> Service:
            return Service()

    with runner(Beans).run() as run:
        assert isinstance(run.failure, ReservedNameError)
        assert "'wire'" in str(run.failure)


@inject
def injected(service: Service = Provide["service"]) -> Service:
    return service


class Connection:
    def __init__(self, log: list[str]) -> None:
        self.log = log


async def connect(log: list[str]) -> AsyncIterator[Connection]:
    log.append("open")
    yield Connection(log)
    log.append("closed")


async def dial(log: list[str]) -> Service:
    log.append("dialled")
    return Service()


def test_asynchronous_providers_of_the_user_start_with_the_context() -> None:
    """An async resource or singleton is awaited once at the start; those that need it stay synchronous."""
    log: list[str] = []

    class Beans(containers.DeclarativeContainer):
        connection = providers.Resource(connect, providers.Object(log))
        service = providers.Singleton(dial, providers.Object(log))
        client = providers.Singleton(Client, service=service)

    beans = Beans()
    for _ in range(2):
        log.clear()
        with runner(beans).run() as run:
            assert sorted(log) == ["dialled", "open"]
            assert run.context.get(Client).service is run.context.get(Service)
            assert isinstance(run.context.get(Connection), Connection)
        assert log[-1] == "closed"
        assert not beans.connection.overridden


def test_a_container_that_wires_itself_is_unwired_at_the_end() -> None:
    """What the context made it also takes down."""

    class Beans(containers.DeclarativeContainer):
        wiring_config = containers.WiringConfiguration(modules=[__name__])
        service = providers.Singleton(Service)

    with runner(Beans).run() as run:
        assert injected() is run.context.get(Service)
    assert not isinstance(injected(), Service)
