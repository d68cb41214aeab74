"""JSON schemas of tool arguments in their one canonical form (R18).

Properties stand in order of declaration; every object with properties has `required`, and `additionalProperties: false`
unless it says otherwise; there are no titles and no `$schema`; `$defs` stands at the root and holds only what is
recursive or used more than once. Pure functions over plain dictionaries: what a provider wants beyond that is its own
transform of this form.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

Schema = dict[str, Any]

_MAPPINGS = ("properties", "$defs", "patternProperties", "dependentSchemas")
_SEQUENCES = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLES = (
    "items",
    "additionalProperties",
    "not",
    "contains",
    "propertyNames",
    "if",
    "then",
    "else",
    "unevaluatedProperties",
    "unevaluatedItems",
)
_LEFT_OUT = ("title", "$schema", "discriminator")
_REFERENCE = "#/$defs/"


def canonical(schema: Mapping[str, Any]) -> Schema:
    """The canonical form of a schema as pydantic generates it."""
    tidy = _clean(_with_short_names(dict(schema)))
    definitions: dict[str, Schema] = tidy.pop("$defs", {})
    uses: Counter[str] = Counter()
    for part in (tidy, *definitions.values()):
        _count(part, uses)

    def settle(part: Schema) -> Schema:
        name = _referred(part)
        if name in definitions and uses[name] == 1:
            siblings = {key: value for key, value in part.items() if key != "$ref"}
            return {**settle(definitions[name]), **siblings}
        return _map_parts(part, settle)

    root = settle(tidy)
    shared = {name: settle(part) for name, part in definitions.items() if uses[name] > 1}
    if _referred(root) in shared:
        root = {**shared[_referred(root)], **{key: value for key, value in root.items() if key != "$ref"}}
    head: Schema = {"type": root["type"]} if "type" in root else {}
    if "description" in root:
        head["description"] = root["description"]
    if shared:
        head["$defs"] = shared
    return {**head, **{key: value for key, value in root.items() if key not in head}}


def complete_object_schema(schema: Mapping[str, Any]) -> Schema:
    """A hand-written schema with the `type` and `properties` that providers insist on for an object (SCU-01 to 05)."""
    completed = dict(schema)
    if completed.get("type", "object") == "object":
        completed.setdefault("type", "object")
        if not any(key in completed for key in ("$ref", *_SEQUENCES)):
            completed.setdefault("properties", {})
    return completed


def part_at(schema: Mapping[str, Any], path: tuple[str | int, ...]) -> Mapping[str, Any]:
    """The part of `schema` that describes the value at `path`; empty where it does not say."""
    part: Mapping[str, Any] = schema
    for step in path:
        part = next((found for found in map(_step(step), _alternatives(part, schema)) if found is not None), {})
    return next(iter(_alternatives(part, schema)), {}) if "$ref" in part else part


def _step(step: str | int) -> Callable[[Mapping[str, Any]], Mapping[str, Any] | None]:
    def taken(part: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if isinstance(step, int):
            first = part.get("prefixItems", [])
            found = first[step] if step < len(first) else part.get("items")
        else:
            found = part.get("properties", {}).get(step, part.get("additionalProperties"))
        return found if isinstance(found, Mapping) else None

    return taken


def _alternatives(part: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> list[Mapping[str, Any]]:
    if depth > 8:
        return []  # references that only refer to each other
    name = _referred(part)
    if name and isinstance(target := root.get("$defs", {}).get(name), Mapping):
        return _alternatives(target, root, depth + 1)
    choices = [choice for key in ("anyOf", "oneOf", "allOf") for choice in part.get(key, ())]
    return [part, *(found for choice in choices for found in _alternatives(choice, root, depth + 1))]


def _map_parts(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """`schema` with `change` applied to each schema directly within it; values that are no schemas stay as they are."""

    def changed(part: Any) -> Any:
        return change(part) if isinstance(part, dict) else part

    result: Schema = {}
    for key, value in schema.items():
        if key in _MAPPINGS:
            result[key] = {name: changed(part) for name, part in value.items()}
        elif key in _SEQUENCES:
            result[key] = [changed(part) for part in value]
        else:
            result[key] = changed(value) if key in _SINGLES else value
    return result


def _clean(schema: Schema) -> Schema:
    result = _map_parts({key: value for key, value in schema.items() if key not in _LEFT_OUT}, _clean)
    if "properties" in result:
        result.setdefault("required", [])
        result.setdefault("additionalProperties", False)
    if "default" in result and not _can_be_shown(result):
        del result["default"]
    return result


def _can_be_shown(schema: Schema) -> bool:
    """Whether the default is JSON, and is not the None that in Python stands for "nothing given"."""
    if schema["default"] is None:
        return {"type": "null"} in schema.get("anyOf", []) or not {"type", "$ref", "enum", "anyOf"} & schema.keys()
    try:
        json.dumps(schema["default"], allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _count(schema: Schema, uses: "Counter[str]") -> Schema:
    if name := _referred(schema):
        uses[name] += 1
    return _map_parts(schema, lambda part: _count(part, uses))


def _referred(schema: Mapping[str, Any]) -> str:
    reference = schema.get("$ref")
    return reference.removeprefix(_REFERENCE) if isinstance(reference, str) else ""


def _with_short_names(schema: Schema) -> Schema:
    """The schema with the long names that pydantic gives to colliding definitions made short: `Filter`, `Filter_2`."""
    definitions = schema.get("$defs", {})
    names: dict[str, str] = {}
    taken = set(definitions)
    for long, definition in definitions.items():
        title = definition.get("title")
        if not isinstance(title, str) or not re.search(rf"__{re.escape(title)}(__\d+)?$", long):
            continue
        short, number = title, 1
        while short in taken:
            number += 1
            short = f"{title}_{number}"
        taken.add(short)
        names[long] = short

    def renamed(part: Schema) -> Schema:
        changed = _map_parts(part, renamed)
        if (long := _referred(part)) in names:
            changed["$ref"] = _REFERENCE + names[long]
        return changed

    if not names:
        return schema
    result = renamed(schema)
    result["$defs"] = {names.get(name, name): part for name, part in result["$defs"].items()}
    return result
