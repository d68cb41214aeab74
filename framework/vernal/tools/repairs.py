"""Harmless forms of arguments: what models send instead of what was asked, and plainly mean the same (R5).

Beside what `parse_arguments` accepts for the arguments as a whole, these are:

- a number or a truth value in a string, where the schema says number, integer or boolean: `"42"`, `"true"`;
- an integer written as a number: `3.0`, or in scientific notation in a string, `"1.5E7"` (JSN-06);
- an object or array given as its JSON text (JSN-05);
- null for what may be left out but not be null: it counts as left out;
- `"null"` or `"None"` where the schema allows null, and no such text;
- a number in a string where the schema lists numbers: `"2"` for 1, 2 or 3.
"""

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from vernal.tools.complaints import Complaint
from vernal.tools.schema import part_at

_LARGEST_EXPONENT = 300
_KEPT = object()
_LEFT_OUT = object()


def repair(value: Any, complaints: Iterable[Complaint], schema: Mapping[str, Any]) -> bool:
    """Replace in `value` what is complained of and has a harmless form; says whether anything was replaced."""
    repaired = False
    for complaint in complaints:
        if not complaint.path:
            continue
        *way, last = complaint.path
        try:
            holder = value
            for step in way:
                holder = holder[step]
            meant = _meant(holder[last], complaint, schema)
        except (LookupError, TypeError):
            continue  # missing, or replaced for the sake of an earlier complaint
        if meant is _LEFT_OUT:
            del holder[last]
        elif meant is not _KEPT:
            holder[last] = meant
        repaired = repaired or meant is not _KEPT
    return repaired


def _meant(given: Any, complaint: Complaint, schema: Mapping[str, Any]) -> Any:
    if given is None:
        owner = part_at(schema, complaint.path[:-1])
        return _LEFT_OUT if _may_be_left_out(complaint.path[-1], owner) else _KEPT
    if isinstance(given, str):
        part = part_at(schema, complaint.path)
        if given.strip() in ("null", "None") and _may_be_null(part):
            return None
        if not complaint.wanted:
            return _listed(given, part)
    if complaint.wanted == "integer":
        return _integer(given)
    if isinstance(given, str):
        if complaint.wanted == "number":
            return _number(given)
        if complaint.wanted == "boolean":
            return {"true": True, "false": False}.get(given.strip().lower(), _KEPT)
        if complaint.wanted in ("object", "array"):
            return _parsed(given, dict if complaint.wanted == "object" else list)
    return _KEPT


def _may_be_left_out(name: str | int, owner: Mapping[str, Any]) -> bool:
    return isinstance(name, str) and name in owner.get("properties", {}) and name not in owner.get("required", ())


def _may_be_null(part: Mapping[str, Any]) -> bool:
    kinds = part.get("type", ())
    if kinds == "null" or (not isinstance(kinds, str) and "null" in kinds):
        return True
    return any(_may_be_null(each) for each in (*part.get("anyOf", ()), *part.get("oneOf", ())))


def _listed(given: str, part: Mapping[str, Any]) -> Any:
    """The number of those that the schema lists which `given` is the text of."""
    number = _number(given)
    options = part.get("enum", (part.get("const"),))
    return next((o for o in options if isinstance(o, int | float) and not isinstance(o, bool) and o == number), _KEPT)


def _integer(given: Any) -> Any:
    if isinstance(given, float):
        return int(given) if given.is_integer() else _KEPT
    number = _decimal(given)
    return int(number) if number is not None and number == number.to_integral_value() else _KEPT


def _number(given: str) -> Any:
    number = _decimal(given)
    if number is None:
        return _KEPT
    return int(number) if number == number.to_integral_value() else float(number)


def _decimal(given: Any) -> Decimal | None:
    if not isinstance(given, str) or not given.isascii() or "_" in given:
        return None
    try:
        number = Decimal(given.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= _LARGEST_EXPONENT else None


def _parsed(text: str, kind: type) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _KEPT
    return value if isinstance(value, kind) else _KEPT
