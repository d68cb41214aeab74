"""R16: several calls run at once, bounded; some alone; in time; with the caller's context variables."""

import asyncio
import threading
from contextvars import ContextVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import ALL_FORMS, Setting, play

from vernal import (
    ChatClient,
    ChatResponse,
    DefaultToolCallingManager,
    FunctionToolCallback,
    ToolCall,
    ToolCallingAdvisor,
    ToolCallProgress,
    ToolContext,
    ToolMetadata,
    ToolResponseMessage,
)
from vernal.testing import Form, ScriptedChatModel, tool_call, tool_calls

who: ContextVar[str] = ContextVar("who", default="nobody")


class Gauge:
    """Tools that measure how many of them run at once."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self._guard = threading.Lock()

    def step(self, change: int) -> None:
        """One more, or one less."""
        with self._guard:
            self.now += change
            self.most = max(self.most, self.now)

    async def work(self, n: int) -> str:
        """Some steps of the loop."""
        self.step(1)
        try:
            for _ in range(3):
                await asyncio.sleep(0)
            return "worked"
        finally:
            self.step(-1)


@given(calls=st.integers(1, 9), parallel=st.integers(1, 5))
def test_no_more_run_at_once_than_allowed_and_no_fewer_than_could(calls: int, parallel: int) -> None:
    """R16: the bound is a bound for each round, and is used."""
    for form in ALL_FORMS:
        gauge = Gauge()
        manager = DefaultToolCallingManager(max_parallel_calls=parallel)
        model = ScriptedChatModel([tool_calls(*(tool_call("work", n=n) for n in range(calls))), "done"])
        client = ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(tool_calling_manager=manager)).build()
        form.ask(client.prompt("Go on.").tools(gauge.work))
        assert gauge.most == min(calls, parallel)
        assert gauge.now == 0


@given(kinds=st.lists(st.sampled_from(["look", "many", "alone", "save", "note"]), min_size=1, max_size=7))
def test_what_must_run_alone_does_and_in_its_place(kinds: list[str]) -> None:
    """R16: what stands before it has ended, what stands behind it has not begun (the tool itself asserts that nothing
    runs beside it); what is not alone keeps its side of it."""
    calls = [ToolCall(str(n), kind, f'{{"n": {n}}}') for n, kind in enumerate(kinds)]
    for form in ALL_FORMS:
        played = play(form, [ChatResponse.of(tool_calls=calls)], Setting(parallel=8))
        message = played.requests[-1][-1]
        assert isinstance(message, ToolResponseMessage)
        assert not any(response.is_error for response in message.responses)
        order = [n for _, n in played.toolbox.runs]
        for place, kind in enumerate(kinds):
            if kind in ("alone", "save"):
                assert set(order[: order.index(place)]) == set(range(place))


@pytest.mark.parametrize("blocking", [False, True])
def test_context_variables_reach_every_tool_and_do_not_leak(form: Form, blocking: bool) -> None:
    """R16: what one tool sets its siblings, the next round and the caller do not see."""
    seen: list[tuple[int, str]] = []

    def look(n: int) -> str:
        seen.append((n, who.get()))
        who.set(f"tool {n}")
        return "seen"

    async def alook(n: int) -> str:
        return look(n)

    tool = FunctionToolCallback(look if blocking else alook, name="look", description="Look.")
    rounds = [tool_calls(*(tool_call("look", n=10 * r + n) for n in range(3))) for r in range(2)]
    token = who.set("caller")
    try:
        form.ask(ChatClient(ScriptedChatModel([*rounds, "done"])).prompt("Go on.").tools(tool))
        assert sorted(seen) == [(n, "caller") for n in (0, 1, 2, 10, 11, 12)]
        assert who.get() == "caller"
    finally:
        who.reset(token)


@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_a_tool_that_does_not_finish_is_an_error_of_unknown_outcome(form: Form, blocking: bool, own: bool) -> None:
    """R16: with a timeout of its own or the manager's; its siblings have their results."""
    release = threading.Event()

    def stuck() -> str:
        release.wait(10)
        return "late"

    async def astuck() -> str:
        await asyncio.Future()
        return "never"

    def quick() -> str:
        """Quick."""
        return "quick"

    metadata = ToolMetadata(timeout=0.01 if own else None)
    tool = FunctionToolCallback(stuck if blocking else astuck, name="stuck", description="Stuck.", metadata=metadata)
    model = ScriptedChatModel([tool_calls(tool_call("stuck"), tool_call("quick")), "done"])
    manager = DefaultToolCallingManager(tool_timeout=5 if own else 0.05)
    client = ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(tool_calling_manager=manager)).build()
    try:
        form.ask(client.prompt("Go on.").tools(tool, quick))
    finally:
        release.set()
    message = model.requests[-1].messages[-1]
    assert isinstance(message, ToolResponseMessage)
    late, told = message.responses
    assert late.is_error
    assert "whether it took effect is unknown" in late.data
    assert told.data == "quick"


def test_progress_of_a_call_that_has_been_answered_is_not_told() -> None:
    """R16: an abandoned thread goes on, its reports do not: nothing of a call is told after its end."""
    release, reported = threading.Event(), threading.Event()

    def stuck(context: ToolContext) -> str:
        """Stuck."""
        context.report_progress("early")
        release.wait(10)
        context.report_progress("late")
        reported.set()
        return "late"

    async def waits() -> str:
        """Waits for the other's report."""
        while not reported.is_set():
            release.set()
            await asyncio.sleep(0.001)
        return "waited"

    tools = [
        FunctionToolCallback(stuck, metadata=ToolMetadata(timeout=0.01, exclusive=True)),
        FunctionToolCallback(waits),
    ]
    model = ScriptedChatModel([tool_calls(tool_call("stuck"), tool_call("waits")), "done"])
    events = list(ChatClient(model).prompt("Go on.").tools(*tools).stream().events())
    assert [event.message for event in events if isinstance(event, ToolCallProgress)] == ["early"]
