"""Structured output as it arrives: `stream().entities(T)` and `astream().entities(T)`."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from typing_extensions import TypedDict

from vernal import ChatClient, StructuredOutputError, UsageError, tool
from vernal.testing import ScriptedChatModel, chunks, tool_call


class Stop(BaseModel):
    """A stop of a trip."""

    city: str
    nights: int = 1


@dataclass
class Trip:
    """A trip with its stops."""

    title: str
    stops: list[Stop] = field(default_factory=list)


class Note(TypedDict, total=False):
    """A note of which anything may be missing."""

    title: str
    mood: Literal["glad", "sad"]


def entities(kind: type[Any], *pieces: str, form: str = "stream") -> list[Any]:
    """What a streamed turn gives for an answer in these pieces."""
    client = ChatClient(ScriptedChatModel([chunks(*pieces)]))
    if form == "stream":
        return list(client.prompt("?").stream().entities(kind))

    async def collected() -> list[Any]:
        return [entity async for entity in client.prompt("?").astream().entities(kind)]

    return asyncio.run(collected())


@pytest.mark.parametrize("form", ["stream", "astream"])
def test_an_entity_grows_as_the_answer_arrives(form: str) -> None:
    """An object appears with its last required field, its texts grow, an unfinished element waits."""
    pieces = ['{"title": "Nor', 'th", "stops": [', '{"city": "Oslo"}, {"nights": ', '2, "city": "Bergen"}', "]}"]
    assert entities(Trip, *pieces, form=form) == [
        Trip("Nor"),
        Trip("North"),
        Trip("North", [Stop(city="Oslo")]),
        Trip("North", [Stop(city="Oslo"), Stop(city="Bergen", nights=2)]),
    ]


def test_a_value_that_may_still_become_another_is_not_given() -> None:
    """A word of a fixed vocabulary appears when it is whole."""
    assert entities(Note, '{"title": "T", "mood": "gl', 'ad"}') == [{"title": "T"}, {"title": "T", "mood": "glad"}]


def test_lists_and_scalars_come_out_of_their_wrapping() -> None:
    """What is no object by itself travels as `{"value": …}`, and is given bare."""
    assert entities(list[int], '{"value": [1, ', "2, 3]}") == [[1], [1, 2, 3]]
    assert entities(list[int], "[1, ", "2]") == [[1], [1, 2]]
    assert entities(bool, '{"value": tr', "ue}") == [True]


def test_a_code_fence_is_no_hindrance() -> None:
    """Models that cannot do without a fence are read all the same."""
    assert entities(Stop, "```json\n", '{"city": "Os', 'lo"}', "\n```") == [Stop(city="Os"), Stop(city="Oslo")]


@given(
    st.lists(st.builds(Stop, city=st.text(max_size=12), nights=st.integers(1, 99)), max_size=6),
    st.integers(1, 17),
)
def test_however_the_answer_is_cut_the_last_entity_is_the_whole(stops: list[Stop], size: int) -> None:
    """Every cut of every answer ends in what a call would give, and each entity before it is valid."""
    text = json.dumps({"title": "T", "stops": [stop.model_dump() for stop in stops]})
    given = entities(Trip, *(text[i : i + size] for i in range(0, len(text), size)))
    assert given[-1] == Trip("T", stops)
    assert all(isinstance(stop, Stop) for trip in given for stop in trip.stops)
    assert [len(trip.stops) for trip in given] == sorted(len(trip.stops) for trip in given)


@pytest.mark.parametrize("form", ["stream", "astream"])
def test_an_answer_that_is_no_such_object_is_an_error_at_its_end(form: str) -> None:
    """What was read on the way does not hide that the whole is wrong."""
    with pytest.raises(StructuredOutputError, match="nights"):
        entities(Stop, '{"city": "Oslo"', ', "nights": "many"}', form=form)


def test_what_is_said_beside_tool_calls_is_not_the_answer() -> None:
    """Only the text of the last round is read; the tools run as ever."""
    asked: list[str] = []

    @tool
    def nights(city: str) -> int:
        """Nights in a city."""
        asked.append(city)
        return 3

    script = [
        chunks('{"city": "Nowhere"}', tool_call("nights", city="Oslo")),
        chunks('{"city": "Oslo", ', '"nights": 3}'),
    ]
    client = ChatClient(ScriptedChatModel(script))
    given = list(client.prompt("?").tools(nights).stream().entities(Stop))
    assert given[-1] == Stop(city="Oslo", nights=3)
    assert asked == ["Oslo"]


def test_the_wanted_type_is_part_of_the_request() -> None:
    """A model without native structured output is told the schema; one that has it gets the schema in its options."""

    class Native(ScriptedChatModel):
        native_structured_output = True

    told, native = ScriptedChatModel(['{"city": "Oslo"}']), Native(['{"city": "Oslo"}'])
    for model in (told, native):
        assert list(ChatClient(model).prompt("?").stream().entities(Stop)) == [Stop(city="Oslo")]
    assert '"city"' in (told.requests[0].user_message.text or "")
    options = native.requests[0].options
    assert options is not None
    assert options.output_schema is not None
    assert "city" in options.output_schema["properties"]


def test_a_turn_gives_one_stream() -> None:
    """Like every terminal of a streamed turn."""
    turn = ChatClient(ScriptedChatModel(["x"])).prompt("?").stream()
    turn.content()
    with pytest.raises(UsageError, match="opened already"):
        turn.entities(Stop)
