"""What can be known of a turn from within a tool, and after it has ended."""

import asyncio
from collections.abc import Callable

import pytest

from vernal import (
    AssistantMessage,
    ChatClient,
    DefaultToolCallingManager,
    Deny,
    Message,
    Suspend,
    ToolCallingAdvisor,
    ToolCallLimits,
    ToolContext,
    ToolResponseMessage,
    ToolResult,
    TurnFinished,
    TurnSuspended,
    UsageError,
    UserMessage,
    tool,
)
from vernal.client.spec import ChatClientRequestSpec
from vernal.testing import Form, ScriptedChatModel, assert_replayable, tool_call, tool_calls


@tool
def look(place: str) -> str:
    """Look somewhere."""
    return f"nothing {place}"


@tool
def search(place: str) -> str:
    """Search somewhere; what is found ends the turn."""
    return ToolResult("found it", return_direct=True) if place == "cellar" else "nothing"


def by_call(spec: ChatClientRequestSpec) -> tuple[Message, ...]:
    return spec.call().chat_client_response().conversation_history


def by_acall(spec: ChatClientRequestSpec) -> tuple[Message, ...]:
    return asyncio.run(spec.acall().chat_client_response()).conversation_history


def by_events(spec: ChatClientRequestSpec) -> tuple[Message, ...]:
    with spec.stream().events() as events:
        *_, last = events
    assert isinstance(last, TurnFinished)
    return last.conversation_history


@pytest.mark.parametrize("history_of", [by_call, by_acall, by_events])
def test_all_that_was_said_is_at_hand_when_the_turn_has_ended(
    history_of: Callable[[ChatClientRequestSpec], tuple[Message, ...]],
) -> None:
    """Each call with its result, then the answer: to show, to store, to go on from (pydantic-ai, Vercel AI SDK, R1)."""
    model = ScriptedChatModel([tool_call("look", place="here"), tool_call("look", place="there"), "Nothing."])
    history = history_of(ChatClient(model).prompt("Where?").tools(look))
    assert [type(message) for message in history] == [
        UserMessage,
        *[AssistantMessage, ToolResponseMessage] * 2,
        AssistantMessage,
    ]
    assert_replayable(history)
    further = ScriptedChatModel(["Still nothing."])
    ChatClient(further).prompt("And now?").messages(history).call().content()
    assert further.requests[0].messages[:-1] == history


def test_a_turn_that_a_limit_or_a_direct_result_ends_has_its_history_too() -> None:
    """What the caller got is its last message (R12, R14)."""
    manager = DefaultToolCallingManager(limits=ToolCallLimits(max_total_tool_calls=1))
    advisor = ToolCallingAdvisor(tool_calling_manager=manager)
    script = [tool_call("look", place="here"), tool_call("look", place="there")]
    limited = by_call(
        ChatClient.builder(ScriptedChatModel(script)).tool_advisor(advisor).build().prompt("?").tools(look)
    )
    direct = by_call(ChatClient(ScriptedChatModel([tool_call("search", place="cellar")])).prompt("?").tools(search))
    for history in (limited, direct):
        assert_replayable(history)
        assert isinstance(history[-1], AssistantMessage)
    assert direct[-1].text == "found it"


@pytest.mark.parametrize("form", Form)
def test_a_tool_knows_its_call_and_what_led_to_it(form: Form) -> None:
    """Its own id, to correlate what it records, and the messages (pydantic-ai, LangGraph, Vercel AI SDK)."""
    seen: dict[str, list[str | None]] = {}

    @tool
    def remember(note: str, context: ToolContext) -> str:
        """Remember a note."""
        assert context.tool_call is not None
        seen[context.tool_call.id] = [message.text for message in context.conversation_history]
        return note

    @tool
    async def recall(context: ToolContext) -> str:
        """Recall."""
        assert context.tool_call is not None
        return context.tool_call.id

    calls = tool_calls(tool_call("remember", call_id="a", note="1"), tool_call("remember", call_id="b", note="2"))
    model = ScriptedChatModel([calls, tool_call("recall", call_id="c"), "Done."])
    form.ask(ChatClient(model).prompt("Remember.").tools(remember, recall))
    assert seen == {"a": ["Remember."], "b": ["Remember."]}
    last = model.requests[-1].messages[-1]
    assert isinstance(last, ToolResponseMessage)
    assert last.responses[0].data == "c"


@pytest.mark.parametrize("form", Form)
def test_a_tool_may_end_the_turn_by_what_it_found(form: Form) -> None:
    """Decided by its result, not for all of its calls (agno, Strands, semantic-kernel, R14)."""
    model = ScriptedChatModel([tool_call("search", place="attic"), tool_call("search", place="cellar")])
    outcome = form.ask(ChatClient(model).prompt("Find it.").tools(search))
    assert (outcome.text, outcome.chat_response.finish_reason) == ("found it", "returnDirect")


@pytest.mark.parametrize("form", Form)
def test_one_direct_result_among_others_goes_to_the_model(form: Form) -> None:
    """The model has asked for all of them (R14)."""
    calls = tool_calls(tool_call("search", place="attic"), tool_call("search", place="cellar"))
    model = ScriptedChatModel([calls, "In the cellar."])
    assert form.ask(ChatClient(model).prompt("Find it.").tools(search)).text == "In the cellar."


def test_a_resuming_request_has_no_words_of_its_own() -> None:
    """They would be lost without a word, so the request is refused (pydantic-ai)."""
    manager = DefaultToolCallingManager(interceptors=(lambda _: Suspend(),))
    model = ScriptedChatModel([tool_call("look", place="here"), "Done."])
    client = ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(tool_calling_manager=manager)).build()
    with pytest.raises(TurnSuspended) as raised:
        client.prompt("?").tools(look).call().content()
    state = raised.value.state
    decisions = {call.id: Deny("Hurry up.") for call in state.pending}
    for spec in (client.prompt("Hurry up."), client.prompt().user("Hurry"), client.prompt().messages(UserMessage("!"))):
        with pytest.raises(UsageError, match="of its own, which no model would read"):
            spec.tools(look).resume(state, decisions).call()
    assert client.prompt().tools(look).resume(state, decisions).call().content() == "Done."
