"""R1: after anything that can happen the history can be replayed."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rules.strategies import SCRIPTS, SETTINGS, Setting, played_in_all_forms

from vernal import (
    Allow,
    AssistantMessage,
    ChatClient,
    DefaultToolCallingManager,
    InMemoryChatMemoryRepository,
    Message,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    Suspend,
    SuspendedTurn,
    ToolCall,
    ToolCallingAdvisor,
    ToolResponse,
    ToolResponseMessage,
    TurnSuspended,
    UsageError,
)
from vernal.testing import (
    Fault,
    FaultyChatMemoryRepository,
    Form,
    ScriptedChatModel,
    assert_replayable,
    tool_call,
    tool_calls,
)


@settings(max_examples=4 * settings().max_examples)
@given(script=SCRIPTS, setting=SETTINGS)
def test_whatever_happens_every_form_sends_and_remembers_what_can_be_replayed(
    script: list[Any], setting: Setting
) -> None:
    """R1: each request and each memory, whatever model and tools do; and each form sends the very same."""
    first, *others = played_in_all_forms(script, setting)
    for played in (first, *others):
        for messages in played.requests:
            assert_replayable(messages)
        assert_replayable(played.memory.get("c"))
        assert not +played.toolbox.running
    for played in others:
        same, told = first.comparable, played.comparable
        if setting.memory == 200:  # outside the loop a stream is remembered with what was said beside the calls
            same.pop("memory"), told.pop("memory")
        assert told == same


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("at", range(1, 13))
def test_a_store_that_breaks_between_rounds_leaves_what_can_be_replayed(
    form: Form, at: int, done: bool, inside: bool
) -> None:
    """R1: what has been saved by then; the next turn goes on from it."""

    def look(n: int) -> str:
        """Look."""
        return "seen"

    stored = InMemoryChatMemoryRepository()
    repository = FaultyChatMemoryRepository(stored, Fault(OSError("the store is down"), at=at, after=int(done)))
    memory = MessageWindowChatMemory(chat_memory_repository=repository)
    advisor = MessageChatMemoryAdvisor(chat_memory=memory, **({"memory_order": 1000} if inside else {}))
    model = ScriptedChatModel([tool_call("look", n=1), tool_call("look", n=2), "seen", "again", "again"])
    client = ChatClient.builder(model).default_advisors(advisor, conversation_id="c").default_tools(look).build()
    for question in ("First.", "Second."):
        try:
            form.ask(client.prompt(question))
        except OSError:
            pass
        assert_replayable(stored.find_by_conversation_id("c"))
    assert_replayable(model.requests[-1].messages)


JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.builds(object),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(arguments=st.dictionaries(st.text(max_size=3), JSON_LIKE, max_size=2))
def test_arguments_that_a_decision_puts_in_place_are_stored_as_json_or_refused(arguments: dict[str, Any]) -> None:
    """R1: what has no JSON text (NaN, an object) is the developer's error, and never gets into a history."""

    def look(n: int = 0) -> str:
        """Look."""
        return "seen"

    model = ScriptedChatModel([tool_call("look"), "done"])
    manager = DefaultToolCallingManager(interceptors=[lambda request: Allow(arguments)])
    client = ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(tool_calling_manager=manager)).build()
    try:
        json.dumps(arguments, allow_nan=False)
    except (TypeError, ValueError):
        with pytest.raises(UsageError, match="no JSON text"):
            client.prompt("Go on.").tools(look).call().content()
        return
    client.prompt("Go on.").tools(look).call().content()
    [call] = [c for m in model.requests[-1].messages if isinstance(m, AssistantMessage) for c in m.tool_calls]
    assert json.loads(call.arguments) == arguments


@pytest.mark.parametrize("text", ['{"n": NaN}', '{"n": -Infinity}', '{"n": ' + "[" * 500 + "]" * 500 + "}"])
def test_what_some_reader_would_fail_at_is_no_valid_argument(text: str) -> None:
    """R1: `NaN` is no JSON, and what is nested very deep is read or not as the stack allows."""
    call = AssistantMessage(tool_calls=[ToolCall("1", "look", text)])
    answered: list[Message] = [call, ToolResponseMessage([ToolResponse("1", "look", "seen")])]
    with pytest.raises(AssertionError, match="no JSON object"):
        assert_replayable(answered)


def test_a_suspended_turn_can_be_replayed_once_it_is_decided(form: Form) -> None:
    """R1: across its own JSON text, and with the siblings that had run."""
    ran: list[str] = []

    def look() -> str:
        """Look."""
        ran.append("look")
        return "seen"

    def drop() -> str:
        """Drop."""
        ran.append("drop")
        return "gone"

    manager = DefaultToolCallingManager(interceptors=[lambda r: Suspend() if r.call.name == "drop" else None])
    model = ScriptedChatModel([tool_calls(tool_call("look"), tool_call("drop")), "done"])
    client = ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(tool_calling_manager=manager)).build()
    with pytest.raises(TurnSuspended) as caught:
        form.ask(client.prompt("Go on.").tools(look, drop))
    state = SuspendedTurn.from_json(caught.value.state.to_json())
    [waiting] = state.pending
    outcome = form.ask(client.prompt().tools(look, drop).resume(state, {waiting.id: Allow()}))
    assert outcome.text == "done"
    assert ran == ["look", "drop"]
