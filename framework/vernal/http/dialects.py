"""JSON schema in the dialects of services: what the pure functions of all providers are made from (R18)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

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
