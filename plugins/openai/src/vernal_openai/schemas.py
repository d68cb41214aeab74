"""OpenAI's dialect of JSON schema: pure transforms of the one canonical schema (R18)."""

from collections.abc import Mapping
from typing import Any

from vernal.http import map_subschemas, subschemas


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as strict mode wants it (OAI-11).

    Every property is required and no other is allowed; those that were optional may be null instead.
    """
    strict = map_subschemas(schema, strict_schema)
    strict.pop("default", None)  # strict mode takes none: every property is always given
    properties = strict.get("properties")
    if strict.get("type") != "object" and properties is None:
        return strict
    required = set(schema.get("required", ()))
    strict["properties"] = {
        name: value if name in required else _nullable(value) for name, value in (properties or {}).items()
    }
    strict["required"] = list(strict["properties"])
    strict["additionalProperties"] = False
    return strict


def closed_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with objects that allow no other properties; ones that say so themselves are left as they are."""
    closed = map_subschemas(schema, closed_schema)
    if closed.get("properties") is not None and "additionalProperties" not in closed:
        closed["additionalProperties"] = False
    return closed


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Whether strict mode takes the schema as it is."""
    if "properties" in schema or schema.get("type") == "object":
        names = set(schema.get("properties", ()))
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != names:
            return False
    return all(is_strict(part) for part in subschemas(schema))


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
