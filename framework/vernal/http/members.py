"""Reading the members of answers: what providers do alike with objects whose members they do not all know."""

import math
from collections.abc import Mapping
from typing import Any

from vernal.values.mappings import EMPTY


def members_of(value: object) -> Mapping[str, Any]:
    """`value` where it is an object, else one without members: what is said beside an answer never spoils it."""
    return value if type(value) is dict or isinstance(value, Mapping) else EMPTY


def unmapped(members: Mapping[str, Any], mapped: frozenset[str]) -> dict[str, Any]:
    """The members that have no place of their own, to be kept as they came; null ones say nothing (OAI-12)."""
    if members.keys() <= mapped:  # as it nearly always is
        return {}
    return {name: value for name, value in members.items() if name not in mapped and value is not None}


def without_empty(members: Mapping[str, Any]) -> dict[str, Any]:
    """The members that say something: no empty lists, texts and objects."""
    return {name: value for name, value in members.items() if value not in ([], "", {})}


def token_count(count: object) -> int | None:
    """A number of tokens as a service reports it, None where it reports none, as NaN and infinity are."""
    if type(count) is int:  # as it nearly always is
        return count
    return int(count) if isinstance(count, float) and math.isfinite(count) else None
