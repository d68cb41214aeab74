"""Facts: what tools gave in this turn, by the names that they gave it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vernal.models.offline.parameters import Parameter
from vernal.models.offline.words import split_name, stem
from vernal.values.records import dataclass

_DEEPEST = 8
_MOST = 200
"""How many values of results are looked at."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The results of tools: as JSON where they are some, and their leaves with their names."""

    values: tuple[Any, ...] = ()
    leaves: tuple[tuple[frozenset[str], Any], ...] = ()

    @classmethod
    def of(cls, results: Sequence[str]) -> "Facts":
        """The facts in `results`, the texts that tools gave."""
        values = tuple(parsed(result) for result in results)
        leaves = [leaf for value in values for leaf in _leaves(value, "", 0)][:_MOST]
        return cls(values, tuple((_stems(name), value) for name, value in leaves))

    def only(self, index: int) -> "Facts":
        """The facts of one result."""
        return Facts.of([json.dumps(self.values[index])])

    @property
    def worded(self) -> str:
        """The results as a person would write them, one under another."""
        return "\n".join(map(phrase, self.values))

    def values_for(self, wanted: Parameter) -> Iterator[Any]:
        """What could be the value of `wanted`: leaves of its name, then for a free text the results themselves."""
        last = stem(wanted.raw[-1]) if wanted.raw else ""
        for names, value in self.leaves:
            if names and (names == wanted.words or (last in names and names <= wanted.words)):
                yield value
        if wanted.many:
            named = [value for names, value in self.leaves if names and names <= wanted.words]
            yield from [named] if named else []
        if wanted.is_free and self.values:
            yield self.worded


NO_FACTS = Facts()


def parsed(text: str) -> Any:
    """`text` as JSON where it is some, else itself."""
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text


def phrase(value: Any, depth: int = 0) -> str:
    """A JSON value as a person would write it: `key: value` for objects, commas for lists."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_readable(key)}: {phrase(member, depth + 1)}" for key, member in value.items())
        return f"({inner})" if depth else inner or "nothing"
    if isinstance(value, list):
        if depth == 0 and any(isinstance(item, dict | list) for item in value):
            return "\n".join(f"- {phrase(item)}" for item in value)
        return ", ".join(phrase(item, depth + 1) for item in value) or "nothing"
    return str(value)


def _leaves(value: Any, name: str, depth: int) -> Iterator[tuple[str, Any]]:
    if name:
        yield name, value
    if depth < 6 and isinstance(value, dict):
        for key, member in value.items():
            yield from _leaves(member, str(key), depth + 1)
    elif depth < 6 and isinstance(value, list):
        for item in value:
            yield from _leaves(item, "" if isinstance(item, dict | list) else name, depth + 1)


def _stems(name: str) -> frozenset[str]:
    return frozenset(stem(word) for word in split_name(name))


def _readable(key: Any) -> str:
    return str(key).replace("_", " ").strip() or str(key)
