"""Gemini's dialect of JSON schema, a part of OpenAPI's: pure transforms of the one canonical schema (R18)."""

from collections.abc import Mapping
from typing import Any

from vernal.http import encode_json, map_subschemas, subschemas, told

KNOWN = frozenset(
    {
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "items",
        "maxItems",
        "minItems",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
        "propertyOrdering",
        "minimum",
        "maximum",
    }
)
TOLD = ("multipleOf", "exclusiveMinimum", "exclusiveMaximum")
TOLD_IN_JSON = ("minLength", "maxLength", "pattern", "uniqueItems", "minProperties", "maxProperties")
KNOWN_IN_JSON = frozenset(
    {
        *("$defs", "$ref", "$id", "$anchor", "type", "format", "title", "description", "enum", "required"),
        *("items", "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf"),
        *("properties", "additionalProperties", "propertyOrdering"),
    }
)
JSON_MEMBERS = {"parameters": "parametersJsonSchema", "responseSchema": "responseJsonSchema"}
"""The members of requests for JSON schemas, beside those for schemas in the dialect."""
LEFT_OUT = ("$defs", "definitions", "additionalProperties")
FORMATS: Mapping[str, frozenset[str]] = {
    "string": frozenset({"enum", "date-time"}),
    "integer": frozenset({"int32", "int64"}),
    "number": frozenset({"float", "double"}),
}
"""The formats that each type may have; others are refused."""
DEEPEST = 8
"""How often a schema that refers to itself is written out before it ends in any object."""


def gemini_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in the dialect: references written out, null as `nullable`, and only the keywords that it knows.

    What is not known is told in the description where it says something of the value.
    """
    definitions = {**(schema.get("definitions") or {}), **(schema.get("$defs") or {})}
    return _written(schema, definitions, {})


def schema_member(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The member `name` of a request with the schema in the dialect.

    A schema that the dialect has no words for, with maps, tuples or references to itself, stands as JSON schema in the
    member that the service has for those.
    """
    written = gemini_schema(schema)
    return {name: written} if _is_whole(written) else {JSON_MEMBERS[name]: json_schema(schema)}


def json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with the keywords of JSON schema that the service knows; others are told in the description."""
    written = map_subschemas(schema, json_schema)
    if "const" in written:
        written["enum"] = [written.pop("const")]
    facts = {key: value for key, value in written.items() if key in TOLD or key in TOLD_IN_JSON}
    written = told({key: value for key, value in written.items() if key in KNOWN_IN_JSON}, facts)
    if "$ref" in written and not all(key.startswith("$") for key in written):
        written["anyOf"] = [{"$ref": written.pop("$ref")}]
    return written


def _is_whole(schema: Mapping[str, Any]) -> bool:
    """Whether every object says its properties, and every list what is in it, as the dialect demands."""
    kind = schema.get("type")
    if (kind == "object" and not schema.get("properties")) or (kind == "array" and not schema.get("items")):
        return False
    return all(map(_is_whole, subschemas(schema)))


def _written(schema: Mapping[str, Any], definitions: Mapping[str, Any], within: Mapping[str, int]) -> dict[str, Any]:
    reference = schema.get("$ref")
    if isinstance(reference, str):
        name = reference.rsplit("/", 1)[-1]
        target = definitions.get(name)
        if not isinstance(target, Mapping) or within.get(name, 0) >= (1 if len(within) >= DEEPEST else 2):
            return {"type": "object", **_described(schema)}
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return _written({**target, **beside}, definitions, {**within, name: within.get(name, 0) + 1})
    schema = {key: value for key, value in schema.items() if key not in LEFT_OUT}
    for key in ("oneOf", "allOf"):
        if isinstance(schema.get(key), list | tuple):
            parts = schema.pop(key)
            schema = {**schema, "anyOf": parts} if key == "oneOf" or len(parts) > 1 else {**parts[0], **schema}
            return _written(schema, definitions, within)
    written = map_subschemas(schema, lambda part: _written(part, definitions, within))
    if "const" in written:
        written["enum"] = [written.pop("const")]
    _settle_null(written)
    _settle_enum(written)
    written = _with_known_format(written)
    _settle_object(written)
    facts = {key: written[key] for key in TOLD if key in written}
    return told({key: value for key, value in written.items() if key in KNOWN}, facts)


def _described(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": schema["description"]} if "description" in schema else {}


def _settle_null(schema: dict[str, Any]) -> None:
    """`["string", "null"]` and alternatives with null become `nullable`; several types become alternatives."""
    kinds = schema.get("type")
    if isinstance(kinds, list | tuple):
        others = [kind for kind in kinds if kind != "null"]
        if len(others) < len(kinds):
            schema["nullable"] = True
        del schema["type"]
        if len(others) == 1:
            schema["type"] = others[0]
        elif others:
            schema["anyOf"] = [{"type": kind} for kind in others]
    alternatives = schema.get("anyOf")
    if isinstance(alternatives, list | tuple):
        others = [part for part in alternatives if not (isinstance(part, Mapping) and part.get("type") == "null")]
        if len(others) < len(alternatives):
            schema["nullable"] = True
            schema["anyOf"] = others
        if len(others) == 1:
            del schema["anyOf"]
            for key, value in others[0].items():
                schema.setdefault(key, value)


def _settle_enum(schema: dict[str, Any]) -> None:
    """Values to choose from are texts in the dialect; others are told in the description."""
    values = schema.get("enum")
    if not isinstance(values, list | tuple):
        return
    if None in values:
        schema["nullable"] = True
        values = [value for value in values if value is not None]
    if all(isinstance(value, str) for value in values):
        schema["enum"] = list(values)
        schema.setdefault("type", "string")
        return
    del schema["enum"]
    words = f"one of {encode_json(list(values)).decode()}"
    schema["description"] = f"{schema['description']} ({words})" if schema.get("description") else words
    if "type" not in schema:
        schema["type"] = "integer" if all(isinstance(v, int) for v in values) else "number"


def _settle_object(schema: dict[str, Any]) -> None:
    """What has properties is an object, and requires none that it does not have."""
    if "properties" in schema:
        schema.setdefault("type", "object")
    required = [name for name in schema.pop("required", ()) if name in schema.get("properties", ())]
    if required:
        schema["required"] = required


def _with_known_format(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("format")
    if name is None or name in FORMATS.get(str(schema.get("type")), ()):
        return schema
    return told({key: value for key, value in schema.items() if key != "format"}, {"format": name})
