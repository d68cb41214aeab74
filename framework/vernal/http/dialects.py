"""JSON schema in the dialects of services: what the pure functions of all providers are made from (R18)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from vernal.http.wire import encode_json

NAMED_SCHEMAS = ("properties", "$defs", "definitions")
LISTED_SCHEMAS = ("anyOf", "allOf", "oneOf", "prefixItems")
SINGLE_SCHEMAS = ("items", "additionalProperties")


def map_subschemas(schema: Mapping[str, Any], transform: Callable[[Mapping[str, Any]], Any]) -> dict[str, Any]:
    """A copy of `schema` with `transform` applied to each schema directly in it: properties, items, alternatives.

    Members of other kinds, and schemas that are no objects (`true`, `false`), are left as they are.
    """
    mapped = dict(schema)
    for key in NAMED_SCHEMAS:
        if isinstance(schema.get(key), Mapping):
            mapped[key] = {name: _applied(part, transform) for name, part in schema[key].items()}
    for key in LISTED_SCHEMAS:
        if isinstance(schema.get(key), list | tuple):
            mapped[key] = [_applied(part, transform) for part in schema[key]]
    for key in SINGLE_SCHEMAS:
        if isinstance(schema.get(key), Mapping):
            mapped[key] = transform(schema[key])
    return mapped


def with_any_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `schema` whose alternatives are all `anyOf`, for dialects that know no others: `oneOf` becomes it."""
    plain = {key: value for key, value in schema.items() if key not in ("oneOf", "discriminator")}
    if "oneOf" in schema:
        plain["anyOf"] = schema["oneOf"]
    return plain


def told(schema: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `schema` whose description says what a dialect has no keyword for, so that the model knows of it."""
    if not facts:
        return dict(schema)
    words = ", ".join(f"{name}: {encode_json(value).decode()}" for name, value in facts.items())
    known = schema.get("description")
    return {**schema, "description": f"{known} ({words})" if known else words}


def subschemas(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schemas directly in `schema`."""
    for key in NAMED_SCHEMAS:
        yield from _objects(schema.get(key, {}).values())
    for key in LISTED_SCHEMAS:
        yield from _objects(schema.get(key, ()))
    yield from _objects(schema.get(key) for key in SINGLE_SCHEMAS)


def _applied(schema: Any, transform: Callable[[Mapping[str, Any]], Any]) -> Any:
    return transform(schema) if isinstance(schema, Mapping) else schema


def _objects(parts: Any) -> Iterator[Mapping[str, Any]]:
    return (part for part in parts if isinstance(part, Mapping))
