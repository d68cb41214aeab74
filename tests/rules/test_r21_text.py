"""R21: text passes as it arrives; text beside a tool call is neither lost nor repeated."""

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import RESPONSES, SCRIPTS, SETTINGS, STREAMED, Setting, play, without_number

from vernal import (
    ChatClient,
    ChatClientRequestSpec,
    ChatClientResponse,
    ChatEvent,
    ChatResponse,
    RoundFinished,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
)
from vernal.testing import Form, Outcome, ScriptedChatModel, chunks, tool_call
from vernal.testing.scripted import Chunks


def text_of(item: Any) -> str:
    """The text of an answer's first generation."""
    parts = item.items if isinstance(item, Chunks) else [item]
    return "".join(part.text or "" for part in parts if isinstance(part, ChatResponse))


@given(script=st.lists(st.one_of(RESPONSES, STREAMED), min_size=1, max_size=5), setting=SETTINGS)
def test_a_reader_sees_every_text_once(script: list[Any], setting: Setting) -> None:
    """R21: a stream gives the texts of all rounds, in order, then what ends the turn in the model's place."""
    called = play(Form("acall"), script, setting)
    if called.outcome is None:
        return
    said = "".join(text_of(item) for item in [*script, ChatResponse.of("end")][: len(called.requests)])
    reason = called.outcome.chat_response.finish_reason
    ending = called.outcome.text if reason in ("returnDirect", "toolCallLimitExceeded") else ""
    for name in ("stream", "astream"):
        streamed = play(Form(name), script, setting)
        assert streamed.outcome is not None
        assert without_number(streamed.outcome.text) == without_number(said + ending)


class Listening:
    """Asks for the events of a blocking stream, and keeps them."""

    def ask(self, spec: ChatClientRequestSpec) -> Outcome:
        """Run the request to its end."""
        HEARD.extend(spec.stream().events())  # what came before a break stays
        end = HEARD[-1]
        assert isinstance(end, TurnFinished)
        return Outcome.of([ChatClientResponse(end.response, dict(end.context))])


HEARD: list[ChatEvent] = []


@given(script=SCRIPTS, setting=SETTINGS)
def test_events_tell_of_the_same_turn_in_its_order(script: list[Any], setting: Setting) -> None:
    """R21, R23: who listens changes nothing; each call starts once and ends once, within its round, and rounds are
    numbered; the end comes last."""
    HEARD.clear()
    called, heard = play(Form("acall"), script, setting), play(Listening(), script, setting)
    for same in ("requests", "runs", "error"):
        assert heard.comparable[same] == called.comparable[same]
    open_calls: set[str] = set()
    seen: set[str] = set()
    rounds = 0
    for event in HEARD:
        if isinstance(event, ToolCallStarted):
            assert event.call_id not in seen
            open_calls.add(event.call_id)
            seen.add(event.call_id)
        elif isinstance(event, ToolCallFinished):
            open_calls.remove(event.call_id)
        elif isinstance(event, RoundFinished):
            rounds += 1
            assert event.number == rounds
            assert not open_calls
    assert heard.error is not None or rounds == len(heard.requests)


def test_each_text_is_there_before_the_next_is_asked_for() -> None:
    """R21: nothing waits for the round to end, and tools start only when it has."""
    happened: list[str] = []

    def look() -> str:
        """Look."""
        happened.append("look")
        return "seen"

    async def main() -> None:
        model = ScriptedChatModel([chunks("a", tool_call("look", call_id="1"), "b", "c"), chunks("d", "e")])
        async for text in ChatClient(model).prompt("Go on.").tools(look).astream().content():
            happened.append(text)  # noqa: PERF401  # one by one is the point

    asyncio.run(main())
    assert happened == ["a", "b", "c", "look", "d", "e"]
