"""Facts: what tools gave in this turn, by the names that they gave it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from vernal.models.offline.parameters import Parameter
from vernal.models.offline.words import split_name, stem

_MOST = 200
"""How many values of results are looked at."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The results of tools: each as text, each as JSON where it is some, and their leaves with their names."""

    texts: tuple[str, ...] = ()
    values: tuple[Any, ...] = ()
    leaves: tuple[tuple[frozenset[str], Any], ...] = ()

    @classmethod
    def of(cls, results: Sequence[str]) -> "Facts":
        """The facts in `results`, the texts that tools gave."""
        values = tuple(parsed(result) for result in results)
        leaves = [leaf for value in values for leaf in _leaves(value, "", 0)][:_MOST]
        return cls(tuple(results), values, tuple((_stems(name), value) for name, value in leaves))

    def values_for(self, wanted: Parameter) -> Iterator[Any]:
        """What could be the value of `wanted`: leaves of its name, then for a free text the results themselves."""
        last = stem(wanted.raw[-1]) if wanted.raw else ""
        for names, value in self.leaves:
            if names and (names == wanted.words or (last in names and names <= wanted.words)):
                yield value
        if wanted.many:
            named = [value for names, value in self.leaves if names and names <= wanted.words]
            yield from [named] if named else []
        if wanted.is_free and self.texts:
            yield "\n".join(self.texts)


NO_FACTS = Facts()


def parsed(text: str) -> Any:
    """`text` as JSON where it is some, else itself."""
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text


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
