"""What a settings class looks like: a tree of shapes that binding, checking and describing walk together."""

import types
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ByteSize, RootModel, Secret, SecretBytes, SecretStr

from vernal.context.settings.base import fallback

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

MASK = "**********"
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
def shape_of_model(model: type[BaseModel]) -> Shape:
    """The shape of a settings class, or of a model nested in one."""
    return Shape(
        kind="model",
        annotation=model,
        fields={
            name: Field(
                shape=shape_of(info.annotation),
                info=info,
                secret=is_secret(info.annotation),
                fallbacks=tuple(name for found in info.metadata if isinstance(found, fallback) for name in found.names),
            )
            for name, info in model.model_fields.items()
        },
    )


def shape_of(annotation: Any) -> Shape:
    """The shape of a field's annotation; `None` beside it does not count."""
    plain = plain_type(annotation)
    members = [member for member in union_members(plain) if member is not type(None)]
    if len(members) > 1:
        nested = any(shape_of(member).kind != "leaf" for member in members)
        return Shape(kind="open" if nested else "leaf", annotation=annotation)
    plain = plain_type(members[0]) if members else plain
    origin = get_origin(plain) or plain
    if not isinstance(origin, type):
        return Shape(kind="open" if origin is Any else "leaf", annotation=annotation)
    if issubclass(origin, BaseModel):
        return Shape(kind="open", annotation=annotation) if issubclass(origin, RootModel) else shape_of_model(origin)
    if hasattr(origin, "__required_keys__") or hasattr(origin, "__dataclass_fields__") or origin is object:
        return Shape(kind="open", annotation=annotation)
    if issubclass(origin, Mapping):
        return Shape(kind="map", annotation=annotation, value=shape_of((get_args(plain) or (Any,))[-1]))
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


def is_secret(annotation: Any) -> bool:
    """Whether a value of that type, or a part of it, must never be shown."""
    plain = plain_type(annotation)
    origin = get_origin(plain) or plain
    if isinstance(origin, type) and issubclass(origin, (SecretStr, SecretBytes, Secret)):
        return True
    return any(is_secret(argument) for argument in get_args(plain))


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


def leaves(shape: Shape, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Field]]:
    """Every field below the shape that takes a value of its own; a map's names stand as `<name>`."""
    for name, each in shape.fields.items():
        below, inner = (*path, name), each.shape
        while inner.kind == "map" and inner.value is not None:
            below, inner = (*below, NAME), inner.value
        if inner.kind == "model":
            yield from leaves(inner, below)
        else:
            yield below, each


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
    arguments = [item for item in get_args(plain) if item is not Ellipsis]
    if shape_of(plain).kind == "list":
        return f"list of {type_name(arguments[0])}" if arguments else "list"
    if shape_of(plain).kind == "map":
        return f"{type_name(arguments[-1])} by name" if arguments else "table"
    return _WORDS.get(plain) or str(getattr(plain, "__name__", plain))
