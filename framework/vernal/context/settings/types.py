"""Types for settings: durations, sizes, and maps by name."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BeforeValidator, ByteSize, GetCoreSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema, core_schema

from vernal.context.settings.names import fold
from vernal.errors import ConfigurationError

V = TypeVar("V")
W = TypeVar("W")

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*")


def parse_duration(value: object) -> object:
    """A `timedelta` for text like "10s", "1h30m", "250ms" or "2.5" (seconds); pydantic reads the rest (ISO 8601)."""
    if not isinstance(value, str):
        return value
    text, seconds, at = value.strip().lower(), 0.0, 0
    while match := _PART.match(text, at):
        seconds += float(match[1]) * _UNITS[match[2]]
        at = match.end()
    if text and at == len(text):
        return timedelta(seconds=seconds)
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return timedelta(seconds=float(text))
    if not re.match(r"[-+]?p|\d+:", text):
        raise ValueError('wanted a duration such as "10s", "5m", "1h30m", "PT10S" or a number of seconds')
    return text.upper()


Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    WithJsonSchema({"type": ["string", "number"], "examples": ["10s", "1h30m", "PT10S", 2.5]}),
]
"""A length of time: "10s", "5m", "1h30m", "250ms", "2d", ISO 8601 ("PT10S"), or a number of seconds."""

Size = ByteSize
"""A number of bytes: "10MB" (10,000,000), "10MiB" (10,485,760), "512" or 512; an `int`."""


class FoldedName(str):
    """A name from an environment variable, known only up to case and punctuation."""

    __slots__ = ()


class ByName(Mapping[str, V]):
    """Values by the name of a tool (or of anything else whose names are not settings' names).

    Names from TOML, JSON and the `settings=` argument are exact. A name from an environment variable stands for every
    name that folds to the same: `..__GET_WEATHER` is `get_weather`, `get-weather` and `Get Weather`. Exact names win.
    """

    __slots__ = ("_exact", "_folded")

    def __init__(self, values: Mapping[str, V] | None = None) -> None:
        items = dict(values or {})
        self._folded = {fold(name): value for name, value in items.items() if isinstance(name, FoldedName)}
        self._exact = {name: value for name, value in items.items() if not isinstance(name, FoldedName)}

    def __getitem__(self, name: str) -> V:
        return self._exact[name] if name in self._exact else self._folded[fold(name)]

    def __iter__(self) -> Iterator[str]:
        yield from self._exact
        yield from self._folded

    def __len__(self) -> int:
        return len(self._exact) + len(self._folded)

    def __repr__(self) -> str:
        return f"ByName({self._exact | self._folded!r})"

    def select(self, choose: Callable[[V], W | None]) -> "ByName[W]":
        """What `choose` gives for each value, without those for which it gives None."""
        chosen = {name: choose(value) for name, value in (self._exact | _marked(self._folded)).items()}
        return ByName({name: value for name, value in chosen.items() if value is not None})

    def over(self, other: "ByName[V]") -> "ByName[V]":
        """These values, and those of `other` for the names that have none here."""
        below = {name: value for name, value in other._exact.items() if fold(name) not in self._folded}
        return ByName(below | _marked(other._folded | self._folded) | self._exact)

    def for_names(self, names: Iterable[str]) -> dict[str, V]:
        """The values of those of the names that have one, by exact name.

        Raises:
            ConfigurationError: One name from an environment variable stands for two of the names.
        """
        found: dict[str, V] = {}
        owners: dict[str, str] = {}
        for name in dict.fromkeys(names):
            if name in self:
                found[name] = self[name]
                if name not in self._exact and (other := owners.setdefault(fold(name), name)) != name:
                    raise ConfigurationError(
                        f"the setting for {fold(name)!r} stands for both {other!r} and {name!r}; "
                        "give the exact names in vernal.toml, or as JSON in the variable of the whole map"
                    )
        return found

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        (value_type,) = get_args(source) or (Any,)
        name = core_schema.json_or_python_schema(  # str_schema would make a plain str of a FoldedName
            json_schema=core_schema.str_schema(), python_schema=core_schema.is_instance_schema(str)
        )
        values = core_schema.dict_schema(keys_schema=name, values_schema=handler.generate_schema(value_type))
        return core_schema.no_info_wrap_validator_function(
            lambda value, inner: cls(inner(value._exact | _marked(value._folded) if isinstance(value, cls) else value)),
            values,
            serialization=core_schema.plain_serializer_function_ser_schema(dict),
        )


def _marked(folded: Mapping[str, V]) -> dict[str, V]:
    return {FoldedName(name): value for name, value in folded.items()}
