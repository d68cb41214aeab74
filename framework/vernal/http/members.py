"""Reading the members of answers: what providers do alike with objects whose members they do not all know."""

from collections.abc import Mapping
from typing import Any


def unmapped(members: Mapping[str, Any], mapped: frozenset[str]) -> dict[str, Any]:
    """The members that have no place of their own, to be kept as they came; null ones say nothing (OAI-12)."""
    if members.keys() <= mapped:  # as it nearly always is
        return {}
    return {name: value for name, value in members.items() if name not in mapped and value is not None}


def without_empty(members: Mapping[str, Any]) -> dict[str, Any]:
    """The members that say something: no empty lists, texts and objects."""
    return {name: value for name, value in members.items() if value not in ([], "", {})}


def token_count(count: object) -> int | None:
    """A number of tokens as a service reports it, None where it reports none."""
    if type(count) is int:  # as it nearly always is
        return count
    return int(count) if isinstance(count, int | float) else None
