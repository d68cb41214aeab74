"""Plugins: found one by one, guarded, chosen by settings, and each with its provenance."""

import importlib.metadata
import logging
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from vernal.context.plugins import LoadedPlugins, Plugin, PluginError, hookimpl, load_plugins
from vernal.context.settings import Environment, Settings, SettingsError


class AuditSettings(Settings, prefix="audit"):
    path: str = "audit.log"


class Configuration:
    """Stands for an auto-configuration."""


def module(name: str = "audit_plugin", /, **hooks: Callable[[], object]) -> types.ModuleType:
    """A module with the given hooks, marked."""
    made = types.ModuleType(name)
    for hook, function in hooks.items():

        def implementation(function: Callable[[], object] = function) -> object:
            return function()

        vars(made)[hook] = hookimpl(specname=hook)(implementation)
    return made


def load(extra: dict[str, object] | None = None, *, discover: bool = False, **settings: object) -> LoadedPlugins:
    """Load plugins under the given `plugins.*` settings."""
    return load_with(extra, settings, discover=discover)


def load_with(extra: dict[str, object] | None, settings: Mapping[str, Any], *, discover: bool = False) -> LoadedPlugins:
    """The same, with the settings as a mapping; the plugin of vernal itself is left out."""
    disabled = [*settings.get("disabled", ()), *(["vernal-autoconfig"] if discover else [])]
    settings = {**settings, "disabled": disabled}
    environment = Environment.load({"plugins": settings}, directory=Path("/nonexistent"), environ={})
    loaded = load_plugins(environment, discover=discover, extra=extra)
    loaded.check()
    return loaded


def install(directory: Path, entry: str, module_name: str, source: str | None, version: str = "1.2.0") -> None:
    """Lay out an installed distribution `vernal-<entry>` with one entry point."""
    info = directory / f"vernal_{entry}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vernal-{entry}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[vernal]\n{entry} = {module_name}\n")
    if source is not None:
        (directory / f"{module_name}.py").write_text(source)


GOOD = "from vernal.context.plugins import hookimpl\n@hookimpl\ndef vernal_auto_configurations():\n    return [int]\n"


def test_a_plugin_contributes_by_its_hooks() -> None:
    """Every hook of a plugin is called, and what it gives is known with its plugin."""
    tool, customizer, command = object(), print, repr
    plugin = module(
        vernal_auto_configurations=lambda: [Configuration],
        vernal_settings=lambda: [AuditSettings],
        vernal_chat_client_customizers=lambda: (customizer,),
        vernal_tools=lambda: [tool],
        vernal_commands=lambda: [command],
    )
    loaded = load(extra={"audit": plugin})
    (found,) = loaded
    assert found.auto_configurations == (Configuration,)
    assert found.settings == loaded.settings == (AuditSettings,)
    assert (found.chat_client_customizers, found.tools, found.commands) == ((customizer,), (tool,), (command,))
    assert str(found) == "plugin 'audit' (given to the application, audit_plugin)"


def test_an_object_may_be_a_plugin() -> None:
    """An object with marked methods serves as well as a module."""

    class Audit:
        @hookimpl
        def vernal_auto_configurations(self) -> list[type]:
            return [Configuration]

    (found,) = load(extra={"audit": Audit()})
    assert found.auto_configurations == (Configuration,)
    assert found.tools == ()


def test_hooks_are_called_once_and_when_they_are_needed() -> None:
    """Auto-configurations are asked for at start, tools and commands on first use, each a single time."""
    calls: list[str] = []

    def noted(name: str) -> Callable[[], list[Any]]:
        return lambda: calls.append(name) or []  # type: ignore[func-returns-value]  # append gives None, as intended

    hooks = ["vernal_auto_configurations", "vernal_settings", "vernal_tools", "vernal_commands"]
    (found,) = load(extra={"audit": module(**{name: noted(name) for name in hooks})})
    assert calls == ["vernal_auto_configurations", "vernal_settings"]
    assert found.tools == found.tools == ()
    assert found.auto_configurations == ()
    assert calls == ["vernal_auto_configurations", "vernal_settings", "vernal_tools"]


def test_installed_distributions_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entry points of the group `vernal` are loaded in the order of their names, with distribution and version."""
    install(tmp_path, "zebra", "zebra_plugin_of_test", GOOD)
    install(tmp_path, "ant", "ant_plugin_of_test", GOOD, version="0.3")
    monkeypatch.syspath_prepend(str(tmp_path))
    loaded = load(discover=True, enabled=["zebra", "ant"])
    assert [plugin.name for plugin in loaded] == ["ant", "zebra"]
    ant = next(iter(loaded))
    assert (ant.distribution, ant.version, ant.module) == ("vernal-ant", "0.3", "ant_plugin_of_test")
    assert str(ant) == "plugin 'ant' (vernal-ant 0.3, ant_plugin_of_test)"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (None, "ModuleNotFoundError: No module named 'broken_plugin_of_test'"),
        ("import nothing_of_that_name", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("raise RuntimeError('no')", "RuntimeError: no"),
        ("", "it has no function marked @hookimpl"),
        (GOOD.replace("configurations", "configuration"), "is not a hook; did you mean vernal_auto_configurations()?"),
        (GOOD.replace("()", "(surprise)"), "PluginValidationError"),
        (GOOD.replace("[int]", "[1]"), "vernal_auto_configurations() returned [1], wanted a list of classes"),
        (GOOD.replace("[int]", "None"), "vernal_auto_configurations() returned None, wanted a list of classes"),
        (GOOD.replace("return [int]", "raise KeyError('k')"), "vernal_auto_configurations() raised KeyError: 'k'"),
        (GOOD.replace("auto_configurations", "settings"), "<class 'int'>, which is no subclass of Settings"),
    ],
)
def test_a_broken_plugin_stops_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, source: str | None, reason: str
) -> None:
    """It is named with distribution, version and cause, contributes nothing, and the others are loaded."""
    install(tmp_path, "broken", "broken_plugin_of_test", source)
    install(tmp_path, "working", "working_plugin_of_test", GOOD)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "broken_plugin_of_test", raising=False)
    loaded = load(discover=True, enabled=["broken", "working"])
    assert [plugin.name for plugin in loaded] == ["working"]
    (broken,) = loaded.failures
    assert (broken.state, broken.auto_configurations, broken.settings) == ("failed", (), ())
    assert reason in str(broken.failure)
    assert "plugin 'broken' (vernal-broken 1.2.0, broken_plugin_of_test) is left out" in caplog.text


def test_in_strict_mode_a_broken_plugin_is_an_error() -> None:
    """`plugins.strict` raises, names the plugin, chains the cause and says what to do."""

    def explode() -> object:
        raise KeyError("k")

    with pytest.raises(
        PluginError, match=r"plugin 'audit' .*raised KeyError.*VERNAL_PLUGINS__DISABLED=audit"
    ) as caught:
        load(extra={"audit": module(vernal_settings=explode)}, strict=True)
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.plugin.name == "audit"


def test_a_hook_that_fails_later_fails_the_plugin() -> None:
    """Where the tools of a plugin raise, it turns into a failed one and the reader gets nothing."""

    def explode() -> object:
        raise ValueError("no tools today")

    loaded = load(extra={"audit": module(vernal_tools=explode, vernal_auto_configurations=lambda: [Configuration])})
    (plugin,) = loaded
    assert plugin.tools == ()
    assert loaded.failures == (plugin,)
    assert list(loaded) == []
    assert plugin.failure == "vernal_tools() raised ValueError: no tools today"


def test_two_of_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second plugin of a name is a failed one; the first is loaded."""
    install(tmp_path, "twin", "twin_plugin_of_test", GOOD)
    monkeypatch.syspath_prepend(str(tmp_path))
    loaded = load(discover=True, extra={"twin": module(vernal_tools=list)}, enabled=["twin"])
    assert [plugin.module for plugin in loaded] == ["twin_plugin_of_test"]
    assert [plugin.module for plugin in loaded.failures] == ["audit_plugin"]


@pytest.mark.parametrize("name", ["my-audit", "My_Audit", "vernal-my-audit"])
def test_a_plugin_is_disabled_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Its own name or its distribution's, case and punctuation aside; it is never imported."""
    install(tmp_path, "my-audit", "disabled_plugin_of_test", "raise SystemExit")
    monkeypatch.syspath_prepend(str(tmp_path))
    loaded = load(discover=True, enabled=["my-audit"], disabled=[name])
    assert list(loaded) == []
    assert "my-audit" in loaded.left_out
    assert "disabled_plugin_of_test" not in sys.modules


def test_the_allow_list_admits_only_its_names() -> None:
    """With `plugins.enabled` set, whatever it does not name stays out, and an empty list admits none."""
    extra: dict[str, object] = {"a": module("a", vernal_tools=list), "b": module("b", vernal_tools=list)}
    loaded = load(extra=extra, enabled=["b"])
    assert [(plugin.name, plugin.state) for plugin in loaded.plugins] == [("a", "not enabled"), ("b", "loaded")]
    assert list(load(extra=extra, enabled=[])) == []


def test_the_allow_list_is_about_others() -> None:
    """Plugins of vernal itself need not be on the list; `plugins.disabled` keeps them out all the same."""
    environment = Environment.load({"plugins.enabled": []}, directory=Path("/nonexistent"), environ={})
    assert [plugin.name for plugin in load_plugins(environment)] == ["vernal-autoconfig"]
    assert list(load(discover=True, enabled=[])) == []


def test_the_preference_ranks_plugins() -> None:
    """Plugins named in `plugins.prefer` come in that order, all others after them."""
    extra: dict[str, object] = {name: module(name, vernal_tools=list) for name in "abc"}
    loaded = load(extra=extra, prefer=["c", "A"])
    assert sorted(loaded, key=loaded.preference)[0].name == "c"
    assert [loaded.preference(name) for name in "abc"] == [1, 2, 0]


@pytest.mark.parametrize("key", ["disabled", "enabled", "prefer"])
def test_a_name_that_no_plugin_bears_is_reported(caplog: pytest.LogCaptureFixture, key: str) -> None:
    """A mistyped name is warned of with the nearest one, and is an error in strict mode."""
    extra: dict[str, object] = {"audit": module(vernal_tools=list)}
    with caplog.at_level(logging.WARNING):
        load_with(extra, {key: ["audti"]})
    assert f"plugins.{key} = 'audti': no such plugin is installed. Perhaps 'audit' was meant." in caplog.text
    with pytest.raises(SettingsError, match="Perhaps 'audit' was meant"):
        load_with(extra, {key: ["audti"], "strict": True})


def test_two_loads_do_not_touch_each_other() -> None:
    """Plugins are loaded for each application anew; a failure in one is none in the other."""
    answers = iter([[Configuration], None])
    shared = module(vernal_auto_configurations=lambda: next(answers))
    first, second = load(extra={"x": shared}), load(extra={"x": shared})
    assert [plugin.state for plugin in (*first.plugins, *second.plugins)] == ["loaded", "failed"]


def test_the_repr_says_what_became_of_it() -> None:
    """A plugin shows its name, origin and state."""
    assert repr(Plugin(name="x", module="m")) == "<plugin 'x' (given to the application, m) loaded>"


def test_every_hook_is_documented() -> None:
    """Each hook has a docstring and an attribute of `Plugin` that asks for it."""
    from vernal.context.plugins import hookspecs

    hooks = {name: value for name, value in vars(hookspecs).items() if name.startswith("vernal_")}
    assert len(hooks) == 5
    for name, hook in hooks.items():
        assert hook.__doc__, name
        assert isinstance(getattr(Plugin, name.removeprefix("vernal_")), property)


def test_our_own_entry_point_is_of_the_same_group() -> None:
    """The framework looks where installed distributions register: the group `vernal`."""
    from vernal.context.plugins.hookspecs import GROUP

    assert GROUP == "vernal"
    assert importlib.metadata.entry_points(group=GROUP) is not None
