"""Memory inside or outside the loop: no message is sent twice, none is lost (R4)."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import (
    HIGHEST_PRECEDENCE,
    AssistantMessage,
    ChatClient,
    Message,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    ToolCall,
    ToolCallingAdvisor,
    ToolResponseMessage,
    tool,
)
from vernal.testing import ScriptedChatModel, assert_replayable, chunks, tool_call, tool_calls

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form

INSIDE, OUTSIDE = 1000, HIGHEST_PRECEDENCE + 200


@tool(polling=True)
def weather(city: str) -> str:
    """Current weather of a city; equal calls are run again, since it changes."""
    return f"18 °C in {city}"


@dataclass(frozen=True)
class Round:
    """One tool round of a script: text beside the calls, and the cities asked for."""

    text: str | None
    cities: tuple[str, ...]


@dataclass(frozen=True)
class Turn:
    """One turn of a script."""

    question: str
    rounds: tuple[Round, ...]
    answer: str


def spoken(message: Message) -> tuple[Any, ...]:
    """A message without the ids of its calls, which are the engine's business."""
    if isinstance(message, ToolResponseMessage):
        return ("tool", tuple(response.data for response in message.responses))
    if isinstance(message, AssistantMessage):
        return ("assistant", message.text, tuple(json.loads(call.arguments)["city"] for call in message.tool_calls))
    return (message.message_type.value, message.text)


def exchange(one: Round) -> list[tuple[Any, ...]]:
    """What one tool round adds to a conversation."""
    return [("assistant", one.text, one.cities), ("tool", tuple(f"18 °C in {city}" for city in one.cities))]


def remembered(turn: Turn, *, inside: bool, streamed: bool) -> list[tuple[Any, ...]]:
    """What memory keeps of a turn: inside the loop all of it, outside the question and what the caller was given."""
    answer = turn.answer
    if streamed and not inside:
        answer = "".join(one.text or "" for one in turn.rounds) + answer
    between = [message for one in turn.rounds for message in exchange(one)] if inside else []
    return [("user", turn.question), *between, ("assistant", answer, ())]


def expected(turns: list[Turn], *, inside: bool, streamed: bool) -> list[list[tuple[Any, ...]]]:
    """The conversations that the model must be sent, one for each request."""
    requests, before = list[list[tuple[Any, ...]]](), list[tuple[Any, ...]]()
    for turn in turns:
        now = [("system", "Be brief."), *before, ("user", turn.question)]
        requests.append(list(now))
        for one in turn.rounds:
            now += exchange(one)
            requests.append(list(now))
        before += remembered(turn, inside=inside, streamed=streamed)
    return requests


WORDS = st.sampled_from(["yes", "no", "Oslo"])
CITIES = st.lists(st.sampled_from(["Oslo", "Rome"]), min_size=1, max_size=3).map(tuple)
ROUNDS = st.lists(st.builds(Round, st.none() | WORDS, CITIES), max_size=3).map(tuple)
TURNS = st.lists(st.builds(Turn, WORDS, ROUNDS, WORDS), min_size=1, max_size=3)


def script_of(turns: list[Turn], call_id: str | None, *, cut: bool) -> list[Any]:
    """The answers of the model, whole or with text and calls in chunks of their own."""
    script: list[Any] = []
    for turn in turns:
        for one in turn.rounds:
            calls: list[ToolCall] = [tool_call("weather", call_id=call_id, city=city) for city in one.cities]
            pieces: list[str | ToolCall] = [*([one.text] if one.text is not None else []), *calls]
            script.append(chunks(*pieces) if cut else tool_calls(*calls, text=one.text))
        script.append(chunks(turn.answer[:1], turn.answer[1:]) if cut else turn.answer)
    return script


@pytest.mark.parametrize("history", [True, False])
@pytest.mark.parametrize("order", [INSIDE, OUTSIDE])
@given(turns=TURNS, call_id=st.sampled_from([None, "same"]), cut=st.booleans())
def test_no_message_is_sent_twice_and_none_is_lost(
    forms: "tuple[Form, ...]", order: int, history: bool, turns: list[Turn], call_id: str | None, cut: bool
) -> None:
    """Whatever is said, equal messages included, each request holds the whole conversation once (R4, R1, R8).

    With the history enabled and disabled, in all four forms; the memory ends with what was said, once.
    """
    for form in forms:
        model, memory = ScriptedChatModel(script_of(turns, call_id, cut=cut)), MessageWindowChatMemory(max_messages=500)
        loop = ToolCallingAdvisor(conversation_history_enabled=history)
        inside = MessageChatMemoryAdvisor(chat_memory=memory, memory_order=order)
        builder = ChatClient.builder(model).default_system("Be brief.").default_tools(weather)
        client = builder.default_advisors(loop, inside, conversation_id="1").build()
        for turn in turns:
            form.ask(client.prompt(turn.question))
        told = {"inside": order == INSIDE, "streamed": form.is_stream}
        assert [list(map(spoken, r.messages)) for r in model.requests] == expected(turns, **told)
        assert list(map(spoken, memory.get("1"))) == [m for turn in turns for m in remembered(turn, **told)]
        assert_replayable(memory.get("1"))


@pytest.mark.parametrize("history", [True, False])
def test_two_memories_do_not_repeat_each_other(form: "Form", history: bool) -> None:
    """One memory outside and one inside, each of its own conversation, still send nothing twice (R4)."""
    turns = [Turn("yes", (Round(None, ("Oslo",)), Round(None, ("Oslo",))), "no")]
    model = ScriptedChatModel(script_of(turns, None, cut=False))
    memories = [MessageWindowChatMemory(), MessageWindowChatMemory()]
    advisors = [
        MessageChatMemoryAdvisor(chat_memory=memory, memory_order=order)
        for memory, order in zip(memories, (OUTSIDE, INSIDE), strict=True)
    ]
    loop = ToolCallingAdvisor(conversation_history_enabled=history)
    spec = ChatClient(model).prompt("yes").system("Be brief.").tools(weather)
    form.ask(spec.advisors(loop, *advisors, conversation_id="1"))
    assert [list(map(spoken, r.messages)) for r in model.requests] == expected(turns, inside=True, streamed=False)
    assert [len(memory.get("1")) for memory in memories] == [2, 6]


def test_a_conversation_is_not_mixed_with_another(form: "Form") -> None:
    """Turns of two conversations in turn, through one advisor, stay apart (R4, R23)."""
    memory = MessageWindowChatMemory()
    advisor = MessageChatMemoryAdvisor(chat_memory=memory, memory_order=INSIDE)
    model = ScriptedChatModel([tool_call("weather", city="Oslo"), "one", "two", "three"])
    client = ChatClient.builder(model).default_tools(weather).default_advisors(advisor).build()
    for conversation, text in [("1", "a"), ("2", "b"), ("1", "c")]:
        form.ask(client.prompt(text).advisors(conversation_id=conversation))
    assert [len(r.messages) for r in model.requests] == [1, 3, 1, 5]
    assert [len(memory.get(conversation)) for conversation in "12"] == [6, 2]
