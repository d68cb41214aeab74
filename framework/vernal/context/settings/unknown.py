"""Keys under the root that no settings class knows: typing mistakes, and settings of what is not installed."""

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vernal.context.settings.base import PluginsSettings, RootSettings, Settings
from vernal.context.settings.errors import SettingProblem, SettingsError
from vernal.context.settings.names import ROOT, fold, nearest, variable_of
from vernal.context.settings.shapes import Shape, leaves, shape_of_model
from vernal.context.settings.sources import Node, SettingValue
from vernal.values.records import dataclass

if TYPE_CHECKING:
    from vernal.context.settings.environment import Environment

_log = logging.getLogger("vernal.settings")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownSetting:
    """A key that is set and that nothing reads.

    `written` is the key as it stands in `origin`; `nearest` the known key most like it, written in the same way;
    `plugin` the plugin it seems to belong to, which is installed and not loaded.
    """

    key: str
    written: str
    origin: str
    nearest: str | None = None
    plugin: str | None = None

    @property
    def problem(self) -> SettingProblem:
        """The same as a problem, with what to do."""
        reason = f"it belongs to the plugin {self.plugin!r}, which is not loaded" if self.plugin else "nothing reads it"
        action = f"Perhaps {self.nearest} was meant" if self.nearest else "Remove it, or install what reads it"
        origin = None if self.written in self.origin else self.origin
        return SettingProblem(key=self.written, reason=reason, origin=origin, action=action)


def report_unknown(
    environment: "Environment", known: tuple[type[Settings], ...], disabled: tuple[str, ...], warned: set[str]
) -> tuple[UnknownSetting, ...]:
    """Find the unknown keys; raise for those that must not be, warn once of the others."""
    classes: tuple[type[Settings], ...] = (RootSettings, PluginsSettings, *known)
    unknown = tuple(find_unknown(environment, classes, disabled))
    strict = environment.bind(RootSettings).settings.strict
    wrong = [each for each in unknown if strict or each.origin == "settings= argument"]
    if wrong:
        raise SettingsError(each.problem for each in wrong)
    fresh = [each for each in unknown if each.written not in warned]
    if fresh:
        warned.update(each.written for each in fresh)
        _log.warning("Settings that nothing reads:%s", "".join(f"\n- {each.problem}" for each in fresh))
    return unknown


def find_unknown(
    environment: "Environment", classes: tuple[type[Settings], ...], disabled: tuple[str, ...]
) -> Iterator[UnknownSetting]:
    """Every key that is set in any source, is no field of any of the classes, and was not asked for by itself."""
    asked = {fold(key) for key in environment.looked_up}
    shapes = [(tuple(filter(None, each.settings_prefix.split("."))), shape_of_model(each)) for each in classes]
    keys = [".".join(path) for prefix, shape in shapes for path, *_ in leaves(shape, prefix)]
    plugins = {fold(name.removeprefix("vernal-")): name for name in disabled}
    for source in environment.sources:
        for path, setting in _settings(source.root, ()):
            if fold(".".join(path)) in asked:
                continue
            if any(_knows(shape, path[len(prefix) :]) for prefix, shape in shapes if _starts(path, prefix)):
                continue
            near = nearest(".".join(path), keys)
            written = variable_of(near) if near and setting.written.upper().startswith(ROOT) else near
            plugin = next((plugins[fold(part)] for part in path if fold(part) in plugins), None)
            yield UnknownSetting(
                key=".".join(path), written=setting.written, origin=setting.origin, nearest=written, plugin=plugin
            )


def _settings(node: Node, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], SettingValue]]:
    if node.value is not None and node.value.value != {}:  # an empty table sets nothing
        yield path, node.value
    for name, child in node.children.items():
        yield from _settings(child, (*path, name))


def _starts(path: tuple[str, ...], prefix: tuple[str, ...]) -> bool:
    return len(path) > len(prefix) and all(fold(a) == fold(b) for a, b in zip(path, prefix, strict=False))


def _knows(shape: Shape | None, path: tuple[str, ...]) -> bool:
    """Whether a value at the path below the shape is read."""
    if shape is None or shape.kind == "open" or not path:
        return True
    if shape.kind == "map":
        return _knows(shape.value, path[1:])
    field = next((field for name, field in shape.fields.items() if fold(name) == fold(path[0])), None)
    return field is not None and _knows(field.shape, path[1:])
