"""R13: a tool response says whether it is an error, wherever it is read."""

from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import ALL_FORMS

from vernal import (
    ChatClient,
    DefaultToolCallingManager,
    Deny,
    ToolCallFinished,
    ToolCallingAdvisor,
    ToolResponseMessage,
    ToolResult,
)
from vernal.testing import ScriptedChatModel, tool_call, tool_calls

KINDS = st.lists(st.sampled_from(["good", "says_so", "fails", "ghost", "denied"]), min_size=1, max_size=5)


def good(n: int) -> str:
    """Good."""
    return "error: not at all"


def says_so(n: int) -> ToolResult:
    """Tells of an error as its result."""
    return ToolResult("no such thing", is_error=True)


def fails(n: int) -> str:
    """Fails."""
    raise ValueError("fails")


def denied(n: int) -> str:
    """Not allowed."""
    return "never"


@given(kinds=KINDS)
def test_history_and_events_tell_errors_apart(kinds: list[str]) -> None:
    """R13: failed, refused, denied and unknown calls, and results that say so; nothing else; events agree."""
    expected = [kind != "good" for kind in kinds]
    calls = [tool_call(kind, n=n) for n, kind in enumerate(kinds)]
    manager = DefaultToolCallingManager(interceptors=[lambda r: Deny() if r.call.name == "denied" else None])
    advisor = ToolCallingAdvisor(tool_calling_manager=manager)
    for form in ALL_FORMS:
        model = ScriptedChatModel([tool_calls(*calls), "done"])
        client = ChatClient.builder(model).tool_advisor(advisor).build()
        form.ask(client.prompt("Go on.").tools(good, says_so, fails, denied))
        message = model.requests[-1].messages[-1]
        assert isinstance(message, ToolResponseMessage)
        assert [response.is_error for response in message.responses] == expected
    model = ScriptedChatModel([tool_calls(*calls), "done"])
    client = ChatClient.builder(model).tool_advisor(advisor).build()
    events = client.prompt("Go on.").tools(good, says_so, fails, denied).stream().events()
    told = {e.call_id: e.response.is_error for e in events if isinstance(e, ToolCallFinished)}
    assert [told[f"call_{n + 1}"] for n in range(len(kinds))] == expected
