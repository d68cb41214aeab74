"""The wire form of values: JSON bytes, written once for each immutable value, and read straight from bytes.

Imported by what talks to a service, never earlier: it loads pydantic-core.
"""

import json
import re
import weakref
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Generic, TypeVar

from pydantic_core import PydanticSerializationError, from_json, to_json

T = TypeVar("T")
W = TypeVar("W")


class WireCache(Generic[T, W]):
    """The wire form of immutable values, made once for each and forgotten with it.

    Values are told apart by identity, so that nothing is compared or hashed: a conversation of n messages costs n
    dictionary look-ups a round, not n encodings.
    """

    __slots__ = ("_encode", "_entries", "_forget")

    def __init__(self, encode: Callable[[T], W]) -> None:
        self._encode = encode
        self._entries: dict[int, _Entry[T, W]] = {}
        entries = self._entries

        def forget(entry: "_Entry[T, W]") -> None:
            if entries.get(entry.key) is entry:
                del entries[entry.key]

        self._forget = forget

    def __call__(self, value: T) -> W:
        """The wire form of `value`."""
        key = id(value)
        entry = self._entries.get(key)
        if entry is not None and entry() is value:
            return entry.wire
        wire = self._encode(value)
        entry = _Entry(value, self._forget)
        entry.key, entry.wire = key, wire
        self._entries[key] = entry
        return wire

    def __len__(self) -> int:
        """How many values are remembered."""
        return len(self._entries)


class _Entry(weakref.ref, Generic[T, W]):  # type: ignore[type-arg]  # the subclass binds T itself
    __slots__ = ("key", "wire")

    key: int
    wire: W


def encode_json(value: Any) -> bytes:
    """The JSON text of `value` in UTF-8; what is not a number in JSON becomes null."""
    try:
        return to_json(value, inf_nan_mode="null", fallback=_plain)
    except PydanticSerializationError:
        # A lone surrogate, half of a character that was cut in two, has no UTF-8 form but has an escape.
        finite = json.loads(json.dumps(value, default=_plain), parse_constant=lambda _: None)
        return json.dumps(finite, separators=(",", ":")).encode()


def decode_json(text: bytes | str) -> Any:
    """The value of a JSON text; bytes that are no UTF-8 are replaced.

    Raises:
        ValueError: it is no JSON, or nested too deeply to be read.
    """
    try:
        return from_json(text)
    except ValueError:
        return _decode_leniently(text)


def _decode_leniently(text: bytes | str) -> Any:
    """What some servers send: a BOM, halves of characters, control characters inside texts."""
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig", "replace")
    try:
        return json.loads(text, strict=False)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply to be read") from None


def decode_object(text: str) -> dict[str, Any]:
    """The JSON object that `text` is, such as the arguments of a call; one without members where it is none."""
    try:
        value = decode_json(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def fitting_id(call_id: str, wanted: re.Pattern[str], length: int) -> str:
    """The id of a call as a service takes it: one that is not `wanted`, of another service, has another in its place.

    That one has `length` letters and digits, and is always the same.
    """
    if wanted.fullmatch(call_id):
        return call_id
    return sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{value!r} has no JSON form; use str, numbers, bool, None, lists and mappings")
