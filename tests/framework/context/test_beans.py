"""Beans declared in configuration classes, and what their parameters may ask for."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Generic, NewType, Protocol, TypeVar

import pytest

from vernal.context import (
    AmbiguousBeanError,
    AnnotationError,
    Application,
    ApplicationContext,
    BeanCreationError,
    MissingBeanError,
    Named,
    ObjectProvider,
    Scope,
    ScopeError,
    UntypedBeanError,
    bean,
    configuration,
    primary,
)
from vernal.context.settings import Environment, Settings
from vernal.errors import ConfigurationError, UsageError
from vernal.testing.runner import ApplicationContextRunner

T = TypeVar("T")


class Service:
    """A base type that several beans implement."""

    order: int


class First(Service):
    order = 1


class Second(Service):
    order = 2


class Holder:
    def __init__(self, held: Any) -> None:
        self.held = held


def app(*sources: type) -> ApplicationContextRunner:
    return ApplicationContextRunner().with_sources(*sources)


def test_a_bean_is_built_once_and_found_under_each_of_its_base_types() -> None:
    """A singleton is one object, whichever of its types it is asked for by."""

    @configuration
    class Beans:
        @bean
        def first(self) -> First:
            return First()

    with app(Beans).run() as run:
        assert run.context.get(First) is run.context.get(Service)
        assert run.context.get(Service, name="first") is run.context.get(First)


def test_parameters_are_injected_by_type() -> None:
    """A parameter gets the bean of its type."""

    @configuration
    class Beans:
        @bean
        def holder(self, service: Service) -> Holder:
            return Holder(service)

        @bean
        def first(self) -> First:
            return First()

    with app(Beans).run() as run:
        assert run.context.get(Holder).held is run.context.get(First)


def test_nothing_is_built_before_it_is_asked_for() -> None:
    """Singletons are lazy, unless `lazy=False` asks for them at the start."""
    built: list[str] = []

    @configuration
    class Beans:
        @bean
        def first(self) -> First:
            built.append("first")
            return First()

        @bean(lazy=False)
        def second(self) -> Second:
            built.append("second")
            return Second()

    with app(Beans).run() as run:
        assert built == ["second"]
        run.context.get(First)
        assert built == ["second", "first"]


def test_a_prototype_is_fresh_for_each_that_asks() -> None:
    """A prototype bean gives another object for every lookup and every injection."""

    @configuration
    class Beans:
        @bean(scope="prototype")
        def first(self) -> First:
            return First()

        @bean
        def holder(self, service: First) -> Holder:
            return Holder(service)

    with app(Beans).run() as run:
        assert run.context.get(First) is not run.context.get(First)
        assert run.context.get(Holder).held is not run.context.get(First)
        assert run.context.beans["first"].scope is Scope.PROTOTYPE


def test_a_list_holds_every_bean_in_order() -> None:
    """`list[T]`, `Sequence[T]` and `tuple[T, ...]` hold all beans of T, by `@bean(order=…)` or their own order."""

    @configuration
    class Beans:
        @bean
        def second(self) -> Second:
            return Second()

        @bean(order=3)
        def third(self) -> First:
            return First()

        @bean
        def first(self) -> First:
            return First()

        @bean
        def holder(self, services: list[Service], same: Sequence[Service], again: tuple[Service, ...]) -> Holder:
            assert tuple(services) == tuple(same) == again
            return Holder(services)

    with app(Beans).run() as run:
        context = run.context
        expected = [context.get(First, name="first"), context.get(Second), context.get(First, name="third")]
        assert context.get(Holder).held == expected
        assert context.get_all(Service) == expected
        assert context.get(list[Service]) == expected


def test_a_list_merges_beans_declared_as_lists_and_keeps_each_object_once() -> None:
    """TAC-10: single beans and beans that are lists of them are merged; what is in both is there once."""
    shared = First()

    @configuration
    class Beans:
        @bean
        def one(self) -> Service:
            return shared

        @bean
        def many(self) -> list[Service]:
            return [shared, Second()]

    with app(Beans).run() as run:
        assert [type(each) for each in run.context.get_all(Service)] == [First, Second]


def test_an_empty_list_is_injected_where_there_are_none() -> None:
    """Without beans a list parameter is empty, and one with a default keeps it."""

    @configuration
    class Beans:
        @bean
        def holder(self, services: list[Service], names: Sequence[str] = ("a",)) -> Holder:
            return Holder((services, names))

    with app(Beans).run() as run:
        assert run.context.get(Holder).held == ([], ("a",))


def test_a_mapping_holds_the_beans_by_name() -> None:
    """`Mapping[str, T]` maps the names of the beans of T to them, unless a bean is declared as that very mapping."""

    @configuration
    class Beans:
        @bean
        def first(self) -> First:
            return First()

        @bean
        def second(self) -> Second:
            return Second()

        @bean
        def ages(self) -> Mapping[str, int]:
            return {"a": 1}

        @bean
        def holder(self, services: Mapping[str, Service], ages: Mapping[str, int]) -> Holder:
            return Holder((services, ages))

    with app(Beans).run() as run:
        context = run.context
        expected = {"first": context.get(First), "second": context.get(Second)}
        assert context.get(Holder).held == (expected, {"a": 1})


def test_optional_and_default_parameters_may_stay_unfilled() -> None:
    """`T | None` gets None and a default is kept where there is no bean; both get the bean where there is one."""

    @configuration
    class Beans:
        @bean
        def holder(self, missing: Second | None, size: int = 3, present: First | None = None) -> Holder:
            return Holder((missing, size, present))

        @bean
        def first(self) -> First:
            return First()

    with app(Beans).run() as run:
        assert run.context.get(Holder).held == (None, 3, run.context.get(First))


def test_named_picks_one_of_several() -> None:
    """`Annotated[T, Named(…)]` takes the bean of that name."""

    @configuration
    class Beans:
        @bean(name="fast")
        def one(self) -> Service:
            return First()

        @bean
        def slow(self) -> Service:
            return Second()

        @bean
        def holder(self, service: Annotated[Service, Named("fast")]) -> Holder:
            return Holder(service)

    with app(Beans).run() as run:
        assert isinstance(run.context.get(Holder).held, First)


def test_primary_is_preferred() -> None:
    """One primary bean among several is taken; two are ambiguous again."""

    @configuration
    class Beans:
        @primary
        @bean
        def first(self) -> First:
            return First()

        @bean
        def second(self) -> Second:
            return Second()

    @configuration
    class More:
        @bean(primary=True)
        def third(self) -> Second:
            return Second()

    with app(Beans).run() as run:
        assert isinstance(run.context.get(Service), First)
    with app(Beans, More).run() as run, pytest.raises(AmbiguousBeanError):
        run.context.get(Service)


def test_object_provider_asks_later() -> None:
    """An `ObjectProvider[T]` gives the bean, a default, every bean in order, or an error, when it is asked."""

    @configuration
    class Beans:
        @bean
        def second(self) -> Second:
            return Second()

        @bean
        def first(self) -> First:
            return First()

        @bean
        def holder(self, services: ObjectProvider[Service], numbers: ObjectProvider[int]) -> Holder:
            return Holder((services, numbers))

    with app(Beans).run() as run:
        services, numbers = run.context.get(Holder).held
        assert [type(each) for each in services] == [First, Second] == [type(each) for each in services.stream()]
        assert services.get_if_unique() is None
        with pytest.raises(AmbiguousBeanError):
            services.get_if_available()
        assert numbers.get_if_available() is None
        assert numbers.get_if_available(5) == 5
        assert numbers.get_if_unique(6) == 6
        with pytest.raises(MissingBeanError):
            numbers.get()


class Repository(Generic[T]):
    pass


class OrderRepository(Repository[int]):
    pass


class Greeter(Protocol):
    def greet(self) -> str: ...


class Polite:
    def greet(self) -> str:
        return "good day"


UserId = NewType("UserId", str)


def test_generics_protocols_and_new_types_go_by_the_declared_type() -> None:
    """A generic alias, a protocol and a NewType are found as they were declared; a parametrised base counts."""

    @configuration
    class Beans:
        @bean
        def names(self) -> Repository[str]:
            return Repository()

        @bean
        def orders(self) -> OrderRepository:
            return OrderRepository()

        @bean
        def greeter(self) -> Greeter:
            return Polite()

        @bean
        def user(self) -> UserId:
            return UserId("u1")

        @bean
        def holder(self, orders: Repository[int], names: Repository[str], greeter: Greeter, user: UserId) -> Holder:
            return Holder((orders, names, greeter.greet(), user))

    with app(Beans).run() as run:
        context = run.context
        orders = context.get(OrderRepository)
        names: Repository[str] = context.get(Repository, name="names")
        assert context.get(Holder).held == (orders, names, "good day", "u1")
        assert context.get_all(Repository) == [names, orders]


class ServiceSettings(Settings, prefix="service"):
    size: int = 1


def test_settings_the_environment_and_the_context_are_injected() -> None:
    """A settings class, the `Environment` and the `ApplicationContext` may be parameters, and be asked for."""

    @configuration
    class Beans:
        @bean
        def holder(self, settings: ServiceSettings, environment: Environment, context: ApplicationContext) -> Holder:
            return Holder((settings.size, environment, context))

    with app(Beans).with_settings({"service": {"size": 7}}).run() as run:
        assert run.context.get(Holder).held == (7, run.context.environment, run.context)
        assert run.context.get(ServiceSettings).size == 7
        assert run.context.has(ServiceSettings)


def test_a_configuration_class_may_have_parameters_of_its_own() -> None:
    """The `__init__` of a configuration class is injected too; static and class methods need no object."""

    @configuration
    class Beans:
        def __init__(self, first: First) -> None:
            self.seen = first

        @bean
        def holder(self) -> Holder:
            return Holder(self.seen)

        @bean
        @staticmethod
        def first() -> First:
            return First()

        @classmethod
        @bean
        def second(cls) -> Second:
            return Second()

    with app(Beans).run() as run:
        assert run.context.get(Holder).held is run.context.get(First)
        assert isinstance(run.context.get(Second), Second)


def test_bean_methods_are_inherited_and_overridden() -> None:
    """A subclass inherits bean methods, and one that it defines anew without `@bean` is no bean any more."""

    class Base:
        @bean
        def first(self) -> First:
            return First()

        @bean
        def second(self) -> Second:
            return Second()

    @configuration
    class Beans(Base):
        def second(self) -> Second:
            return Second()

    with app(Beans).run() as run:
        assert run.context.has(First)
        assert not run.context.has(Second)


def test_marks_may_stand_in_any_order_around_a_context_manager() -> None:
    """`@bean` works above and below `@contextmanager`, and the bean is what it yields."""

    @configuration
    class Beans:
        @bean
        @contextlib.contextmanager
        def first(self) -> Iterator[First]:
            yield First()

        @contextlib.contextmanager
        @bean
        def second(self) -> Iterator[Second]:
            yield Second()

    with app(Beans).run() as run:
        assert isinstance(run.context.get(First), First)
        assert isinstance(run.context.get(Second), Second)


def test_string_annotations_are_read_or_refused_by_name() -> None:
    """R17: an annotation as text is evaluated; a name that is not there at run time is refused by that name."""

    @configuration
    class Good:
        @bean
        def first(self) -> "First":
            return First()

    @configuration
    class Bad:
        @bean
        def first(self) -> "Nowhere":  # type: ignore[name-defined]  # noqa: F821 - that is the point
            return First()

    with app(Good).run() as run:
        assert isinstance(run.context.get(First), First)
    with app(Bad).run() as run:
        assert isinstance(run.failure, AnnotationError)
        assert "Nowhere" in str(run.failure)


def test_a_bean_needs_a_type_that_says_something() -> None:
    """A bean without a return annotation, or one of `object`, None or a union, is refused."""

    @configuration
    class NoType:
        @bean
        def first(self):  # type: ignore[no-untyped-def]  # noqa: ANN201, RUF100 - that is the point
            return First()

    @configuration
    class Union:
        @bean
        def first(self) -> First | None:
            return First()

    for source in (NoType, Union):
        with app(source).run() as run:
            assert isinstance(run.failure, UntypedBeanError)
            assert "first" in str(run.failure)


@pytest.mark.parametrize("case", ["no annotation", "union", "no self"])
def test_a_parameter_that_cannot_be_filled_is_refused(case: str) -> None:
    """A parameter without annotation or with a union of types, and a method without self, are refused by name."""

    @configuration
    class NoAnnotation:
        @bean
        def first(self, thing) -> First:  # type: ignore[no-untyped-def]
            return First()

    @configuration
    class Union:
        @bean
        def first(self, thing: First | Second) -> First:
            return First()

    @configuration
    class NoSelf:
        @bean
        def first() -> First:  # type: ignore[misc]  # noqa: N805, RUF100 - that is the point
            return First()

    source = {"no annotation": NoAnnotation, "union": Union, "no self": NoSelf}[case]
    with app(source).run() as run:
        assert isinstance(run.failure, AnnotationError)
        assert "first" in str(run.failure)


def test_a_prototype_that_would_have_to_be_closed_is_refused() -> None:
    """Nobody closes prototypes, so a generator cannot make them; nor can a coroutine, since nobody awaits it."""

    @configuration
    class Resource:
        @bean(scope="prototype")
        def first(self) -> Iterator[First]:
            yield First()

    @configuration
    class Coroutine:
        @bean(scope="prototype")
        async def first(self) -> First:
            return First()

    @configuration
    class LazyCoroutine:
        @bean(lazy=True)
        async def first(self) -> First:
            return First()

    for source in (Resource, Coroutine, LazyCoroutine):
        with app(source).run() as run:
            assert isinstance(run.failure, ScopeError)


def test_a_configuration_class_without_beans_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """Who forgets `@bean` hears of it when the application starts, and not only from whom the bean is missing."""

    @configuration
    class Forgetful:
        def first(self) -> First:
            return First()

    with app(Forgetful).run() as run:
        assert not run.context.has(First)
    [record] = caplog.records
    assert "Forgetful declares no bean; mark the methods that make beans with @bean" in record.getMessage()


def test_a_failing_function_names_the_bean_and_the_way_to_it() -> None:
    """A bean whose function raises is named, with the path from what was asked for; the error is the cause."""

    @configuration
    class Beans:
        @bean
        def first(self) -> First:
            raise ZeroDivisionError("no luck")

        @bean
        def holder(self, first: First) -> Holder:
            return Holder(first)

    with app(Beans).run() as run:
        with pytest.raises(BeanCreationError) as caught:
            run.context.get(Holder)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        assert [one.name for one in caught.value.path] == ["holder", "first"]
        assert "no luck" in str(caught.value)
        assert "Beans.first" in str(caught.value)


def test_a_function_that_gives_none_is_refused() -> None:
    """A bean is an object; None is an error that says so."""

    @configuration
    class Beans:
        @bean
        def first(self) -> First:
            return None  # type: ignore[return-value]

    with app(Beans).run() as run, pytest.raises(BeanCreationError, match="gave None"):
        run.context.get(First)


def test_configuration_errors_of_a_bean_pass_as_they_are() -> None:
    """An error that explains itself is not wrapped."""

    @configuration
    class Beans:
        @bean
        def first(self) -> First:
            raise ConfigurationError("choose a model")

    with app(Beans).run() as run, pytest.raises(ConfigurationError, match=r"^choose a model$"):
        run.context.get(First)


def test_a_closed_context_gives_no_beans() -> None:
    """After the block a lookup says that the context is closed; closing again does nothing."""

    @configuration
    class Beans:
        @bean
        def first(self) -> First:
            return First()

    with app(Beans).run() as run:
        context = run.context
        context.get(First)
    for ask in (lambda: context.get(First), lambda: context.get_all(First)):
        with pytest.raises(UsageError, match="closed"):
            ask()
    context.close()


def test_what_is_no_source_is_refused_at_once() -> None:
    """`Application` takes configuration classes and containers; anything else is a TypeError that says so."""
    for wrong in (First, First(), "Beans", None):
        with pytest.raises(TypeError, match="@configuration"):
            Application(wrong)  # type: ignore[arg-type]


def test_the_views_tell_every_bean_with_its_origin() -> None:
    """`context.beans` and `context.graph` name every bean, where it was declared, and what it is given."""

    @configuration
    class Beans:
        @bean
        def holder(self, service: Service) -> Holder:
            return Holder(service)

        @bean
        def first(self) -> First:
            return First()

    with app(Beans).run() as run:
        definition = run.context.beans["holder"]
        assert definition.origin.source == "Beans.holder"
        assert definition.origin.file == __file__
        assert definition.origin.line > 0
        assert "first" in run.context.graph["holder"]
