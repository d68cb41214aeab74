"""JSON schemas: what a schema leads to, whether a value satisfies it, and the least value that does.

Only the part of JSON Schema that describes tool arguments is understood. A schema that says more accepts nothing here:
the offline model rather leaves an argument out than guesses.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from vernal.models.offline.lexicon import word_set

Schema = Mapping[str, Any]

NOTHING: Any = object()
"""Stands for "no value", since None is a value."""

_UNREAD = word_set(
    "not if then else contains minContains maxContains patternProperties propertyNames prefixItems dependentRequired "
    "dependentSchemas dependencies unevaluatedProperties unevaluatedItems additionalItems $dynamicRef $recursiveRef "
    "disallow extends divisibleBy"
)
_BOUNDS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")
_DEEPEST = 12
_DEEPEST_LEAST = 4

_Active = frozenset[tuple[int, int]]
"""The pairs of schema and value that are being judged: a schema that leads back to itself says nothing."""

_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "number": lambda value: _is_number(value),
    "integer": lambda value: _is_number(value) and value == int(value),
}


class _UnreadableSchemaError(ValueError):
    """The schema says something that is not understood here."""


def resolve(schema: Any, root: Schema) -> Schema:
    """`schema` with `$ref` followed and `allOf` merged; an empty one where there is nothing to follow."""
    return _resolve(schema, root, 0)


def accepts(schema: Any, value: Any, root: Schema) -> bool:
    """Whether `value`, made of JSON's types, satisfies `schema`; never of a schema that is not understood."""
    try:
        return _accepts(schema, value, root, frozenset())
    except (ArithmeticError, AttributeError, KeyError, LookupError, RecursionError, TypeError, ValueError, re.error):
        return False  # a schema that is none, or that says what is not understood


def kinds(schema: Schema) -> tuple[str, ...]:
    """The JSON types that `schema` names, or that its keywords hint at; empty where any will do."""
    named = schema.get("type")
    if isinstance(named, str):
        return (named,)
    if isinstance(named, list | tuple):
        return tuple(kind for kind in named if isinstance(kind, str))
    for key, kind in (("properties", "object"), ("items", "array"), ("pattern", "string"), ("minimum", "number")):
        if key in schema:
            return (kind,)
    return ()


def branches(schema: Schema, root: Schema) -> list[Schema]:
    """What a value may be: the alternatives of anyOf, oneOf and of several types, resolved; null comes last."""
    options = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(options, list | tuple):
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
        found = [{**rest, **resolve(option, root)} for option in options[:20]]
    elif len(kinds(schema)) > 1:
        found = [{**schema, "type": kind} for kind in kinds(schema)]
    else:
        return [schema]
    return sorted(found, key=lambda branch: kinds(branch) == ("null",))


def choices(schema: Schema) -> list[Any] | None:
    """The values of `enum` or `const`, None where there is neither."""
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return list(values) if isinstance(values, list | tuple) else None


def properties(schema: Schema) -> dict[str, Any]:
    """The declared members of an object."""
    members = schema.get("properties")
    return {str(name): member for name, member in members.items()} if isinstance(members, Mapping) else {}


def required(schema: Schema) -> list[str]:
    """The names of the members that an object must have."""
    names = schema.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list | tuple) else []


def least(schema: Any, root: Schema, text: str = "unknown", depth: int = 0) -> Any:
    """The least value that satisfies `schema`, for what must be there and was not said; `NOTHING` if none is found."""
    resolved = resolve(schema, root)
    candidates: list[Any] = [resolved["default"]] if "default" in resolved else []
    candidates += choices(resolved) or []
    if depth < _DEEPEST_LEAST:
        for branch in branches(resolved, root):
            candidates += _least_of(branch, root, text, depth)
    return next((value for value in candidates if accepts(schema, value, root)), NOTHING)


def _least_of(schema: Schema, root: Schema, text: str, depth: int) -> list[Any]:
    kind = (kinds(schema) or ("string",))[0]
    if kind == "object":
        names = required(schema)
        members = {name: least(properties(schema).get(name, {}), root, text, depth + 1) for name in names}
        return [] if any(member is NOTHING for member in members.values()) else [members]
    if kind == "array":
        size = schema.get("minItems")
        item = least(schema.get("items", {}), root, text, depth + 1) if size else NOTHING
        return [[]] if item is NOTHING else [[item] * min(int(size), 20) if isinstance(size, int | float) else [item]]
    if kind in ("number", "integer"):
        bounds = [schema.get(key) for key in _BOUNDS]
        near = [step for bound in bounds if _is_number(bound) for step in (bound, *_neighbours(bound))]
        return [0, 1, *near]
    if kind == "string":
        low, high = schema.get("minLength"), schema.get("maxLength")
        cut = text[:high] if isinstance(high, int) and high >= 0 else text
        return [text, cut, text.ljust(min(low, 200), "x") if isinstance(low, int) else text]
    return [False] if kind == "boolean" else [None]


def _neighbours(bound: Any) -> tuple[int, int]:
    return (math.floor(bound) + 1, math.ceil(bound) - 1) if math.isfinite(bound) else (0, 0)


def _resolve(schema: Any, root: Schema, depth: int) -> Schema:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return {}
    merged = dict(schema)
    for part in [_follow(merged.pop("$ref"), root)] if "$ref" in merged else []:
        merged = {**_resolve(part, root, depth + 1), **merged}
    parts = merged.get("allOf")
    for part in parts if isinstance(parts, list | tuple) else ():
        other = _resolve(part, root, depth + 1)
        joined = {
            "properties": {**properties(other), **properties(merged)},
            "required": required(other) + required(merged),
        }
        merged = {**other, **merged, **{key: value for key, value in joined.items() if value}}
    return merged


def _follow(reference: Any, root: Schema) -> Any:
    target: Any = root
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    for step in reference.removeprefix("#").split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping):
            target = target.get(step)
        elif isinstance(target, list | tuple) and step.isdecimal() and int(step) < len(target):
            target = target[int(step)]
        else:
            return None
    return target


def _accepts(schema: Any, value: Any, root: Schema, active: _Active) -> bool:
    if isinstance(schema, bool):
        return schema
    here = (id(schema), id(value))
    if here in active or not isinstance(schema, Mapping) or not _UNREAD.isdisjoint(schema):
        raise _UnreadableSchemaError
    active |= {here}
    if "$ref" in schema and not _accepts(_follow(schema["$ref"], root), value, root, active):
        return False
    named = schema.get("type", [])
    if named and not any(_TYPES[kind](value) for kind in ([named] if isinstance(named, str) else named)):
        return False
    if "const" in schema and not _same(schema["const"], value):
        return False
    if "enum" in schema and not any(_same(choice, value) for choice in schema["enum"]):
        return False
    if not all(_accepts(part, value, root, active) for part in schema.get("allOf", ())):
        return False
    if "anyOf" in schema and not any(_accepts(part, value, root, active) for part in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(_accepts(part, value, root, active) for part in schema["oneOf"]) != 1:
        return False
    if isinstance(value, str):
        return re.search(schema.get("pattern", ""), value) is not None and _within(schema, len(value), "Length")
    if isinstance(value, list):
        return _accepts_list(schema, value, root, active)
    if isinstance(value, dict):
        return _accepts_object(schema, value, root, active)
    return not _is_number(value) or _accepts_number(schema, value)


def _accepts_number(schema: Schema, value: Any) -> bool:
    if "multipleOf" in schema and not (value / _number(schema["multipleOf"])).is_integer():
        return False
    return bool(
        value >= _number(schema.get("minimum", value))
        and value <= _number(schema.get("maximum", value))
        and value > _number(schema.get("exclusiveMinimum", -math.inf))
        and value < _number(schema.get("exclusiveMaximum", math.inf))
    )


def _accepts_list(schema: Schema, value: list[Any], root: Schema, active: _Active) -> bool:
    if schema.get("uniqueItems") and any(_same(a, b) for i, a in enumerate(value) for b in value[:i]):
        return False
    items = schema.get("items", True)
    return _within(schema, len(value), "Items") and all(_accepts(items, item, root, active) for item in value)


def _accepts_object(schema: Schema, value: dict[str, Any], root: Schema, active: _Active) -> bool:
    members, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    return (
        _within(schema, len(value), "Properties")
        and all(name in value for name in schema.get("required", ()))
        and all(_accepts(members.get(name, others), member, root, active) for name, member in value.items())
    )


def _within(schema: Schema, size: int, what: str) -> bool:
    return bool(_number(schema.get(f"min{what}", 0)) <= size <= _number(schema.get(f"max{what}", math.inf)))


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any) -> Any:
    if not _is_number(value):
        raise _UnreadableSchemaError
    return value


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_same(member, right[key]) for key, member in left.items())
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)
