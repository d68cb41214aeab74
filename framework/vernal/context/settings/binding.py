"""Binding: for one settings class, what all sources say together, validated."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from vernal.context.settings.errors import SettingProblem, SettingsError
from vernal.context.settings.masking import MASK, hide_passwords
from vernal.context.settings.names import fold, variable_of
from vernal.context.settings.shapes import Field, Shape, choices_of, is_secret, item_type, shape_of_model
from vernal.context.settings.sources import Node, SettingValue, node_of
from vernal.context.settings.types import FoldedName

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from vernal.context.settings.base import Settings
    from vernal.context.settings.environment import Environment

S = TypeVar("S", bound="Settings")
Path = tuple[str, ...]

_UNSET: Any = object()
_LONGEST_SHOWN = 200
_WANTED = {
    "bool_parsing": "wanted true or false",
    "int_parsing": "wanted a whole number",
    "int_from_float": "wanted a whole number",
    "float_parsing": "wanted a number",
    "byte_size": 'wanted a size such as "10MB", "10MiB" or a number of bytes',
    "byte_size_unit": 'wanted a size such as "10MB", "10MiB" or a number of bytes',
}


def bind(environment: "Environment", settings_class: type[S]) -> S:
    """The validated settings of the class.

    Raises:
        SettingsError: A value is missing or wrong.
    """
    from pydantic import ValidationError

    binder = Binder(environment, settings_class)
    if binder.problems:
        raise SettingsError(binder.problems)
    try:
        return settings_class(**binder.data)
    except ValidationError as error:
        # pydantic's own text prints the whole input: it must not hang on as the cause.
        raise SettingsError(binder.explain(error)) from None
    except Exception as error:
        error.add_note(f"while a validator of {settings_class.__qualname__} judged the settings under it")
        raise


class Binder:
    """The data for one settings class: merged from the sources, with the origin of every value in `values`."""

    def __init__(self, environment: "Environment", settings_class: type["Settings"]) -> None:
        self.values: dict[Path, SettingValue] = {}
        self.problems: list[SettingProblem] = []
        self._environment = environment
        self._secrets: set[Path] = set()
        self._class = settings_class
        self.prefix: Path = tuple(filter(None, settings_class.settings_prefix.split(".")))
        layers = [node for source in environment.sources if (node := source.root.find(self.prefix)) is not None]
        merged = self._model(layers, shape_of_model(settings_class), self.prefix)
        self.data: dict[str, Any] = merged if isinstance(merged, dict) else {}
        if self.prefix in self.values:  # a value stands where only further names can
            self._refuse_value(shape_of_model(settings_class))

    def _refuse_value(self, shape: Shape) -> None:
        first = next(iter(shape.fields), "…")
        wanted = f"{variable_of('.'.join((*self.prefix, first)))}=…"
        reason = f"is no setting itself; wanted are settings below it, such as {wanted}"
        self.problems.append(self._problem(self.prefix, self.values[self.prefix], reason, shape))

    def _merge(self, layers: Sequence[Node], shape: Shape, path: Path) -> Any:
        if shape.kind == "model":
            return self._model(self._open(layers, shape, path), shape, path)
        if shape.kind == "map" or (shape.kind == "open" and any(node.children for node in layers)):
            return self._map(self._open(layers, shape, path), shape, path)
        setting = next((node.value for node in layers if node.value is not None), None)
        return _UNSET if setting is None else self._keep(setting, shape, path)

    def _keep(self, setting: SettingValue, shape: Shape, path: Path) -> Any:
        """Take the value as it will be validated, and remember where it came from."""
        value = self._read(setting, shape, path)
        self.values[path] = SettingValue(value=value, origin=setting.origin, written=setting.written)
        return value

    def _model(self, layers: Sequence[Node], shape: Shape, path: Path) -> Any:
        whole = self._whole(layers, shape, path)
        if whole is not _UNSET:
            return whole
        data = {}
        for name, field in shape.fields.items():
            value = self._field([node for layer in layers if (node := layer.child(name))], field, (*path, name))
            if value is not _UNSET:
                data[name] = value
        return data or _UNSET

    def _field(self, layers: Sequence[Node], field: Field, path: Path) -> Any:
        if field.secret:
            self._secrets.add(path)
        value = self._merge(layers, field.shape, path)
        if value is _UNSET:
            found = next((found for name in field.fallbacks if (found := self._environment.variable(name))), None)
            value = _UNSET if found is None else self._keep(found, field.shape, path)
        return value

    def _map(self, layers: Sequence[Node], shape: Shape, path: Path) -> Any:
        whole = self._whole(layers, shape, path)
        if whole is not _UNSET:
            return whole
        inner = shape.value or Shape(kind="open", annotation=object)
        exact = {name: None for node in layers for name, child in node.children.items() if not child.folded}
        groups: dict[str, list[Node]] = {name: [] for name in exact}
        for node in layers:
            for name, child in sorted(node.children.items(), key=lambda item: not item[1].folded):
                groups.setdefault(self._name(name, child, exact, path), []).append(child)
        merged = {name: self._merge(nodes, inner, (*path, name)) for name, nodes in groups.items()}
        return {name: value for name, value in merged.items() if value is not _UNSET}  # only unknown keys below it

    def _name(self, name: str, child: Node, exact: dict[str, None], path: Path) -> str:
        """The name that a key of a map means: a folded one means the exact one that is given elsewhere."""
        if not child.folded:
            return name
        meant = [each for each in exact if fold(each) == fold(name)]
        if len(meant) > 1:
            self.problems.append(
                SettingProblem(
                    key=".".join((*path, name)),
                    variable=variable_of(".".join((*path, name))),
                    reason=f"the variable stands for both {meant[0]!r} and {meant[1]!r}",
                    allowed=tuple(meant),
                    action=f"Give the exact name, as JSON in {variable_of('.'.join(path))} or in vernal.toml",
                )
            )
        return meant[0] if meant else FoldedName(name)

    def _open(self, layers: Sequence[Node], shape: Shape, path: Path) -> list[Node]:
        """The layers with every value that is a mapping (JSON text, an empty table) opened into children."""
        opened = []
        for node in layers:
            if node.value is not None:
                value = self._read(node.value, shape, path)
                below = node_of(value, node.value) if isinstance(value, dict) else node
                opened += [Node(children=node.children), below]
            else:
                opened.append(node)
        return opened

    def _whole(self, layers: Sequence[Node], shape: Shape, path: Path) -> Any:
        """The value of the highest layer, where it is one that nothing merges with, such as a model or an empty map."""
        top = next((node for node in layers if node.value is not None or node.children), None)
        if top is None or top.value is None or (shape.kind == "model" and top.value.value == {}):
            return _UNSET
        self.values[path] = top.value
        return top.value.value

    def _read(self, setting: SettingValue, shape: Shape, path: Path) -> Any:
        """The value, with text made into what the shape wants where pydantic would not."""
        value = setting.value
        if isinstance(value, str) and shape.kind != "leaf":
            text = value.strip()
            if text[:1] in ("{", "["):
                try:
                    value = json.loads(text)
                except ValueError as error:
                    if shape.kind != "open":
                        self.problems.append(self._problem(path, setting, f"not JSON ({error})", shape))
            elif shape.kind == "list":
                value = [item for part in text.split(",") if (item := part.strip())]
        if shape.kind == "list" and isinstance(value, (list, tuple)):
            return [relax(item_type(shape.annotation), item) for item in value]
        return relax(shape.annotation, value)

    def explain(self, error: "ValidationError") -> list[SettingProblem]:
        """A problem for each error of pydantic, without its input."""
        return [self._explain(each) for each in error.errors(include_url=False, include_input=False)]

    def _explain(self, error: "ErrorDetails") -> SettingProblem:
        path, shape = self.prefix, shape_of_model(self._class)
        for part in error["loc"]:
            name = str(part)
            if shape.kind == "model":
                found = next((n for n, f in shape.fields.items() if name in (n, f.info.alias)), None)
                if found is None:
                    break
                path, shape = (*path, found), shape.fields[found].shape
            elif shape.kind == "map" and name in {p[len(path)] for p in self.values if p[: len(path)] == path != p}:
                path, shape = (*path, name), shape.value or shape
            else:
                break
        reason = _WANTED.get(error["type"]) or self._masked(_reason(error["msg"]))
        allowed = tuple(choices_of(shape.annotation)) if shape.kind == "leaf" else ()
        if allowed:
            reason = f"wanted {' or '.join(map(repr, allowed))}"
        if error["type"] == "missing":
            key = ".".join(path)
            action = f"Set {variable_of(key)}, or {key} in vernal.toml"
            reason = "not set, and it has no default"
            return SettingProblem(key=key, variable=variable_of(key), reason=reason, action=action)
        return self._problem(path, self._origin(path), reason, shape, allowed)

    def _origin(self, path: Path) -> SettingValue | None:
        return next((self.values[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.values), None)

    def _problem(
        self, path: Path, setting: SettingValue | None, reason: str, shape: Shape, allowed: tuple[str, ...] = ()
    ) -> SettingProblem:
        given = origin = None
        if setting is not None:
            secret = self._is_secret(path) or is_secret(shape.annotation)
            given = MASK if secret else _shortened(hide_passwords(repr(setting.value)))
            origin = setting.place
        key = ".".join(path)
        return SettingProblem(
            key=key, variable=variable_of(key), given=given, origin=origin, reason=reason, allowed=allowed
        )

    def _is_secret(self, path: Path) -> bool:
        return any(path[:n] in self._secrets for n in range(len(path) + 1))

    def _masked(self, text: str) -> str:
        """The text without any secret: a validator of the user's own may have quoted one."""
        for path, setting in self.values.items():
            if self._is_secret(path):
                text = text.replace(str(setting.value), MASK)
        return hide_passwords(text)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN // 2]}…{text[-_LONGEST_SHOWN // 2 :]}"


def relax(annotation: Any, value: Any) -> Any:
    """Text that names a member of an enum or literal up to case and punctuation, as that member."""
    if isinstance(value, str):
        choices = choices_of(annotation)
        if value in choices:
            return choices[value]
        for text, choice in choices.items():
            if fold(value.strip()) in (fold(text), fold(getattr(choice, "name", text))):
                return choice
    return value


def _reason(message: str) -> str:
    """pydantic's sentence as the end of ours."""
    if message.startswith("Input should be "):
        wanted = message.removeprefix("Input should be ")
        return f"wanted a value {wanted}" if wanted.startswith(("greater", "less")) else f"wanted {wanted}"
    for start in ("Value error, ", "Assertion failed, "):
        if message.startswith(start):
            message = message.removeprefix(start)
    return message[:1].lower() + message[1:].rstrip(".")
