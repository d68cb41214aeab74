"""R22: usage is exact over rounds, in call and stream alike, with the per-round list at hand."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import ALL_FORMS

from vernal import (
    HIGHEST_PRECEDENCE,
    ChatClient,
    ChatResponse,
    ChatResponseMetadata,
    StructuredOutputValidationAdvisor,
    ToolCall,
    TurnFinished,
    Usage,
)
from vernal.testing import ScriptedChatModel, chunks

COUNTS = st.integers(1, 9)
PARTS = st.none() | st.integers(0, 3)
USAGES = st.builds(Usage, COUNTS, COUNTS, st.none() | st.integers(20, 40), PARTS, PARTS, PARTS)


def look(n: int) -> str:
    """Look."""
    return "seen"


def summed(usages: list[Usage]) -> Usage:
    """The sum, count by count."""
    total = Usage()
    for usage in usages:
        total = total + usage
    return total


def answers(usages: list[Usage], last: str, place: int) -> list[object]:
    """A round for each usage, which is told in the first, a middle or the last chunk."""
    script: list[object] = []
    for n, usage in enumerate(usages):
        calls = [ToolCall(str(n), "look", f'{{"n": {n}}}')] if n < len(usages) - 1 else []
        parts = [ChatResponse.of("..."), ChatResponse.of(None if calls else last, tool_calls=calls), ChatResponse()]
        told = ChatResponseMetadata(usage=usage)
        parts[place] = parts[place].copy(metadata=told)
        script.append(chunks(*parts))
    return script


@given(usages=st.lists(USAGES, min_size=1, max_size=4), place=st.integers(0, 2))
def test_every_token_of_every_round_is_counted_once(usages: list[Usage], place: int) -> None:
    """R22: input, output, total, cached and reasoning tokens, wherever in a stream they are told; events agree."""
    for form in ALL_FORMS:
        model = ScriptedChatModel(answers(usages, "done", place))
        metadata = form.ask(ChatClient(model).prompt("Go on.").tools(look)).chat_response.metadata
        assert metadata.usage == summed(usages)
        if len(usages) > 1:
            assert list(metadata.round_usages) == usages
    model = ScriptedChatModel(answers(usages, "done", place))
    *_, end = ChatClient(model).prompt("Go on.").tools(look).stream().events()
    assert isinstance(end, TurnFinished)
    assert end.response.metadata.usage == summed(usages)


@given(usages=st.lists(USAGES, min_size=1, max_size=3), wrong=st.integers(0, 2), inside=st.booleans())
def test_attempts_that_were_made_again_are_counted_too(usages: list[Usage], wrong: int, inside: bool) -> None:
    """R22: an advisor that asks again, inside the loop or outside, hides no round."""
    order: dict[str, Any] = {} if inside else {"advisor_order": HIGHEST_PRECEDENCE + 100}
    advisor = StructuredOutputValidationAdvisor(output_type=int, **order)
    script = [answer for n in range(wrong + 1) for answer in answers(usages, "5" if n == wrong else "five", 1)]
    if inside:  # only the last request of the turn is made again
        script = [*answers(usages, "five" if wrong else "5", 1)]
        script += [answers(usages[-1:], "5" if n == wrong else "five", 1)[0] for n in range(1, wrong + 1)]
    for form in ALL_FORMS[:2]:
        model = ScriptedChatModel([_plain(item) for item in script])
        metadata = form.ask(ChatClient(model).prompt("Go on.").tools(look).advisors(advisor)).chat_response.metadata
        repeated = [*usages, *usages[-1:] * wrong] if inside else usages * (wrong + 1)
        assert metadata.usage == summed(repeated)
        if not inside and wrong:
            assert list(metadata.round_usages) == repeated


def _plain(item: object) -> ChatResponse:
    """An answer in chunks as one."""
    parts = item.items  # type: ignore[attr-defined]  # chunks
    return ChatResponse.of(parts[1].text, tool_calls=parts[1].tool_calls).with_usage(parts[1].metadata.usage)
