"""Token usage: summed (UCA), and accumulated over the rounds of a turn (USG)."""

from typing import TYPE_CHECKING

import pytest

from vernal import (
    AssistantMessage,
    ChatClient,
    ChatGenerationMetadata,
    ChatResponse,
    ChatResponseMetadata,
    Generation,
    ToolCall,
    Usage,
    tool,
)
from vernal.testing import ScriptedChatModel, chunks
from vernal.values.turn import Turn
from vernal.values.usage import EMPTY_USAGE

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form

FIRST, SECOND, BOTH = Usage(10, 20, 30), Usage(1, 2, 3), Usage(11, 22, 33)


@pytest.mark.parametrize("nothing", [EMPTY_USAGE, Usage(), Usage(cache_read_tokens=0)])
def test_nothing_added_to_a_usage_gives_that_usage_itself(nothing: Usage) -> None:
    """UCA-01, UCA-02, UCA-04, UCA-05: the very object, with what the provider said."""
    current = Usage(1, 2, native={"raw": 3})
    assert nothing + current is current
    assert current + nothing is current
    assert (nothing + EMPTY_USAGE).is_empty


def test_sums_are_per_count() -> None:
    """UCA-03: prompt, completion, total, cache reads, cache writes and reasoning each by themselves."""
    one = Usage(1, 10, 100, cache_read_tokens=100, cache_write_tokens=5, reasoning_tokens=1)
    two = Usage(2, 20, 200, cache_read_tokens=200, cache_write_tokens=7, reasoning_tokens=2)
    assert one + two == Usage(3, 30, 300, cache_read_tokens=300, cache_write_tokens=12, reasoning_tokens=3)


@pytest.mark.parametrize("count", ["cache_read_tokens", "cache_write_tokens", "reasoning_tokens"])
def test_a_count_that_one_side_knows_is_kept(count: str) -> None:
    """UCA-03: a one-sided count carries over; where neither side tells it, it stays None; 0 is told."""
    known = Usage(1, 1, **{count: 5})
    assert getattr(known + Usage(1, 1), count) == 5
    assert getattr(Usage(1, 1) + known, count) == 5
    assert getattr(Usage(1, 1) + Usage(1, 1), count) is None
    assert getattr(Usage(1, 1) + Usage(1, 1, **{count: 0}), count) == 0


def test_a_sum_has_no_native_usage() -> None:
    """UCA-04: the provider's own object speaks of one request only."""
    assert (Usage(1, 1, native="a") + Usage(1, 1, native="b")).native is None


def test_with_usage_keeps_the_rest() -> None:
    """UCA-06: id, model, rate limit, custom metadata and generations."""
    response = ChatResponse.of("Hi.").copy(metadata=ChatResponseMetadata("id", "model", FIRST, properties={"a": 1}))
    changed = response.with_usage(BOTH, (FIRST, SECOND))
    assert changed.metadata == ChatResponseMetadata("id", "model", BOTH, (FIRST, SECOND), properties={"a": 1})
    assert changed.generations is response.generations


@pytest.mark.parametrize(
    ("usage", "empty"),
    [
        (Usage(), True),
        (Usage(0, 0, 0), True),
        (Usage(total_tokens=1), False),
        (Usage(5, 0, 0), False),
        (Usage(0, 5, 0), False),
    ],
)
def test_a_usage_is_empty_where_nothing_was_told(usage: Usage, empty: bool) -> None:
    """UCA-07, UCA-08, R22: against Spring AI, tokens without a total are not taken for nothing."""
    assert usage.is_empty is empty


def test_the_total_defaults_to_the_sum() -> None:
    """UCA-09: a missing total is prompt and completion together; values are equal by value."""
    assert Usage(1, 2).total_tokens == 3
    assert Usage(1, 2, 0).total_tokens == 0
    assert Usage(1, 2) == Usage(1, 2, 3)
    assert hash(Usage(1, 2)) == hash(Usage(1, 2, 3))
    assert Usage(1, 2) != Usage(1, 2, cache_read_tokens=0)


def test_a_turn_adds_up_its_rounds() -> None:
    """USG-01, USG-02: nothing before any round, then the sum, with the rounds one by one."""
    turn = Turn()
    assert turn.usage.is_empty
    assert turn.round_usages == []
    turn.record_usage(FIRST)
    turn.record_usage(SECOND)
    assert turn.usage == BOTH
    assert turn.round_usages == [FIRST, SECOND]


@tool
def look() -> str:
    """Looks."""
    return "seen"


def answer(usage: Usage, text: str | None = "Done.") -> ChatResponse:
    message = AssistantMessage(text) if text is not None else AssistantMessage(tool_calls=(ToolCall("1", "look"),))
    reason = "stop" if text is not None else "tool_calls"
    return ChatResponse((Generation(message, ChatGenerationMetadata(reason)),), ChatResponseMetadata(usage=usage))


@pytest.mark.parametrize(
    ("first", "second", "total"),
    [(FIRST, SECOND, BOTH), (FIRST, EMPTY_USAGE, FIRST), (EMPTY_USAGE, SECOND, SECOND), (FIRST, Usage(0, 0, 0), FIRST)],
)
def test_the_answer_carries_the_usage_of_all_rounds(form: "Form", first: Usage, second: Usage, total: Usage) -> None:
    """USG-03, USG-05, USG-06: the sum, whichever round did not tell its usage."""
    model = ScriptedChatModel([answer(first, None), answer(second)])
    response = form.ask(ChatClient(model).prompt("Look.").tools(look)).chat_response
    assert response.usage == total
    assert response.text == "Done."


def test_rounds_are_listed(form: "Form") -> None:
    """USG-03, R22: the usages of the rounds, one by one."""
    model = ScriptedChatModel([answer(FIRST, None), answer(SECOND)])
    response = form.ask(ChatClient(model).prompt("Look.").tools(look)).chat_response
    assert response.metadata.round_usages == (FIRST, SECOND)


def test_the_answer_of_one_round_is_the_models_own(call_form: "Form") -> None:
    """USG-04, USG-07, UCA-04: where nothing is to be added the response is not made anew."""
    whole = answer(Usage(1, 2, native="raw"))
    assert call_form.ask(ChatClient(ScriptedChatModel([whole])).prompt("Look.")).chat_response is whole


def test_chunks_of_a_first_round_are_the_models_own(stream_form: "Form") -> None:
    """USG-04: nothing accumulated, so each chunk goes out as it came."""
    whole = answer(FIRST)
    [chunk] = stream_form.ask(ChatClient(ScriptedChatModel([whole])).prompt("Look.")).chunks
    assert chunk.chat_response is whole


def test_earlier_rounds_are_added_to_each_chunk_that_tells_its_usage(stream_form: "Form") -> None:
    """USG-05, USG-06, USG-07: (1, 2, 3) becomes (11, 22, 33), a chunk without usage stays itself, nothing follows."""
    plain, counted = answer(EMPTY_USAGE, "Do"), answer(SECOND, "ne.")
    model = ScriptedChatModel([answer(FIRST, None), chunks(plain, counted)])
    outcome = stream_form.ask(ChatClient(model).prompt("Look.").tools(look))
    responses = [chunk.chat_response for chunk in outcome.chunks if chunk.text]
    assert responses[0] is plain
    assert responses[1] is not None
    assert responses[1].usage == BOTH
    assert outcome.chunks[-1].chat_response is responses[1]


def test_usage_that_no_chunk_has_told_goes_out_at_the_end(stream_form: "Form") -> None:
    """USG-06: the final round has none, so one response without generations carries the sum."""
    model = ScriptedChatModel([answer(FIRST, None), answer(EMPTY_USAGE)])
    outcome = stream_form.ask(ChatClient(model).prompt("Look.").tools(look))
    last = outcome.chunks[-1].chat_response
    assert last is not None
    assert last.generations == ()
    assert last.usage == FIRST
    assert sum(not chunk.chat_response.usage.is_empty for chunk in outcome.chunks if chunk.chat_response) == 1


def test_where_no_usage_is_told_none_is_made_up(stream_form: "Form") -> None:
    """USG-06: nothing accumulated, no further chunk."""
    model = ScriptedChatModel([answer(EMPTY_USAGE, None), answer(EMPTY_USAGE)])
    outcome = stream_form.ask(ChatClient(model).prompt("Look.").tools(look))
    assert outcome.chunks[-1].text == "Done."
    assert outcome.chat_response.usage.is_empty
