"""OpenAI's dialect of JSON schema: pure transforms of the one canonical schema (R18)."""

from collections.abc import Mapping
from typing import Any

from vernal.http import map_subschemas, subschemas, told, with_any_of

FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
"""The formats that strict mode takes."""
REFUSED = ("uniqueItems", "minProperties", "maxProperties", "contentMediaType", "contentEncoding")
"""Keywords that strict mode refuses, and that a description can tell in its place."""
UNKNOWN = frozenset({*REFUSED, "default", "oneOf", "allOf", "not", "prefixItems", "patternProperties", "propertyNames"})
TYPES: Mapping[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as strict mode wants it (OAI-11).

    Every property is required and no other is allowed; those that were optional may be null instead. What strict mode
    has no words for, such as maps and tuples, is left as it is: see `is_strict`.
    """
    strict = with_any_of(map_subschemas(schema, strict_schema))
    strict.pop("default", None)  # strict mode takes none: every property is always given
    refused = {name: strict.pop(name) for name in REFUSED if name in strict}
    if "format" in strict and strict["format"] not in FORMATS:
        refused["format"] = strict.pop("format")
    strict = _typed(_with_bare_reference(told(strict, refused)))
    properties = strict.get("properties")
    if properties is None and (strict.get("type") != "object" or strict.get("additionalProperties")):
        return strict
    required = set(schema.get("required", ()))
    strict["properties"] = {
        name: value if name in required else _nullable(value) for name, value in (properties or {}).items()
    }
    strict["required"] = list(strict["properties"])
    strict["additionalProperties"] = False
    return strict


def _with_bare_reference(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with nothing beside a reference: it becomes the only alternative of what stands there."""
    if "$ref" not in schema or schema.keys() <= {"$ref", "$defs", "definitions"}:
        return schema
    return {**{key: value for key, value in schema.items() if key != "$ref"}, "anyOf": [{"$ref": schema["$ref"]}]}


def _typed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with the types of the values to choose from, where it says none."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else ())
    if "type" in schema or not values or not all(type(value) in TYPES for value in values):
        return schema
    kinds = list(dict.fromkeys(TYPES[type(value)] for value in values))
    return {**schema, "type": kinds[0] if len(kinds) == 1 else kinds}


def closed_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with objects that allow no other properties; ones that say so themselves are left as they are."""
    closed = map_subschemas(schema, closed_schema)
    if closed.get("properties") is not None and "additionalProperties" not in closed:
        closed["additionalProperties"] = False
    return closed


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Whether strict mode takes the schema as it is."""
    if not schema.keys().isdisjoint(UNKNOWN) or schema.get("format", "date") not in FORMATS:
        return False
    if schema.keys().isdisjoint(("type", "anyOf", "$ref")) or (schema.get("type") == "array" and "items" not in schema):
        return False
    if "properties" in schema or schema.get("type") == "object":
        names = set(schema.get("properties", ()))
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != names:
            return False
    bare = "$ref" not in schema or schema.keys() <= {"$ref", "$defs", "definitions"}
    return bare and all(is_strict(part) for part in subschemas(schema))


def without_added_nulls(arguments: Any, schema: Mapping[str, Any]) -> Any:
    """`arguments` without the nulls that stand for properties which `strict_schema` made nullable."""
    properties = schema.get("properties")
    if not isinstance(arguments, dict) or not isinstance(properties, Mapping):
        return arguments
    required = set(schema.get("required", ()))
    return {
        name: without_added_nulls(value, properties.get(name, {}))
        for name, value in arguments.items()
        if value is not None or name in required or _takes_null(properties.get(name, {}))
    }


def _takes_null(schema: Any) -> bool:
    if not isinstance(schema, Mapping) or not schema:
        return True
    kind = schema.get("type")
    if kind == "null" or (isinstance(kind, list | tuple) and "null" in kind):
        return True
    return any(_takes_null(part) for part in schema.get("anyOf", ()) if part)


def _nullable(schema: Any) -> Any:
    if not isinstance(schema, Mapping) or _takes_null(schema):
        return schema
    nullable = dict(schema)
    if "enum" in nullable or "const" in nullable or "type" not in nullable:
        described = {"description": nullable.pop("description")} if "description" in nullable else {}
        return {**described, "anyOf": [nullable, {"type": "null"}]}
    kind = nullable["type"]
    nullable["type"] = [*(kind if isinstance(kind, list | tuple) else (kind,)), "null"]
    return nullable
