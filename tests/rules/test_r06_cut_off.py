"""R6: a call that was cut off is not executed, and the caller sees why the turn ended."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import ALL_FORMS, ARGUMENTS, IDS, play

from vernal import (
    AssistantMessage,
    ChatGenerationMetadata,
    ChatResponse,
    Generation,
    ToolCall,
)
from vernal.testing import chunks
from vernal.values.replay import WITHHELD_TOOL_CALLS

CALLS = st.lists(
    st.builds(ToolCall, IDS, st.sampled_from(["note", "save", "direct"]), ARGUMENTS), min_size=1, max_size=2
)


def piece(text: str | None, calls: list[ToolCall], reason: str | None) -> ChatResponse:
    """A chunk, or a whole answer."""
    return ChatResponse([Generation(AssistantMessage(text, calls), ChatGenerationMetadata(reason))])


@pytest.mark.parametrize("reason", ["length", "content_filter"])
@given(calls=CALLS, early=CALLS, after=st.sampled_from([None, "stop", "tool_calls"]), split=st.booleans())
def test_no_call_of_an_answer_that_was_cut_off_runs(
    reason: str, calls: list[ToolCall], early: list[ToolCall], after: str | None, split: bool
) -> None:
    """R6: neither those in the chunk with the reason nor those before it, whatever reason comes later; the finish
    reason is told, and the calls are found beside it."""
    parts = [piece("Let me ", early, None), piece("look", calls, reason), piece(None, [], after)]
    script: list[Any] = [chunks(*parts) if split else piece("Let me look", [*early, *calls], reason)]
    for form in ALL_FORMS:
        played = play(form, script)
        assert played.toolbox.runs == []
        assert len(played.requests) == 1
        assert played.outcome is not None
        assert played.outcome.text == "Let me look"
        [generation] = played.outcome.chat_response.generations
        assert generation.finish_reason == reason
        assert generation.output.tool_calls == ()
        assert generation.metadata.properties[WITHHELD_TOOL_CALLS]
