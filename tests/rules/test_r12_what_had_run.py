"""R12: where the policy is to raise, the exception carries what had already run."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import ALL_FORMS, Fatal, Setting, play

from vernal import AssistantMessage, ChatResponse, ToolCall, ToolExecutionResult, ToolResponseMessage
from vernal.testing import assert_replayable

KINDS = st.lists(st.sampled_from(["note", "look", "save", "many", "fail"]), max_size=4)


@given(before=KINDS, after=KINDS, parallel=st.integers(1, 3), earlier=st.integers(0, 2))
def test_the_error_carries_every_result_of_the_turn(
    before: list[str], after: list[str], parallel: int, earlier: int
) -> None:
    """R12: a replayable history of all rounds, in which each run has its result, those of its siblings too."""
    kinds = [*before, "fatal", *after]
    rounds = [ChatResponse.of(tool_calls=[ToolCall(f"r{r}", "note", f'{{"n": {90 + r}}}')]) for r in range(earlier)]
    calls = [ToolCall(str(n), kind, f'{{"n": {n}}}') for n, kind in enumerate(kinds)]
    for form in ALL_FORMS:
        played = play(form, [*rounds, ChatResponse.of(tool_calls=calls)], Setting(rethrow=True, parallel=parallel))
        assert isinstance(played.error, Fatal)
        result: Any = played.error.partial_result  # type: ignore[attr-defined]  # set by the manager
        assert isinstance(result, ToolExecutionResult)
        history = result.conversation_history
        assert_replayable(history)
        assert sum(len(m.tool_calls) for m in history if isinstance(m, AssistantMessage)) == earlier + len(kinds)
        last = history[-1]
        assert isinstance(last, ToolResponseMessage)
        assert [r.is_error for r in last.responses] == [kind in ("fail", "fatal") for kind in kinds]
        assert sorted(played.toolbox.runs) == sorted(
            [*(("note", 90 + r) for r in range(earlier)), *((kind, n) for n, kind in enumerate(kinds))]
        )


def test_an_error_that_takes_no_attribute_says_so() -> None:
    """R12: it is raised all the same, with a note."""
    from vernal import ChatClient, DefaultToolCallingManager, DefaultToolExecutionExceptionProcessor, ToolCallingAdvisor
    from vernal.testing import ScriptedChatModel, tool_call

    class Bare(Exception):
        __slots__ = ()

        def __setattr__(self, name: str, value: object) -> None:
            if not name.startswith("__"):
                raise AttributeError(name)
            super().__setattr__(name, value)

    def fail() -> str:
        """Fail."""
        raise Bare("bare")

    manager = DefaultToolCallingManager(
        tool_execution_exception_processor=DefaultToolExecutionExceptionProcessor(rethrow_exceptions=[Bare])
    )
    client = ChatClient.builder(ScriptedChatModel([tool_call("fail")])).tool_advisor(
        ToolCallingAdvisor(tool_calling_manager=manager)
    )
    with pytest.raises(Bare) as caught:
        client.build().prompt("Go on.").tools(fail).call().content()
    assert "is lost" in caught.value.__notes__[0]
