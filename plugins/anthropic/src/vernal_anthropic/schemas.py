"""Anthropic's dialect of JSON schema: pure transforms of the one canonical schema (R18)."""

from collections.abc import Mapping
from typing import Any

from vernal.http import map_subschemas, told, with_any_of

REFUSED = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
)
"""Keywords that structured output refuses; the model is told them in words."""
FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"),
)


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as structured output takes it: closed objects, and no keyword that it refuses.

    What is taken away stands in the description instead, so that the model knows of it.
    """
    strict = with_any_of(map_subschemas(schema, strict_schema))
    refused = {name: strict.pop(name) for name in REFUSED if name in strict}
    if strict.get("minItems", 0) > 1:
        refused["minItems"] = strict.pop("minItems")
    if "format" in strict and strict["format"] not in FORMATS:
        refused["format"] = strict.pop("format")
    if "prefixItems" in strict:
        refused["items in this order"] = strict["prefixItems"]
        strict["items"] = {"anyOf": strict.pop("prefixItems")}
    strict = told(strict, refused)
    if strict.get("type") == "object" and "additionalProperties" not in strict:
        strict["additionalProperties"] = False
    return strict
