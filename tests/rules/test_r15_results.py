"""R15: results of every kind have one documented form."""

import dataclasses
import datetime as dt
import decimal
import enum
import json
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from vernal import ChatClient, Media, ToolResponse, ToolResponseMessage, ToolResult
from vernal.testing import Form, ScriptedChatModel, tool_call
from vernal.tools.conversion import NO_RESULT


class Colour(enum.Enum):
    """An enum."""

    RED = "red"


@dataclasses.dataclass
class Point:
    """A dataclass."""

    x: float
    tag: str | None = None


class Model(BaseModel):
    """A pydantic model."""

    when: dt.date
    points: list[Any]


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters(), max_size=4), st.decimals(),
    st.dates(), st.datetimes(), st.timedeltas(), st.uuids(), st.sampled_from(Colour), st.binary(max_size=4),
    st.text(st.characters(categories=["Cs"]), min_size=1, max_size=2),
)  # fmt: skip
KEYS = st.one_of(st.text(max_size=3), st.integers(), st.sampled_from(Colour), st.dates(), st.just("\udcff"))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(KEYS, inner, max_size=3),
        st.builds(Point, st.floats(), st.none() | st.text(max_size=2)),
        st.builds(lambda when, points: Model(when=when, points=points), st.dates(), st.lists(inner, max_size=2)),
        st.sets(st.integers(), max_size=3),
    ),
    max_leaves=6,
)


def refuse(constant: str) -> None:
    """No JSON."""
    raise AssertionError(f"{constant} is no JSON")


def result_of(function: Any) -> ToolResponse:
    """What the model is told of a call of `function`, named `give`."""
    function.__name__ = "give"
    model = ScriptedChatModel([tool_call("give"), "done"])
    ChatClient(model).prompt("Go on.").tools(function).call().content()
    message = model.requests[-1].messages[-1]
    assert isinstance(message, ToolResponseMessage)
    return message.responses[0]


@given(value=VALUES)
def test_whatever_is_returned_is_told_alike_by_tools_of_every_kind(value: Any) -> None:
    """R15: text stays text, None has one form, bytes become media, all else is JSON that any reader takes; never an
    error, since the tool has run."""

    def plain() -> Any:
        return value

    async def awaited() -> Any:
        return value

    def generated() -> Iterator[Any]:
        yield value

    async def generated_later() -> AsyncIterator[Any]:
        yield value

    response = result_of(plain)
    assert not response.is_error
    assert result_of(awaited) == response
    listed = result_of(lambda: [value])
    assert result_of(generated) == result_of(generated_later) == listed
    assert response.data or value == ""
    if value is None:
        assert response.data == NO_RESULT
    elif isinstance(value, str):
        assert response.data == value
    elif isinstance(value, bytes):
        assert [media.data for media in response.media] == [value]
    elif isinstance(value, Colour):
        assert response.data == '"red"'
    elif not response.media:
        json.loads(response.data, parse_constant=refuse)
        response.data.encode()


def test_media_and_results_come_out_as_they_are(form: Form) -> None:
    """R15: beside a text that says what they are."""
    image, sound = Media("image/png", b"\x89PNG"), Media("audio/wav", url="https://example.org/a.wav")

    def give() -> Any:
        """Give."""
        return [image, "and", sound]

    model = ScriptedChatModel([tool_call("give"), "done"])
    form.ask(ChatClient(model).prompt("Go on.").tools(give))
    message = model.requests[-1].messages[-1]
    assert isinstance(message, ToolResponseMessage)
    assert message.responses[0].media == (image, sound)
    assert message.responses[0].data == "[image/png: 4 bytes]\nand\n[audio/wav: https://example.org/a.wav]"
    told = result_of(lambda: ToolResult("no", is_error=True, media=[image]))
    assert (told.data, told.is_error, told.media) == ("no", True, (image,))


def test_identifiers_and_money_are_text_in_json() -> None:
    """R15: so that nothing is rounded."""
    value = {"id": uuid.UUID(int=7), "price": decimal.Decimal("0.10"), "at": dt.date(2026, 12, 1)}
    expected = '{"id":"00000000-0000-0000-0000-000000000007","price":"0.10","at":"2026-12-01"}'
    assert result_of(lambda: value).data == expected
