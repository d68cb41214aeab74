"""The wire form of values: exact JSON, made once for each value."""

import gc
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import UserMessage
from vernal.http import WireCache, decode_json, encode_json
from vernal.values.mappings import frozen

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_every_value_comes_back_as_it_was(value: object) -> None:
    """What is written is JSON that any reader reads back, and so does ours."""
    assert json.loads(encode_json(value)) == value
    assert decode_json(encode_json(value)) == value


def test_what_json_does_not_know_is_given_a_form_or_refused() -> None:
    """Mappings become objects, NaN null (R15), half a character its escape; other objects are refused."""
    assert encode_json(frozen({"a": frozen({"b": (1, float("nan"))})})) == b'{"a":{"b":[1,null]}}'
    assert json.loads(encode_json({"a": "\ud83d", "b": float("inf")})) == {"a": "\ud83d", "b": None}
    with pytest.raises(TypeError, match="has no JSON form"):
        encode_json({"a": object()})


def test_half_a_character_is_read() -> None:
    """The lone surrogates that some servers send are read, and what is no JSON is not."""
    assert decode_json(b'{"a": "\\ud83d"}') == {"a": "\ud83d"}
    with pytest.raises(ValueError, match="Expecting"):
        decode_json(b"<html>")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a": "\xf0\x9f"}', {"a": "\ufffd"}),
        (b'{"a": "\xed\xa0\xbd"}', {"a": "\ufffd" * 3}),
        (b'{"a": "b\nc\td"}', {"a": "b\nc\td"}),
        (b'{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_what_servers_write_wrongly_is_read(text: bytes, value: object) -> None:
    """A BOM, bytes that are no UTF-8, control characters in texts, and members that are given twice."""
    assert decode_json(text) == value


def test_what_is_too_deep_is_no_json() -> None:
    """It is a `ValueError` as all that cannot be read."""
    with pytest.raises(ValueError, match="too deeply"):
        decode_json(b"[" * 100_000 + b"]" * 100_000)


def test_each_value_is_encoded_once() -> None:
    """A message is encoded when it is first sent, and an equal one is another message."""
    encoded: list[str] = []

    def encode(message: UserMessage) -> bytes:
        encoded.append(message.text)
        return message.text.encode()

    cache = WireCache(encode)
    first, second = UserMessage("a"), UserMessage("a")
    assert [cache(first), cache(first), cache(second), cache(first)] == [b"a"] * 4
    assert encoded == ["a", "a"]


def test_a_forgotten_value_takes_its_wire_form_with_it() -> None:
    """The cache keeps no message alive, and a new message at an old address is not mistaken for the old one."""
    cache = WireCache[UserMessage, bytes](lambda message: message.text.encode())
    for number in range(100):
        assert cache(UserMessage(str(number))) == str(number).encode()
    gc.collect()
    assert len(cache) == 0
