"""R14: return-direct applies only to success; several direct results all reach the caller."""

from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import ALL_FORMS

from vernal import ChatClient, FunctionToolCallback, ToolMetadata, ToolResponseMessage, ToolResult
from vernal.testing import ScriptedChatModel, tool_call, tool_calls
from vernal.tools.execution import TOOL_ID, TOOL_NAME

DIRECT = ToolMetadata(return_direct=True)
KINDS = st.lists(st.sampled_from(["direct", "direct", "fine", "broken", "told", "ghost"]), min_size=1, max_size=4)


def tools() -> list[FunctionToolCallback]:
    """Direct ones, of which some fail, and one that is not."""

    def direct(n: int) -> str:
        return f"direct {n}"

    def broken(n: int) -> str:
        raise ValueError("broken")

    def told(n: int) -> ToolResult:
        return ToolResult("no", is_error=True)

    def fine(n: int) -> str:
        return "fine"

    return [*(FunctionToolCallback(f, metadata=DIRECT) for f in (direct, broken, told)), FunctionToolCallback(fine)]


@given(kinds=KINDS, text=st.sampled_from([None, "Let me see. "]))
def test_a_round_is_direct_where_every_call_is_and_succeeds(kinds: list[str], text: str | None) -> None:
    """R14: else the model gets every result; the caller never gets both, nor half of them."""
    calls = [tool_call(kind, n=n) for n, kind in enumerate(kinds)]
    for form in ALL_FORMS:
        model = ScriptedChatModel([tool_calls(*calls, text=text), "done"])
        outcome = form.ask(ChatClient(model).prompt("Go on.").tools(*tools()))
        said = text or "" if form.is_stream else ""
        if all(kind == "direct" for kind in kinds):
            assert len(model.requests) == 1
            response = next(
                c.chat_response for c in reversed(outcome.chunks) if c.chat_response and c.chat_response.generations
            )
            assert [(g.output.text, g.finish_reason) for g in response.generations] == [
                (f"direct {n}", "returnDirect") for n in range(len(kinds))
            ]
            found = [(g.metadata.properties[TOOL_ID], g.metadata.properties[TOOL_NAME]) for g in response.generations]
            assert found == [(f"call_{n + 1}", "direct") for n in range(len(kinds))]
            assert outcome.text == said + "direct 0"
            continue
        assert outcome.text == said + "done"
        message = model.requests[-1].messages[-1]
        assert isinstance(message, ToolResponseMessage)
        assert len(message.responses) == len(kinds)
