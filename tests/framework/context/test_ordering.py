"""The order of auto-configurations, what is excluded, and which plugin's default wins."""

import logging
import random

import pytest

from vernal.context import (
    OrderCycleError,
    UnknownExclusionError,
    auto_configuration,
    bean,
    on_missing_bean,
)
from vernal.context.configurations import ConfigurationSource, Provenance
from vernal.context.marks import Names
from vernal.context.ordering import AutoConfigurationOrder
from vernal.context.plugins import LoadedPlugins, hookimpl
from vernal.testing.runner import ApplicationContextRunner


class Thing:
    def __init__(self, maker: str = "") -> None:
        self.maker = maker


def named(name: str, *, before: Names = (), after: Names = (), order: int = 0) -> type:
    """An auto-configuration of a name."""
    cls = type(name, (), {"__module__": "somewhere"})
    return auto_configuration(before=before, after=after, order=order)(cls)


def sorted_names(*classes: type) -> list[str]:
    sources = [ConfigurationSource(each, Provenance()) for each in classes]
    return [source.name for source in AutoConfigurationOrder(sources).sorted]


def test_without_more_the_name_decides_then_the_order() -> None:
    """Auto-configurations are sorted by `order`, then by name."""
    assert sorted_names(named("C"), named("A"), named("B")) == ["A", "B", "C"]
    assert sorted_names(named("C", order=-1), named("A", order=5), named("B")) == ["C", "B", "A"]


def test_before_and_after_move_them() -> None:
    """`before` and `after` take classes, names and full names; names that nobody has are ignored."""
    b = named("B")
    assert sorted_names(named("A", after="B"), b) == ["B", "A"]
    assert sorted_names(named("A", after=b), b) == ["B", "A"]
    assert sorted_names(named("A"), named("Z", before="somewhere.A")) == ["Z", "A"]
    assert sorted_names(named("A", after=["C", "Nobody"]), b, named("C")) == ["C", "A", "B"]
    assert sorted_names(named("A", after="Z", order=-9), named("Z", order=9)) == ["Z", "A"]


def test_a_cycle_names_the_classes() -> None:
    """Auto-configurations that come before each other are an error that names all of them."""
    with pytest.raises(OrderCycleError) as caught:
        sorted_names(named("A", before="B"), named("B", before="C"), named("C", before="A"))
    assert {each.__name__ for each in caught.value.cycle} == {"A", "B", "C"}
    order = [each.__name__ for each in caught.value.cycle]
    assert order[(order.index("A") + 1) % 3] == "B"


def test_the_order_does_not_depend_on_discovery() -> None:
    """Shuffling fifty times gives the same order."""
    classes = [named(f"N{number}", order=number % 3, after=f"N{number + 7}") for number in range(30)]
    expected = sorted_names(*classes)
    shuffled = random.Random(1)
    for _ in range(50):
        shuffled.shuffle(classes)
        assert sorted_names(*classes) == expected


@auto_configuration
class ThingAutoConfiguration:
    @bean
    @on_missing_bean
    def thing(self) -> Thing:
        return Thing("default")


@pytest.mark.parametrize("exclusion", [ThingAutoConfiguration, "ThingAutoConfiguration"])
def test_exclusion_by_class_and_by_name(exclusion: type | str) -> None:
    """An excluded auto-configuration brings nothing and is listed as excluded."""
    runner = ApplicationContextRunner().with_auto_configurations(ThingAutoConfiguration).without(exclusion)
    with runner.run() as run:
        assert not run.context.has(Thing)
        assert run.conditions.exclusions == {"ThingAutoConfiguration": "excluded by exclude="}


def test_exclusion_by_setting() -> None:
    """`VERNAL_AUTOCONFIGURE__EXCLUDE` excludes by name, and the report says where that was set."""
    runner = ApplicationContextRunner().with_auto_configurations(ThingAutoConfiguration)
    with runner.with_environ({"VERNAL_AUTOCONFIGURE__EXCLUDE": "ThingAutoConfiguration"}).run() as run:
        assert not run.context.has(Thing)
        assert "VERNAL_AUTOCONFIGURE__EXCLUDE" in run.conditions.exclusions["ThingAutoConfiguration"]


def test_an_unknown_exclusion_is_an_error_with_the_nearest_name() -> None:
    """An exclusion that excludes nothing is a mistake."""
    runner = ApplicationContextRunner().with_auto_configurations(ThingAutoConfiguration)
    with runner.without("ThingAutoConfigurations").run() as run:
        assert isinstance(run.failure, UnknownExclusionError)
        assert run.failure.near == ("ThingAutoConfiguration",)


class Plugin:
    """A plugin that brings auto-configurations."""

    def __init__(self, *classes: type) -> None:
        self._classes = list(classes)

    @hookimpl
    def vernal_auto_configurations(self) -> list[type]:
        return self._classes


def default(name: str, *, before: Names = (), after: Names = ()) -> type:
    """An auto-configuration whose default says which class made it."""

    class Defaults:
        @bean
        @on_missing_bean
        def thing(self) -> Thing:
            return Thing(name)

    Defaults.__name__ = Defaults.__qualname__ = name
    return auto_configuration(before=before, after=after)(Defaults)


def winner(caplog: pytest.LogCaptureFixture, environ: dict[str, str], **plugins: object) -> tuple[str, bool]:
    """Who made the bean, and whether a warning was given."""
    caplog.clear()
    with (
        caplog.at_level(logging.WARNING, logger="vernal.context"),
        ApplicationContextRunner().with_plugins(plugins).with_environ(environ).run() as run,
    ):
        return run.context.get(Thing).maker, "VERNAL_PLUGINS__PREFER" in caplog.text


def test_two_plugins_with_one_default(caplog: pytest.LogCaptureFixture) -> None:
    """The first in order wins and a warning names both; `plugins.prefer` pins the choice and silences it."""
    plugins = {"alpha": Plugin(default("AlphaDefaults")), "beta": Plugin(default("BetaDefaults"))}
    assert winner(caplog, {}, **plugins) == ("AlphaDefaults", True)
    assert "'alpha'" in caplog.text
    assert "'beta'" in caplog.text
    assert winner(caplog, {"VERNAL_PLUGINS__PREFER": "beta"}, **plugins) == ("BetaDefaults", False)
    assert winner(caplog, {"VERNAL_PLUGINS__PREFER": "alpha"}, **plugins) == ("AlphaDefaults", False)


def test_a_plugin_that_declares_its_order_replaces_a_default_silently(caplog: pytest.LogCaptureFixture) -> None:
    """An auto-configuration ordered before the default takes its place; a preference still wins over that."""
    early = Plugin(default("ZetaDefaults", before="AlphaDefaults"))
    plugins = {"alpha": Plugin(default("AlphaDefaults")), "zeta": early}
    assert winner(caplog, {}, **plugins) == ("ZetaDefaults", False)
    assert winner(caplog, {"VERNAL_PLUGINS__PREFER": "alpha"}, **plugins) == ("AlphaDefaults", False)


def test_a_plugin_that_brings_what_is_no_auto_configuration_is_left_out() -> None:
    """Its mistake concerns itself alone: it is a failed plugin, and the others take part."""
    plugins = {"alpha": Plugin(Thing), "beta": Plugin(default("BetaDefaults"))}
    with ApplicationContextRunner().with_plugins(plugins).run() as run:
        assert run.context.get(Thing).maker == "BetaDefaults"
        (failed,) = run.context.get(LoadedPlugins).failures
        assert failed.name == "alpha"
        assert "not marked @auto_configuration" in str(failed.failure)


def test_beans_of_plugins_carry_their_provenance() -> None:
    """The origin of a bean names the plugin that brought it."""
    with ApplicationContextRunner().with_plugins({"alpha": Plugin(default("AlphaDefaults"))}).run() as run:
        assert run.context.beans["thing"].origin.plugin == "alpha"


def test_the_same_container_whatever_the_order_of_plugins() -> None:
    """Shuffling the plugins fifty times gives the same beans in the same order."""
    plugins = {f"p{number}": Plugin(default(f"Defaults{number}", after=f"Defaults{number + 1}")) for number in range(6)}
    expected: list[tuple[str, str]] | None = None
    shuffled = random.Random(2)
    for _ in range(50):
        items = list(plugins.items())
        shuffled.shuffle(items)
        with ApplicationContextRunner().with_plugins(dict(items)).run() as run:
            beans = [(name, one.origin.source) for name, one in run.context.beans.items()]
        expected = expected or beans
        assert beans == expected
