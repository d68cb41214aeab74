"""Rounds of nothing but blocking tools, which share one wait for their threads."""

import asyncio
import threading
from collections.abc import Awaitable, Iterator
from contextvars import ContextVar
from typing import Any

import pytest

from vernal import (
    ChatClient,
    DefaultToolCallingManager,
    FunctionToolCallback,
    ToolCallback,
    ToolCallingAdvisor,
    ToolContext,
    tool,
    tool_callbacks,
)
from vernal.testing import ScriptedChatModel, tool_call, tool_calls

CURRENT: ContextVar[str] = ContextVar("current", default="nobody")


def results(*tools: Any, **manager: Any) -> list[str]:
    """What the model is told where it calls each of the tools once."""
    callbacks = tool_callbacks(*tools)
    asked = tool_calls(*(tool_call(callback.definition.name) for callback in callbacks))
    model = ScriptedChatModel([asked, "Done."])
    advisor = ToolCallingAdvisor(tool_calling_manager=DefaultToolCallingManager(**manager))
    client = ChatClient.builder(model).tool_advisor(advisor).build()
    assert client.prompt("?").tools(*callbacks).call().content() == "Done."
    return [response.data for response in model.requests[-1].messages[-1].responses]  # type: ignore[attr-defined]


def test_they_run_at_the_same_time() -> None:
    """R16: each waits for the other, so one after the other would never end."""
    barrier = threading.Barrier(3, timeout=10)

    def meet(name: str) -> ToolCallback:
        return FunctionToolCallback(lambda: f"{name} {barrier.wait() >= 0}", name=name, description="Meets.")

    assert results(*(meet(name) for name in "abc")) == ["a True", "b True", "c True"]


def test_one_that_fails_costs_the_others_nothing() -> None:
    """R9: results come in the order of the calls, whoever is done first, and a failure is one of them."""

    @tool
    def broken() -> str:
        """Fails."""
        raise ValueError("out of order")

    @tool
    def whole() -> int:
        """Works."""
        return 7

    assert results(broken, whole) == ["out of order", "7"]


def test_what_is_left_to_await_is_awaited_on_the_loop() -> None:
    """A plain function may give an awaitable or an iterator; both end in the text of what they give."""

    @tool
    def later() -> Awaitable[str]:
        """Gives a coroutine."""

        async def there() -> str:
            await asyncio.sleep(0)
            return "later"

        return there()

    @tool
    def several() -> Iterator[int]:
        """Gives numbers."""
        yield from (1, 2)

    assert results(later, several) == ["later", "[1,2]"]


def test_a_tool_with_a_call_of_its_own_is_not_passed_by() -> None:
    """A subclass that has an `acall`, or a `call`, is called by it."""

    class Loud(FunctionToolCallback):
        async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
            return (await super().acall(tool_input, tool_context)).upper()

    class Plain(FunctionToolCallback):
        def call(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
            return "plain"

    def say() -> str:
        return "hello"

    tools = (cls(say, name=cls.__name__, description="Says.") for cls in (Loud, Plain))
    assert results(*tools) == ["HELLO", "plain"]


def test_a_failure_that_may_heal_is_tried_again() -> None:
    """The first attempt is that of the round, the others follow by themselves."""
    failures = ["busy", "busy"]

    @tool(effects="read", max_attempts=3)
    def rate() -> str:
        """The rate."""
        if failures:
            raise ConnectionError(failures.pop())
        return "1.08"

    @tool(effects="read")
    def other() -> str:
        """Another."""
        return "x"

    assert results(rate, other) == ["1.08", "x"]


def test_context_variables_are_those_of_the_caller_and_do_not_leak() -> None:
    """Each thread has a copy: what a tool sets, its sibling and the turn do not see."""

    @tool
    def set_it() -> str:
        """Sets the variable."""
        before = CURRENT.get()
        CURRENT.set("tool")
        return before

    token = CURRENT.set("caller")
    try:
        assert results(set_it, FunctionToolCallback(lambda: CURRENT.get(), name="get", description="Gets.")) == [
            "caller",
            "caller",
        ]
        assert CURRENT.get() == "caller"
    finally:
        CURRENT.reset(token)


def test_more_calls_than_may_run_together_are_bounded() -> None:
    """The manager's bound holds (R16)."""
    running, most = 0, 0
    lock = threading.Lock()

    def work(name: str) -> ToolCallback:
        def run() -> str:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            with lock:
                running -= 1
            return name

        return FunctionToolCallback(run, name=name, description="Works.")

    assert results(*map(work, "abcdef"), max_parallel_calls=2) == list("abcdef")
    assert most <= 2


def test_what_is_no_exception_ends_the_turn_at_once() -> None:
    """R11: an exit asked for in a tool goes through."""

    @tool
    def leave() -> str:
        """Leaves."""
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        results(leave, tool_callbacks(_idle)[0])


@tool
def _idle() -> str:
    """Does nothing."""
    return "idle"
