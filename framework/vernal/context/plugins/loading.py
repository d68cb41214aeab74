"""Finding and loading plugins: entry points one by one, so that a broken one stops nobody else."""

import inspect
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pluggy

from vernal.context.plugins import hookspecs
from vernal.context.plugins.plugin import Plugin, PluginError
from vernal.context.settings.base import PluginsSettings, Settings
from vernal.context.settings.errors import SettingProblem, SettingsError
from vernal.context.settings.names import fold, nearest, variable_of

if TYPE_CHECKING:
    from vernal.context.settings.environment import Environment

OWN = "vernal"
"""The distribution that the framework itself comes in."""

_log = logging.getLogger("vernal.plugins")


class LoadedPlugins:
    """All plugins that were found, sorted by name, whatever became of them; iteration gives those that are loaded."""

    def __init__(self, plugins: tuple[Plugin, ...], settings: PluginsSettings) -> None:
        self.plugins = plugins
        self._settings = settings
        self._prefer = tuple(fold(name) for name in settings.prefer)

    def __iter__(self) -> Iterator[Plugin]:
        return (plugin for plugin in self.plugins if plugin.state == "loaded")

    @property
    def failures(self) -> tuple[Plugin, ...]:
        """Those that could not be loaded, or of which a hook failed."""
        return tuple(plugin for plugin in self.plugins if plugin.state == "failed")

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of those that the settings keep out."""
        return tuple(plugin.name for plugin in self.plugins if plugin.state in ("disabled", "not enabled"))

    @property
    def settings(self) -> tuple[type[Settings], ...]:
        """The settings classes of all loaded plugins."""
        return tuple(dict.fromkeys(each for plugin in self for each in plugin.settings))

    def preference(self, plugin: Plugin | str) -> int:
        """The rank of a plugin (or of one of that name) in `plugins.prefer`: 0 is first, unnamed ones are last."""
        names = _names(plugin) if isinstance(plugin, Plugin) else {fold(plugin)}
        return next((rank for rank, name in enumerate(self._prefer) if name in names), len(self._prefer))

    def check(self) -> None:
        """Report what is wrong: a warning for each name in the settings that no plugin bears.

        Raises:
            PluginError: A plugin cannot be used, and `plugins.strict` is true.
            SettingsError: In strict mode, a name in the settings is that of no plugin.
        """
        strict = self._settings.strict
        for plugin in self.failures:
            if strict:
                raise PluginError(plugin, plugin.failure or "") from plugin.cause
        problems = list(_unknown_names(self._settings, self.plugins))
        if problems and strict:
            raise SettingsError(problems)
        for problem in problems:
            _log.warning("%s", problem)


def load_plugins(
    environment: "Environment", *, discover: bool = True, extra: Mapping[str, object] | None = None
) -> LoadedPlugins:
    """Load the plugins that the settings allow.

    `discover` says whether installed distributions are searched for entry points of the group `vernal`; `extra` are
    modules or objects with `@hookimpl` functions, by plugin name, as tests give them. `plugins.enabled` is a list of
    what others bring: the plugins of vernal's own distribution need not be on it. Auto-configurations and settings
    classes are asked for here, the other contributions when they are first read. What cannot be loaded is kept as
    failed, so that it can be shown; `LoadedPlugins.check` refuses it in strict mode.

    Raises:
        SettingsError: A setting under `plugins` is wrong.
    """
    settings = environment.bind(PluginsSettings)
    manager = pluggy.PluginManager(hookspecs.GROUP)
    manager.add_hookspecs(hookspecs)
    found = [*(_installed() if discover else ()), *_given(extra or {})]
    found.sort(key=lambda each: each[0].name)
    plugins = tuple(plugin for plugin, _ in found)
    for plugin, load in found:
        if any(fold(name) in _names(plugin) for name in settings.disabled):
            plugin.state = "disabled"
        elif not _is_allowed(plugin, settings.enabled):
            plugin.state = "not enabled"
        else:
            _load(plugin, load, manager, strict=settings.strict)
    return LoadedPlugins(plugins, settings)


def _is_allowed(plugin: Plugin, enabled: Sequence[str] | None) -> bool:
    """Whether the list of allowed plugins admits this one."""
    return enabled is None or plugin.distribution == OWN or any(fold(name) in _names(plugin) for name in enabled)


def _installed() -> Iterator[tuple[Plugin, Callable[[], object]]]:
    """A plugin for each entry point of the group, with what loads it.

    `importlib.metadata.entry_points` would parse what every distribution brings, for twice the time. Of two
    distributions of one name the first on the path counts.
    """
    from importlib.metadata import distributions

    seen: set[str] = set()
    for each in distributions():
        if f"[{hookspecs.GROUP}]" in (each.read_text("entry_points.txt") or ""):
            about = each.metadata  # a file that is parsed each time
            name, version = about["Name"], about["Version"]
            if fold(name) not in seen:
                seen.add(fold(name))
                for entry in each.entry_points.select(group=hookspecs.GROUP):
                    yield Plugin(name=entry.name, module=entry.value, distribution=name, version=version), entry.load


def _given(extra: Mapping[str, object]) -> Iterator[tuple[Plugin, Callable[[], object]]]:
    """A plugin for each module or object that was handed over."""
    for name, module in extra.items():
        place = module.__name__ if inspect.ismodule(module) else type(module).__qualname__
        yield Plugin(name=name, module=place), partial(_itself, module)


def _itself(module: object) -> object:
    return module


def _load(plugin: Plugin, load: Callable[[], object], manager: pluggy.PluginManager, *, strict: bool) -> None:
    try:
        module = load()
        manager.register(module, plugin.name)
    except Exception as error:  # noqa: BLE001 - importing a plugin may raise anything, and stops nobody else
        plugin.fail(f"{type(error).__name__}: {error}", error)
        return
    hooks = {
        caller.name: implementation.function
        for caller in manager.get_hookcallers(module) or ()
        for implementation in caller.get_hookimpls()
        if implementation.plugin is module and (caller.has_spec() or not implementation.optionalhook)
    }
    specified = [name for name in vars(hookspecs) if name.startswith("vernal_")]
    unknown = [name for name in hooks if name not in specified]
    if unknown:
        near = nearest(unknown[0], specified)
        plugin.fail(f"{unknown[0]}() is not a hook" + (f"; did you mean {near}()?" if near else ""))
    elif not hooks:
        plugin.fail("it has no function marked @hookimpl")
    else:
        plugin.attach(hooks)
        _ = plugin.auto_configurations
        strangers = [each for each in plugin.settings if not issubclass(each, Settings)]
        if strangers:
            plugin.fail(f"vernal_settings() gave {strangers[0]!r}, which is no subclass of Settings")
    plugin.strict = strict


def _names(plugin: Plugin) -> set[str]:
    """The names by which settings may call a plugin: its own, and its distribution's."""
    return {fold(name) for name in (plugin.name, plugin.distribution) if name}


def _unknown_names(settings: PluginsSettings, plugins: tuple[Plugin, ...]) -> Iterator[SettingProblem]:
    """The names in the settings that no plugin bears."""
    known = {name for plugin in plugins for name in _names(plugin)}
    for key in ("disabled", "enabled", "prefer"):
        for name in getattr(settings, key) or ():
            if fold(name) not in known:
                near = nearest(name, [plugin.name for plugin in plugins])
                yield SettingProblem(
                    key=f"plugins.{key}",
                    variable=variable_of(f"plugins.{key}"),
                    given=repr(name),
                    reason="no such plugin is installed",
                    action=f"Perhaps {near!r} was meant" if near else None,
                )
