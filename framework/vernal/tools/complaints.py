"""What is wrong with a model's arguments: as data, and as a text that the model can act on (R5)."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from vernal.tools.schema import part_at
from vernal.values.records import dataclass

_SHOWN = 5
"""How many complaints are told at once: the first ones are what helps."""

_WANTED = {
    "int": "integer",
    "float": "number",
    "decimal": "number",
    "bool": "boolean",
    "string": "string",
    "dict": "object",
    "mapping": "object",
    "model": "object",
    "dataclass": "object",
    "list": "array",
    "tuple": "array",
    "set": "array",
    "frozen": "array",
    "iterable": "array",
}
"""The JSON type that an error of pydantic asks for, by the first word of the error's type."""

_KIND_ERRORS = ("_type", "_parsing", "_from_float", "_attributes_type")


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing that does not fit: where, why in the validator's words, and what was given there.

    `wanted` is the JSON type that would do, "" where the type is not the trouble. `missing` is True where nothing was
    given.
    """

    path: tuple[str | int, ...]
    reason: str
    given: Any = None
    wanted: str = ""
    missing: bool = False


def pydantic_complaints(errors: Iterable[Mapping[str, Any]], value: Any) -> list[Complaint]:
    """The errors of a pydantic validation of `value`."""
    complaints = []
    for error in errors:
        kind, message = error["type"], error["msg"]
        path = _path_within(value, error["loc"], missing=kind == "missing")
        reason = message.removeprefix("Value error, ").removeprefix("Assertion failed, ").removeprefix("Input ")
        wanted = _WANTED.get(kind.split("_", 1)[0], "") if kind.endswith(_KIND_ERRORS) else ""
        complaints.append(Complaint(path, reason, error["input"], wanted, kind == "missing"))
    return complaints


def schema_complaints(errors: Iterable[Any]) -> list[Complaint]:
    """The errors of a jsonschema validation."""
    complaints: list[Complaint] = []
    for error in errors:
        path = tuple(error.absolute_path)
        if error.validator == "required":
            absent = [name for name in error.validator_value if name not in error.instance]
            complaints += [Complaint((*path, name), "", missing=True) for name in absent]
        elif error.validator == "type":
            kinds = error.validator_value
            wanted = kinds if isinstance(kinds, str) else next((kind for kind in kinds if kind != "null"), "null")
            complaints.append(Complaint(path, "", error.instance, wanted))
        elif error.validator == "additionalProperties":
            complaints.append(Complaint(path, f"has unknown members; known are {_names(error.schema)}", error.instance))
        elif error.context:
            complaints += schema_complaints(error.context)
        elif error.validator in ("enum", "const"):
            complaints.append(Complaint(path, f"should be {_described(error.schema)}", error.instance))
        else:
            limit = _shown(error.validator_value)
            complaints.append(Complaint(path, f"breaks the rule {error.validator}: {limit}", error.instance))
    return complaints


def explained(tool: str, complaints: Iterable[Complaint], schema: Mapping[str, Any]) -> str:
    """The text for the model: which argument, why, and what is allowed."""
    lines = list(dict.fromkeys(_line(complaint, schema) for complaint in complaints))
    more = [f"- and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join([f"The tool {tool} was not called, since its arguments do not fit:", *lines[:_SHOWN], *more])


def no_object(tool: str, text: str, schema: Mapping[str, Any]) -> str:
    """The text for the model where the arguments are no JSON object at all."""
    members = f" with the members {_names(schema)}" if schema.get("properties") else ""
    return (
        f"The tool {tool} was not called, since its arguments are not valid. "
        f"Wanted: a JSON object{members}. Given: {_clipped(text.strip())}"
    )


def _line(complaint: Complaint, schema: Mapping[str, Any]) -> str:
    where = ".".join(str(step) for step in complaint.path) or "the arguments"
    wanted = _described(part_at(schema, complaint.path)) or complaint.wanted
    if complaint.missing:
        return f"- {where}: missing" + (f"; wanted: {wanted}" if wanted else "")
    if complaint.wanted and wanted:
        return f"- {where}: {_shown(complaint.given)} was given; wanted: {wanted}"
    return f"- {where}: {complaint.reason}; {_shown(complaint.given)} was given"


def _described(schema: Mapping[str, Any]) -> str:
    """What a schema allows, in a few words."""
    if "enum" in schema:
        return " or ".join(_shown(choice) for choice in schema["enum"])
    if "const" in schema:
        return _shown(schema["const"])
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " or ".join(dict.fromkeys(filter(None, (_described(choice) for choice in choices))))
    kind = schema.get("type", "object" if "$ref" in schema else "")
    if not isinstance(kind, str):
        return " or ".join(kind)
    kind = f"{kind} ({schema['format']})" if "format" in schema else kind
    return f"{kind} of {schema['items']['type']}" if isinstance(_items_type(schema), str) else kind


def _items_type(schema: Mapping[str, Any]) -> Any:
    items = schema.get("items")
    return items.get("type") if isinstance(items, Mapping) else None


def _names(schema: Mapping[str, Any]) -> str:
    return ", ".join(schema.get("properties", {})) or "none"


def _shown(value: Any) -> str:
    try:
        return _clipped(json.dumps(value, ensure_ascii=False, default=str))
    except ValueError:
        return _clipped(str(value))


def _clipped(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "…"


def _path_within(value: Any, location: tuple[str | int, ...], *, missing: bool) -> tuple[str | int, ...]:
    """The path in `value` that an error's location means: without the names of union members and validators."""
    path: list[str | int] = []
    for depth, step in enumerate(location):
        last = missing and depth == len(location) - 1
        if last or (isinstance(value, dict) and step in value):
            path.append(step)
            value = value.get(step) if isinstance(value, dict) else None
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            path.append(step)
            value = value[step]
    return tuple(path)
