"""The JSON schema of `vernal.toml`: all settings of all given classes, for editors."""

from collections.abc import Iterable
from typing import Any

from vernal.context.settings.base import Settings


def settings_schema(classes: Iterable[type[Settings]]) -> dict[str, Any]:
    """A JSON schema (draft 2020-12) of the settings, nested by prefix; classes that share a prefix are merged.

    No default of a secret is in it.
    """
    from pydantic.json_schema import models_json_schema

    unique = list(dict.fromkeys(classes))
    refs, whole = models_json_schema([(each, "validation") for each in unique], ref_template="#/$defs/{model}")
    definitions: dict[str, Any] = whole.get("$defs", {})
    root = _table()
    for each in unique:
        own = definitions.pop(refs[each, "validation"]["$ref"].rpartition("/")[2])
        table = root
        for part in filter(None, each.settings_prefix.split(".")):
            table = table["properties"].setdefault(part, _table())
        for name, schema in own.get("properties", {}).items():
            _strip_secrets(schema)
            table["properties"].setdefault(name, schema)
        if own.get("description"):
            table.setdefault("description", own["description"])
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Settings of vernal", **root}
    if definitions:
        _strip_secrets(definitions)
        schema["$defs"] = definitions
    return schema


def _table() -> dict[str, Any]:
    return {"type": "object", "properties": {}, "additionalProperties": False}


def _strip_secrets(schema: Any) -> None:
    """Take out the default of every secret; it would be a mask at best."""
    if isinstance(schema, dict):
        branches = [schema, *schema.get("anyOf", ())]
        if any(isinstance(branch, dict) and branch.get("writeOnly") for branch in branches):
            schema.pop("default", None)
        for nested in schema.values():
            _strip_secrets(nested)
    elif isinstance(schema, list):
        for nested in schema:
            _strip_secrets(nested)
