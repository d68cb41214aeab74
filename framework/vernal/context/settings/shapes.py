"""What a settings class looks like: a tree of shapes that binding, checking and describing walk together."""

import types
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field, is_dataclass
from datetime import timedelta
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, is_typeddict

from pydantic import BaseModel, ByteSize, RootModel, Secret, SecretBytes, SecretStr

from vernal.context.settings.base import fallback
from vernal.values.records import dataclass

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

NAME = "<name>"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shape:
    """How a key takes its value.

    `model` has named fields, `map` any names with values of one shape, `list` is a sequence or set, `open` takes
    nested values of any names, and `leaf` is one value.
    """

    kind: Literal["model", "map", "list", "open", "leaf"]
    annotation: Any
    fields: Mapping[str, "Field"] = field(default_factory=dict)
    value: "Shape | None" = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Field:
    """A named field: its shape, and what its class says of it."""

    shape: Shape
    info: "FieldInfo"
    secret: bool
    fallbacks: tuple[str, ...]


@lru_cache(maxsize=512)
def shape_of_model(model: type[BaseModel], above: frozenset[type] = frozenset()) -> Shape:
    """The shape of a settings class, or of a model nested in one; `above` are the models that enclose it."""
    return Shape(
        kind="model",
        annotation=model,
        fields={name: _field(info, above | {model}) for name, info in model.model_fields.items()},
    )


def _field(info: "FieldInfo", above: frozenset[type]) -> Field:
    shape = shape_of(info.annotation, above)
    inner = shape
    while inner.kind == "map" and inner.value is not None:
        inner = inner.value
    names = [name for found in info.metadata if isinstance(found, fallback) for name in found.names]
    secret = inner.kind != "model" and is_secret(info.annotation)  # the fields of a model have their own say
    return Field(shape=shape, info=info, secret=secret, fallbacks=tuple(names))


def shape_of(annotation: Any, above: frozenset[type] = frozenset()) -> Shape:
    """The shape of a field's annotation; `None` beside it does not count. A model within itself is open."""
    members = [plain_type(each) for each in union_members(plain_type(annotation)) if each is not type(None)]
    if len(members) > 1:
        nested = any(shape_of(member, above).kind != "leaf" for member in members)
        return Shape(kind="open" if nested else "leaf", annotation=annotation)
    plain = members[0] if members else annotation
    origin = get_origin(plain) or plain
    if origin is Any or origin is object:
        return Shape(kind="open", annotation=annotation)
    if not isinstance(origin, type):
        return Shape(kind="leaf", annotation=annotation)
    if issubclass(origin, BaseModel) and not issubclass(origin, RootModel) and origin not in above:
        return shape_of_model(origin, above)
    if issubclass(origin, BaseModel) or is_dataclass(origin) or is_typeddict(origin):
        return Shape(kind="open", annotation=annotation)
    if issubclass(origin, Mapping):
        return Shape(kind="map", annotation=annotation, value=shape_of((get_args(plain) or (Any,))[-1], above))
    if issubclass(origin, (list, tuple, AbstractSet)) or origin.__module__ == "collections.abc":
        return Shape(kind="list", annotation=annotation)
    return Shape(kind="leaf", annotation=annotation)


def plain_type(annotation: Any) -> Any:
    """The annotation without `Annotated` and without the name of a type alias."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif hasattr(annotation, "__value__"):
            annotation = annotation.__value__
        else:
            return annotation


def union_members(annotation: Any) -> tuple[Any, ...]:
    """The members of a union; a type that is none is its own only member."""
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)


def item_type(annotation: Any) -> Any:
    """The type of the items of a sequence or set; `Any` where it is not one type."""
    for member in union_members(plain_type(annotation)):
        items = [item for item in get_args(plain_type(member)) if item is not Ellipsis]
        if len(items) == 1:
            return items[0]
    return Any


def is_secret(annotation: Any, above: frozenset[type] = frozenset()) -> bool:
    """Whether a value of that type, or any part of it, must never be shown."""
    plain = plain_type(annotation)
    origin = get_origin(plain) or plain
    if isinstance(origin, type) and issubclass(origin, (SecretStr, SecretBytes, Secret)):
        return True
    if isinstance(origin, type) and issubclass(origin, BaseModel) and origin not in above:
        return any(is_secret(info.annotation, above | {origin}) for info in origin.model_fields.values())
    return any(is_secret(argument, above) for argument in get_args(plain))


def choices_of(annotation: Any) -> dict[str, object]:
    """The only values that the type allows, by the text that names each; empty where there is no such list."""
    plain = plain_type(annotation)
    choices: dict[str, object] = {}
    for member in union_members(plain):
        member = plain_type(member)
        if get_origin(member) is Literal:
            choices |= {str(value): value for value in get_args(member)}
        elif isinstance(member, type) and issubclass(member, Enum):
            choices |= {str(each.value): each for each in member}
        elif member is not type(None):
            return {}
    return choices


def leaves(shape: Shape, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Field, Shape]]:
    """Every place below the shape that takes a value: its path, field and own shape; a map's names are `<name>`."""
    for name, each in shape.fields.items():
        below, inner = (*path, name), each.shape
        while inner.kind == "map" and inner.value is not None:
            below, inner = (*below, NAME), inner.value
        if inner.kind == "model":
            yield from leaves(inner, below)
        else:
            yield below, each, inner


_WORDS: dict[Any, str] = {
    str: "text",
    timedelta: "duration",
    ByteSize: "size",
    Path: "path",
    SecretStr: "secret",
    SecretBytes: "secret",
    type(None): "none",
}


def type_name(annotation: Any) -> str:
    """The type in a user's words: `int`, `duration`, `'a' | 'b'`, `list of text`."""
    plain = plain_type(annotation)
    if choices := choices_of(plain):
        return " | ".join(map(repr, choices)) + (" | none" if type(None) in union_members(plain) else "")
    if len(members := union_members(plain)) > 1:
        return " | ".join(type_name(member) for member in members)
    arguments = get_args(plain)
    if shape_of(plain).kind == "list":
        return f"list of {type_name(item_type(plain))}" if arguments else "list"
    if shape_of(plain).kind == "map":
        return f"{type_name(arguments[-1])} by name" if arguments else "table"
    return _WORDS.get(plain) or str(getattr(plain, "__name__", plain))
