"""Every setting as a row: key, variable, type, default, meaning, present value and its origin."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any

from vernal.context.settings.base import Settings
from vernal.context.settings.binding import Binder
from vernal.context.settings.errors import SettingsError
from vernal.context.settings.masking import MASK, hide_passwords
from vernal.context.settings.names import variable_of
from vernal.context.settings.shapes import NAME, leaves, shape_of_model, type_name
from vernal.values.records import dataclass

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from vernal.context.settings.environment import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRow:
    """One setting, as `vernal settings` shows it.

    `value` and `default` are text, masked where the setting is secret, and None where there is none; `origin` is
    "default" where nothing is set; `fallbacks` are variables of others that are read too; `problem` says why the
    present value cannot be used.
    """

    key: str
    variable: str
    type: str
    default: str | None
    description: str | None
    value: str | None
    origin: str
    secret: bool
    fallbacks: tuple[str, ...]
    problem: str | None


def describe(environment: "Environment", classes: Iterable[type[Settings]]) -> list[SettingRow]:
    """A row for each key of the classes, sorted by key; also where a value is wrong.

    A key that several classes declare stands once. A map has a row for each name that is set in it, and one with
    `<name>` where none is.
    """
    rows: dict[str, SettingRow] = {}
    for settings_class in classes:
        for row in _rows(environment, settings_class):
            rows.setdefault(row.key, row)
    return [rows[key] for key in sorted(rows)]


def _rows(environment: "Environment", settings_class: type[Settings]) -> Iterator[SettingRow]:
    binder = Binder(environment, settings_class)
    problems: dict[str, str] = {}
    try:
        environment.bind(settings_class)
    except SettingsError as error:
        problems = {problem.key: problem.reason for problem in error.problems}
    for path, field, shape in leaves(shape_of_model(settings_class), binder.prefix):
        default = _default(settings_class, path[len(binder.prefix) :], field.info)
        for place in [each for each in binder.values if _within(each, path)] or [path]:
            key, setting = ".".join(place), binder.values.get(place)
            yield SettingRow(
                key=key,
                variable=variable_of(key),
                type=type_name(shape.annotation),
                default=None if path[-1] == NAME and setting is not None else shown(default, secret=field.secret),
                description=field.info.description,
                value=shown(default if setting is None else setting.value, secret=field.secret),
                origin="default" if setting is None else setting.place,
                secret=field.secret,
                fallbacks=field.fallbacks,
                problem=problems.get(key),
            )


def _within(place: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Whether a value at the place belongs to the field at the path, in which `<name>` stands for any name."""
    fits = all(wanted in (given, NAME) for given, wanted in zip(place, path, strict=False))
    return fits and (len(place) >= len(path) or NAME in path[len(place) :][:1])


def _default(model: type[Any], path: tuple[str, ...], info: "FieldInfo") -> object:
    """The default of the field at the path: that of the object that encloses it, where that has one."""
    whole: Any = model
    for name in path:
        field = getattr(whole if isinstance(whole, type) else type(whole), "model_fields", {}).get(name)
        if field is None:
            break
        value = getattr(whole, name) if not isinstance(whole, type) else field.get_default(call_default_factory=True)
        if name == path[-1]:
            return None if field.is_required() and isinstance(whole, type) else value
        whole = value
    return None if info.is_required() else info.get_default(call_default_factory=True)


def shown(value: object, *, secret: bool = False) -> str | None:
    """A value as text: masked where secret, also the password in a URL; None where there is none."""
    if value is None:
        return None
    if secret:
        return MASK
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, timedelta):
        return f"{value.total_seconds():g}s"
    if isinstance(value, Mapping):
        value = dict(value)
    text = json.dumps(value, default=str) if isinstance(value, (bool, list, tuple, dict)) else str(value)
    return hide_passwords(text)
