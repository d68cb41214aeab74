"""R10: no call runs again and again, and nothing that changes the world runs twice."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import ALL_FORMS, TOOLS, Setting, play

from vernal import (
    ChatClient,
    ChatResponse,
    DefaultToolCallingManager,
    ToolCall,
    ToolCallingAdvisor,
    ToolCallLimits,
    Usage,
    UsageError,
)
from vernal.testing import Form, ScriptedChatModel, tool_call

SOME = Usage(1, 1)
CALLS = st.lists(st.tuples(st.sampled_from([*TOOLS, "save", "save"]), st.integers(0, 1)), min_size=1, max_size=3)


def script_of(rounds: list[list[tuple[str, int]]], spellings: list[str]) -> list[ChatResponse]:
    """Rounds of calls, whose arguments are spelt differently and mean the same."""
    return [
        ChatResponse.of(
            tool_calls=[
                ToolCall(f"{r}-{c}", name, spellings[(r + c) % len(spellings)] % n) for c, (name, n) in enumerate(calls)
            ]
        )
        for r, calls in enumerate(rounds)
    ]


@given(rounds=st.lists(CALLS, min_size=1, max_size=5), window=st.integers(1, 30), memory=st.sampled_from([None, 400]))
def test_what_changes_the_world_runs_once_however_it_is_asked_for(
    rounds: list[list[tuple[str, int]]], window: int, memory: int | None
) -> None:
    """R10: across rounds and trimmed histories, with the arguments spelt in any way; others run twice in a row."""
    script = script_of(rounds, ['{"n": %d}', '{ "n":%d }', '```json\n{"n": %d}\n```'])
    for form in ALL_FORMS:
        played = play(form, script, Setting(memory=memory, window=window))
        saves = [n for name, n in played.toolbox.runs if name == "save"]
        assert len(saves) == len(set(saves))
        asked = [call for calls in rounds for call in calls]
        if all(call == asked[0] for call in asked) and asked[0][0] not in ("save", "nest", "direct"):
            assert len(played.toolbox.runs) == min(len(asked), 2)


def test_a_turn_that_has_failed_is_not_run_again_by_another_terminal() -> None:
    """R10: its tools would run twice; a new turn is made by `call()`, as the error says."""
    ran: list[int] = []

    def pay(n: int) -> str:
        """Pay."""
        ran.append(n)
        return "paid"

    def spec() -> Any:
        model = ScriptedChatModel([tool_call("pay", n=1), OSError("down"), tool_call("pay", n=1), "done"])
        return ChatClient(model).prompt("Go on.").tools(pay)

    turn = spec().call()
    with pytest.raises(OSError, match="down"):
        turn.content()
    for terminal in (turn.content, turn.chat_response, lambda: turn.entity(str)):
        with pytest.raises(UsageError, match=r"its tools would run twice.*\.call\(\)"):
            terminal()

    async def main() -> None:
        later = spec().acall()
        with pytest.raises(OSError, match="down"):
            await later.entity(int)
        with pytest.raises(UsageError, match="its tools would run twice"):
            await later.content()

    asyncio.run(main())
    assert ran == [1, 1]


@pytest.mark.parametrize("limits", [{"max_total_tool_calls": 3}, {"max_tokens": 1}])
def test_a_model_that_was_told_to_stop_and_goes_on_ends_the_turn(form: Form, limits: dict[str, int]) -> None:
    """R10: told that no further call is allowed, it has one round to answer in; a turn never goes on for ever."""

    def endless(prompt: Any) -> ChatResponse:
        calls = [ToolCall("", "note", f'{{"n": {len(prompt.messages)}}}')]
        return ChatResponse.of(tool_calls=calls).with_usage(SOME)

    def note(n: int) -> str:
        """Note."""
        return "noted"

    model = ScriptedChatModel([endless] * 50)
    manager = DefaultToolCallingManager(
        limits=ToolCallLimits(on_limit_exceeded="return_error_response", **limits)  # type: ignore[arg-type]  # texts are taken
    )
    client = ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(tool_calling_manager=manager)).build()
    outcome = form.ask(client.prompt("Go on.").tools(note))
    assert outcome.chat_response.finish_reason == "toolCallLimitExceeded"
    assert len(model.requests) <= 6
