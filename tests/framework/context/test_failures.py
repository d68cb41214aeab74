"""What is wrong with a graph is said before anything is built: as data, and as one readable text."""

from typing import Annotated

import pytest

from vernal.context import (
    AmbiguousBeanError,
    CircularDependencyError,
    ContextError,
    DuplicateBeanError,
    MissingBeanError,
    Named,
    ObjectProvider,
    analyze,
    auto_configuration,
    bean,
    configuration,
    on_module,
    on_setting,
    render,
)
from vernal.context.plugins import Plugin, PluginError, hookimpl
from vernal.context.settings import Settings, SettingsError
from vernal.testing.runner import ApplicationContextRunner


class Engine:
    pass


class Wheel:
    pass


class Car:
    def __init__(self, *parts: object) -> None:
        self.parts = parts


class Garage:
    def __init__(self, car: Car) -> None:
        self.car = car


@configuration
class Cars:
    @bean
    def garage(self, car: Car) -> Garage:
        raise AssertionError("nothing is built while the graph is wrong")

    @bean
    def car(self, engine: Engine) -> Car:
        raise AssertionError("nothing is built while the graph is wrong")


@auto_configuration
class EngineAutoConfiguration:
    @bean
    @on_setting("engine.enabled")
    def engine(self) -> Engine:
        return Engine()


@auto_configuration
@on_module("no_such_engine")
class OtherEngineAutoConfiguration:
    @bean
    def other_engine(self) -> Engine:
        return Engine()


def failure(runner: ApplicationContextRunner) -> ContextError:
    with runner.run() as run:
        assert isinstance(run.failure, ContextError)
        return run.failure


def test_a_missing_bean_tells_the_path_and_what_kept_candidates_out() -> None:
    """The report draws the path from who asked to what is missing, and cites each condition with its cure."""
    runner = ApplicationContextRunner().with_sources(Cars)
    error = failure(runner.with_auto_configurations(EngineAutoConfiguration, OtherEngineAutoConfiguration))
    assert isinstance(error, MissingBeanError)
    assert [one.name for one in error.path] == ["garage", "car"]
    assert [one.name for one in error.kept_out] == ["engine", "other_engine"]
    text = str(error)
    assert text.startswith(f"There is no bean of type {__name__}.Engine.")
    assert "engine: " in text
    assert "<- missing" in text
    assert "on_setting('engine.enabled'): engine.enabled is not set" in text
    assert "on_module('no_such_engine'): module 'no_such_engine' is not installed" in text
    assert "Set VERNAL_ENGINE__ENABLED=" in error.report.action
    assert "install the package that brings the module 'no_such_engine'" in error.report.action


def test_a_missing_bean_that_was_excluded_says_so() -> None:
    """An exclusion is a reason, too."""
    runner = ApplicationContextRunner().with_sources(Cars).with_auto_configurations(EngineAutoConfiguration)
    assert "excluded by exclude=" in str(failure(runner.without(EngineAutoConfiguration)))


class Outer:
    class Engine:
        """Of the same name, and another type."""


def test_near_names_are_offered() -> None:
    """A type of a similar name, or a bean of a similar name, is named."""

    @configuration
    class Other:
        @bean
        def motor(self) -> Outer.Engine:
            return Outer.Engine()

    with ApplicationContextRunner().with_sources(Other).run() as run:
        with pytest.raises(MissingBeanError) as by_type:
            run.context.get(Engine)
        with pytest.raises(MissingBeanError) as by_name:
            run.context.get(Outer.Engine, name="moter")
    assert by_type.value.near == (f"{__name__}.Outer.Engine ('motor')",)
    assert "Did you mean 'motor'?" in str(by_name.value)


def test_a_named_bean_of_another_type_is_missing() -> None:
    """A name alone does not do where the type is wrong."""

    @configuration
    class Beans:
        @bean
        def wheel(self) -> Wheel:
            return Wheel()

        @bean
        def car(self, engine: Annotated[Engine, Named("wheel")]) -> Car:
            return Car(engine)

    error = failure(ApplicationContextRunner().with_sources(Beans))
    assert isinstance(error, MissingBeanError)
    assert "named 'wheel'" in str(error)


def test_ambiguity_names_every_candidate() -> None:
    """CAC-08: two beans where one is wanted fail the start; each candidate is named with its origin."""

    @configuration
    class Engines:
        @bean
        def first(self) -> Engine:
            return Engine()

        @bean
        def second(self) -> Engine:
            return Engine()

    error = failure(ApplicationContextRunner().with_sources(Cars, Engines))
    assert isinstance(error, AmbiguousBeanError)
    assert [one.name for one in error.candidates] == ["first", "second"]
    assert "Engines.first" in str(error)
    assert "@primary" in error.report.action


def test_an_optional_parameter_may_not_be_ambiguous() -> None:
    """None stands for no bean, not for too many."""

    @configuration
    class Beans:
        @bean
        def first(self) -> Engine:
            return Engine()

        @bean
        def second(self) -> Engine:
            return Engine()

        @bean
        def car(self, engine: Engine | None = None) -> Car:
            return Car(engine)

    assert isinstance(failure(ApplicationContextRunner().with_sources(Beans)), AmbiguousBeanError)


@configuration
class Circle:
    @bean
    def car(self, garage: Garage) -> Car:
        return Car(garage)

    @bean
    def garage(self, wheels: list[Wheel]) -> Garage:
        return Garage(Car())

    @bean
    def wheel(self, car: Car) -> Wheel:
        return Wheel()


def test_a_cycle_names_the_beans_and_the_parameters() -> None:
    """Beans that need each other, also through a list, are reported in order with the parameter of each step."""
    error = failure(ApplicationContextRunner().with_sources(Circle))
    assert isinstance(error, CircularDependencyError)
    steps = {definition.name: parameter for definition, parameter in error.cycle}
    assert steps == {"car": "garage", "garage": "wheels", "wheel": "car"}
    assert "again" in str(error)
    assert "ObjectProvider" in error.report.action


def test_a_bean_that_needs_itself_is_a_cycle() -> None:
    """A bean that asks for its own type is told to build the default that it wraps itself."""

    @configuration
    class Wrapper:
        @bean
        def car(self, car: Car) -> Car:
            return Car(car)

    error = failure(ApplicationContextRunner().with_sources(Wrapper))
    assert isinstance(error, CircularDependencyError)
    assert error.report.summary == "The bean 'car' needs itself."


def test_an_object_provider_breaks_a_cycle() -> None:
    """Asked later, an `ObjectProvider` closes a circle without harm; asked while being built it is an error."""

    @configuration
    class Lazy:
        @bean
        def car(self, garages: ObjectProvider[Garage]) -> Car:
            return Car(garages)

        @bean
        def garage(self, car: Car) -> Garage:
            return Garage(car)

    @configuration
    class Hasty:
        @bean
        def car(self, garages: ObjectProvider[Garage]) -> Car:
            return Car(garages.get())

        @bean
        def garage(self, car: Car) -> Garage:
            return Garage(car)

    with ApplicationContextRunner().with_sources(Lazy).run() as run:
        (garages,) = run.context.get(Car).parts
        assert isinstance(garages, ObjectProvider)
        assert garages.get() is run.context.get(Garage)
    with ApplicationContextRunner().with_sources(Hasty).run() as run, pytest.raises(CircularDependencyError):
        run.context.get(Garage)


def test_two_beans_of_one_name_are_refused() -> None:
    """Names are unique; both origins are named."""

    @configuration
    class More:
        @bean
        def car(self) -> Wheel:
            return Wheel()

    error = failure(ApplicationContextRunner().with_sources(Cars, More))
    assert isinstance(error, DuplicateBeanError)
    assert "Cars.car" in str(error)
    assert "More.car" in str(error)


class EngineSettings(Settings, prefix="engine"):
    size: int = 1


@configuration
class Wrong:
    @bean
    def car(self, engine: Engine, wheel: Wheel) -> Car:
        raise AssertionError("nothing is built while the graph is wrong")

    @bean
    def garage(self, settings: EngineSettings) -> Garage:
        raise AssertionError("nothing is built while the graph is wrong")


def test_everything_that_is_wrong_is_said_at_once() -> None:
    """All missing beans and wrong settings are in one error."""
    error = failure(ApplicationContextRunner().with_sources(Wrong).with_settings({"engine": {"size": "big"}}))
    assert [type(each) for each in error.others] == [MissingBeanError, SettingsError]
    text = str(error)
    assert "Engine" in text
    assert "Wheel" in text
    assert "engine.size" in text


def test_a_wrong_setting_alone_is_a_settings_error_before_anything_is_built() -> None:
    """Settings that a bean takes are read when the graph is checked."""

    @configuration
    class Beans:
        @bean
        def garage(self, settings: EngineSettings) -> Garage:
            raise AssertionError("nothing is built while the graph is wrong")

    with ApplicationContextRunner().with_sources(Beans).with_settings({"engine": {"size": "big"}}).run() as run:
        assert isinstance(run.failure, SettingsError)
        report = analyze(run.failure)
        assert report.kind == "wrong-setting"
        assert "engine.size" in report.details[0]


def test_a_report_is_plain_data() -> None:
    """A report can be shown as text and sent as JSON."""
    report = failure(ApplicationContextRunner().with_sources(Cars)).report
    data = report.as_dict()
    assert data["kind"] == "missing-bean"
    assert len(data["path"]) == 3
    assert render(report).splitlines()[-1] == f"What to do: {data['action']}"


def test_any_error_has_a_report() -> None:
    """A broken plugin has its own, and an error of nobody's is reported by its class and text."""
    plugin = PluginError(Plugin(name="audit", module="vernal_audit"), "it has no function marked @hookimpl")
    assert "VERNAL_PLUGINS__DISABLED=audit" in analyze(plugin).action
    assert analyze(ZeroDivisionError("no")).summary == "ZeroDivisionError: no"


class Store:
    """What a plugin would have brought."""


@configuration
class Shop:
    @bean
    def shop(self, store: Store) -> Car:
        return Car(store)


class BrokenPlugin:
    """A plugin whose library is not there."""

    @hookimpl
    def vernal_auto_configurations(self) -> list[type]:
        raise ImportError("No module named 'redis'")


def test_a_missing_bean_leads_to_the_plugin_that_could_not_be_loaded() -> None:
    """Nobody knows what it would have brought, so it is named, with what is wrong with it, and its mending advised."""
    with ApplicationContextRunner().with_sources(Shop).with_plugins({"store": BrokenPlugin()}).run() as run:
        assert isinstance(run.failure, MissingBeanError)
        report = analyze(run.failure)
    assert any("plugin 'store'" in detail and "No module named 'redis'" in detail for detail in report.details)
    assert report.action.startswith("Mend the plugin 'store' (it may bring one) or declare a bean")
