"""Declared effects decide what runs at the same time, and what may be tried again."""

import asyncio
from collections.abc import Callable

import pytest
from tests.framework.engine.conftest import Form

from vernal import (
    ChatClient,
    DefaultToolCallingManager,
    FunctionToolCallback,
    ToolCall,
    ToolCallback,
    ToolCallingAdvisor,
    ToolEffects,
    ToolFailure,
    ToolMetadata,
    ToolResponseMessage,
    tool,
)
from vernal.testing import ScriptedChatModel, tool_call, tool_calls

READS = ToolMetadata(effects=ToolEffects.READ, max_attempts=2)


class Recorder:
    """Tools that note when they begin and end."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    def tool(self, name: str, effects: ToolEffects) -> ToolCallback:
        async def run() -> str:
            self.noted.append(f"{name} begins")
            for _ in range(5):
                await asyncio.sleep(0)
            self.noted.append(f"{name} ends")
            return name

        return FunctionToolCallback(run, name=name, metadata=ToolMetadata(effects=effects))


@pytest.mark.parametrize("effects", [ToolEffects.WRITE, ToolEffects.DESTRUCTIVE])
def test_what_changes_something_runs_alone_and_in_order(form: Form, effects: ToolEffects) -> None:
    """Calls that write wait for those before them, and those after them wait; calls that read run together."""
    recorder = Recorder()
    names = ["a", "b", "write1", "write2", "c"]
    tools = [recorder.tool(n, effects if n.startswith("write") else ToolEffects.READ) for n in names]
    model = ScriptedChatModel([tool_calls(*map(tool_call, names)), "Done."])
    form.ask(ChatClient(model).prompt("Go.").tools(*tools))
    assert recorder.noted == [
        *("a begins", "b begins", "a ends", "b ends"),
        *("write1 begins", "write1 ends", "write2 begins", "write2 ends"),
        *("c begins", "c ends"),
    ]


class Flaky:
    """Fails so many times, then answers."""

    def __init__(self, failures: int, error: Callable[[], Exception] = lambda: ConnectionError("lost")) -> None:
        self.left, self.calls, self.error = failures, 0, error

    def look_up(self, key: str = "k") -> str:
        """Look something up."""
        self.calls += 1
        if self.left:
            self.left -= 1
            raise self.error()
        return f"found {key}"


def response_of(model: ScriptedChatModel) -> tuple[str, bool]:
    """What the model was told of the only call."""
    message = model.requests[-1].messages[-1]
    assert isinstance(message, ToolResponseMessage)
    [response] = message.responses
    return response.data, response.is_error


@pytest.mark.parametrize(
    "options", [{"effects": "read"}, {"idempotent": True}, {"effects": "write", "idempotent": True}]
)
def test_a_failing_call_is_tried_again_where_that_does_no_harm(
    form: Form, options: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `max_attempts` a tool that reads, or is idempotent, may fail; the model sees one answer."""
    monkeypatch.setattr("vernal.tools.retry.FIRST_DELAY", 0)
    flaky = Flaky(2)
    callback = FunctionToolCallback(flaky.look_up, metadata=ToolMetadata(max_attempts=3, **options))  # type: ignore[arg-type]  # the options of one case
    model = ScriptedChatModel([tool_call("look_up"), "Done."])
    form.ask(ChatClient(model).prompt("Go.").tools(callback))
    assert response_of(model) == ("found k", False)
    assert flaky.calls == 3


def test_the_last_failure_is_told(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    """When all attempts fail, the model is told as if there had been one."""
    monkeypatch.setattr("vernal.tools.retry.FIRST_DELAY", 0)
    flaky = Flaky(9)
    callback = FunctionToolCallback(flaky.look_up, metadata=READS)
    model = ScriptedChatModel([tool_call("look_up"), "Done."])
    form.ask(ChatClient(model).prompt("Go.").tools(callback))
    assert response_of(model) == ("lost", True)
    assert flaky.calls == 2


@pytest.mark.parametrize("arguments", ["{}", '{"key": ["no", "text"]}'])
def test_what_does_not_heal_is_not_tried_again(form: Form, arguments: str) -> None:
    """Wrong arguments stay wrong, and a tool that says why it cannot has said it."""
    flaky = Flaky(9, lambda: ToolFailure("There is no such thing."))
    callback = FunctionToolCallback(flaky.look_up, metadata=READS)
    model = ScriptedChatModel([ToolCall("id", "look_up", arguments), "Done."])
    form.ask(ChatClient(model).prompt("Go.").tools(callback))
    assert response_of(model)[1]
    assert flaky.calls == (1 if arguments == "{}" else 0)


def test_a_timeout_is_tried_again(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that reads and did not finish in time is tried again; each attempt has its own time."""
    monkeypatch.setattr("vernal.tools.retry.FIRST_DELAY", 0)
    calls = []

    async def slow() -> str:
        calls.append(1)
        if len(calls) == 1:
            await asyncio.Event().wait()
        return "in time"

    callback = FunctionToolCallback(slow, metadata=READS)
    advisor = ToolCallingAdvisor(tool_calling_manager=DefaultToolCallingManager(tool_timeout=0.05))
    model = ScriptedChatModel([tool_call("slow"), "Done."])
    form.ask(ChatClient.builder(model).tool_advisor(advisor).build().prompt("Go.").tools(callback))
    assert response_of(model) == ("in time", False)


@pytest.mark.parametrize("options", [{}, {"effects": "write"}, {"effects": "destructive"}])
def test_attempts_of_what_must_not_be_repeated_are_refused(options: dict[str, str]) -> None:
    """A tool that may have taken effect is never tried again: asking for it is an error when the tool is made."""
    with pytest.raises(ValueError, match="declare effects='read' or idempotent=True"):
        ToolMetadata(max_attempts=2, **options)  # type: ignore[arg-type]  # the options of one case
    with pytest.raises(ValueError, match="max_attempts is 2"):
        tool(max_attempts=2, **options)  # type: ignore[call-overload]  # the options of one case
    with pytest.raises(ValueError, match="max_attempts is 0"):
        ToolMetadata(max_attempts=0)
