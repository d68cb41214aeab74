"""Every default bean, of vernal and of each plugin in this repository, can be replaced from outside and overridden.

The defaults are found by asking the plugins that the pyproject files name: one more is tested as soon as it is there.
"""

import importlib
import tomllib
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx  # noqa: F401  # who asks for its client by type has loaded it
import pytest

from vernal import ApplicationContext, ObjectProvider, Settings, auto_configuration, bean, hookimpl, on_missing_bean
from vernal.context.conditions.beans import BeanCondition, OnBean, OnMissingBean
from vernal.context.conditions.environment import OnSetting
from vernal.context.configurations import BeanMethod, ConfigurationSource, Provenance
from vernal.context.creation import BeanFactory
from vernal.context.definitions import Scope
from vernal.context.settings import settings_schema
from vernal.testing import ApplicationContextRunner

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = [ROOT / "pyproject.toml", *sorted(ROOT.glob("plugins/*/pyproject.toml"))]
PLUGINS: Mapping[str, Any] = {
    name: importlib.import_module(module)
    for path in PROJECTS
    for name, module in tomllib.loads(path.read_text("utf-8"))["project"]["entry-points"]["vernal"].items()
}


def contributed(hook: str) -> list[Any]:
    """What all plugins give for a hook."""
    return [given for plugin in PLUGINS.values() if hasattr(plugin, hook) for given in getattr(plugin, hook)()]


DEFAULTS = [
    method
    for cls in contributed("vernal_auto_configurations")
    for method in ConfigurationSource(cls, Provenance()).methods
]
every_default = pytest.mark.parametrize(
    "default", DEFAULTS, ids=[f"{one.source.name}.{one.function.__name__}" for one in DEFAULTS]
)


def test_each_plugin_brings_defaults() -> None:
    """The walk misses no plugin: each that a pyproject file of the repository names brings at least one bean."""
    sources = {one.source.cls for one in DEFAULTS}
    silent = [name for name, plugin in PLUGINS.items() if not sources & set(plugin.vernal_auto_configurations())]
    assert silent == []
    assert len(PLUGINS) == len(PROJECTS)


@every_default
def test_the_bean_of_a_user_takes_the_place(default: BeanMethod) -> None:
    """Where the user declares a bean of its type, the default steps back, and the report names the user's."""
    with started(default) as there:
        mine = there.get(default.bean_type, name=default.name)
        runner = enabled(default).with_bean(default.bean_type, mine, name=replacement_name(default))
        with runner.run() as run:
            assert run.context.get(default.bean_type, name=name_to_ask(default)) is mine
            assert_stepped_back(default, run.context)


@every_default
def test_the_bean_of_a_plugin_takes_the_place(default: BeanMethod) -> None:
    """Where a plugin brings a bean of its type before it, the default steps back, and the report names the plugin's."""
    with started(default) as there:
        theirs = there.get(default.bean_type, name=default.name)
        runner = enabled(default).with_plugins({**PLUGINS, "stranger": plugin_with(default, theirs)})
        with runner.run() as run:
            assert run.context.get(default.bean_type, name=name_to_ask(default)) is theirs
            assert_stepped_back(default, run.context)


@every_default
def test_an_override_reaches_every_dependent_and_ends(default: BeanMethod, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside `context.override` all that depends on a default is built with the stand-in, and is back after it."""
    with started(default) as there, started(default) as context:
        stand_in = there.get(default.bean_type, name=default.name)
        direct, all_of_them = dependents(context, default.name)
        before = {name: get(context, name) for name in (default.name, *all_of_them)}
        with monkeypatch.context() as patch, context.override(default.bean_type, stand_in, name=default.name):
            given = record_building(patch)
            assert get(context, default.name) is stand_in
            for name in all_of_them:
                assert get(context, name) is not before[name]
            assert [name for name in all_of_them if name not in given] == []
            assert [name for name in direct if not holds(given[name], stand_in)] == []
        for name, bean_of_before in before.items():
            if context.beans[name].scope is Scope.SINGLETON:
                assert get(context, name) is bean_of_before
        assert get(context, default.name) is not stand_in


def get(context: ApplicationContext, name: str) -> object:
    """The bean of a name."""
    found: object = context.get(context.beans[name].type, name=name)
    return found


def assert_stepped_back(default: BeanMethod, context: ApplicationContext) -> None:
    """The report of conditions says that the default is not there, and because of which bean."""
    record = context.conditions[f"{default.source.name}.{default.function.__name__}"]
    assert record.failure is not None
    assert record.failure.evidence["by"] == replacement_name(default)


def replacement_name(default: BeanMethod) -> str:
    """The name of a bean that replaces: its own where the default is one of several of its type, else any."""
    named = stepping_back(default).name
    return named or "replacement"


def name_to_ask(default: BeanMethod) -> str | None:
    """Which of several beans is asked for."""
    return stepping_back(default).name


def stepping_back(default: BeanMethod) -> BeanCondition:
    """The condition by which a default steps back."""
    (found,) = (one for one in default.conditions if isinstance(one, OnMissingBean))
    return found


def plugin_with(default: BeanMethod, value: object) -> types.ModuleType:
    """A plugin whose auto-configuration brings `value` before the default."""

    def give() -> Any:
        return value

    give.__annotations__["return"] = default.bean_type
    give.__name__ = replacement_name(default)
    method = on_missing_bean(name=name)(bean(give)) if (name := name_to_ask(default)) else on_missing_bean(bean(give))
    cls = auto_configuration(before=default.source.name)(
        type("StrangeAutoConfiguration", (), {give.__name__: staticmethod(method), "__module__": __name__})
    )
    plugin = types.ModuleType("stranger")
    vars(plugin)["vernal_auto_configurations"] = hookimpl(specname="vernal_auto_configurations")(lambda: [cls])
    return plugin


@contextmanager
def started(default: BeanMethod) -> Iterator[ApplicationContext]:
    """A started context in which the default is there."""
    with enabled(default).run() as run:
        record = run.conditions[f"{default.source.name}.{default.function.__name__}"]
        assert record.matched, record
        yield run.context


def enabled(default: BeanMethod) -> ApplicationContextRunner:
    """An application in which nothing but the test keeps the default away."""
    runner = ApplicationContextRunner().with_plugins(PLUGINS).with_settings({"chat.model": "offline"})
    conditions = (*default.source.conditions, *default.conditions)
    for condition in conditions:
        if isinstance(condition, OnSetting) and not condition.match_if_missing:
            wanted = condition.wanted[0] if condition.wanted else value_for(condition.key)
            runner = runner.with_settings({condition.key: wanted})
    asked = [each for one in conditions if isinstance(one, OnBean) for each in one.types]
    for number, wanted_type in enumerate(asked):
        with runner.run() as run:  # the application's own bean of the type, as if it were the user's
            runner = runner.with_bean(wanted_type, run.context.get(wanted_type), name=f"users_{number}")
    return runner


def value_for(key: str) -> object:
    """A value that the setting of this key may have, from the schema of all settings."""
    classes: list[type[Settings]] = contributed("vernal_settings")
    root = settings_schema(classes)

    def resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
        name = schema.get("$ref", "").rpartition("/")[2]
        return root["$defs"][name] if name else schema

    def value(schema: Mapping[str, Any]) -> object:
        schema = resolved(next(iter(schema.get("anyOf", [schema]))))
        of_type = {"boolean": True, "string": "any", "integer": 1, "number": 1}
        if schema.get("type") == "array":
            return [value(schema["items"])]
        return schema["enum"][0] if "enum" in schema else of_type[schema["type"]]

    schema: Mapping[str, Any] = root
    for part in key.split("."):
        schema = resolved(schema["properties"][part])
    return value(schema)


def dependents(context: ApplicationContext, name: str) -> tuple[list[str], list[str]]:
    """The beans that are given this one (or may ask for it), directly, and through others too."""

    def users(names: Sequence[str]) -> set[str]:
        given = [*context.graph.items(), *context.lazy_graph.items()]
        return {user for user, targets in given if not set(names).isdisjoint(targets)}

    direct = found = users([name])
    while (more := found | users([*found])) != found:
        found = more
    return sorted(direct), sorted(found)


def record_building(patch: pytest.MonkeyPatch) -> dict[str, list[object]]:
    """What the beans that are built from now on are given, by their names."""
    given: dict[str, list[object]] = {}
    build = BeanFactory.__call__

    def recording(self: BeanFactory, *args: Any, **kwargs: Any) -> Any:
        given[self.definition.name] = [*args, *kwargs.values()]
        return build(self, *args, **kwargs)

    patch.setattr(BeanFactory, "__call__", recording)
    return given


def holds(given: Sequence[object], wanted: object) -> bool:
    """Whether a bean is among what was given, itself, in a list, or behind a provider."""
    return any(
        one is wanted or (isinstance(one, list | tuple | ObjectProvider) and any(each is wanted for each in one))
        for one in given
    )
