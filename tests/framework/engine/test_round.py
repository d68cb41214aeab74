"""How the calls of one round run: together, bounded, apart from each other (R9, R12, R13, R16)."""

import asyncio
import contextvars
import logging
import threading
from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    ChatClient,
    ChatResponse,
    DefaultToolCallingManager,
    DefaultToolExecutionExceptionProcessor,
    FunctionToolCallback,
    Media,
    Prompt,
    ToolCall,
    ToolCallback,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
    ToolContext,
    ToolDefinition,
    ToolExecutionException,
    ToolExecutionExceptionProcessor,
    ToolExecutionResult,
    ToolMetadata,
    ToolResponse,
    ToolResponseMessage,
    ToolResult,
)
from vernal.testing import ScriptedChatModel, assert_replayable, tool_call, tool_calls

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Execute, Form

Seen: contextvars.ContextVar[str] = contextvars.ContextVar("seen", default="unset")


def prompt(*tools: ToolCallback) -> Prompt:
    return Prompt("Go on.", ToolCallingChatOptions(tool_callbacks=tools))


def asking(*names: str) -> ChatResponse:
    return ChatResponse.of(tool_calls=[ToolCall(str(index), name) for index, name in enumerate(names)])


def answers(result: ToolExecutionResult) -> list[tuple[str, bool]]:
    assert_replayable(result.conversation_history)
    message = result.conversation_history[-1]
    assert isinstance(message, ToolResponseMessage)
    return [(response.data, response.is_error) for response in message.responses]


def says(name: str) -> ToolCallback:
    async def say() -> str:
        return f"{name}."

    return FunctionToolCallback(say, name=name)


def fails(error: BaseException, name: str = "fails") -> ToolCallback:
    async def fail() -> str:
        raise error

    return FunctionToolCallback(fail, name=name)


@pytest.mark.parametrize("blocking", [True, False], ids=["threads", "tasks"])
def test_the_calls_of_a_round_run_at_once(execute: "Execute", blocking: bool) -> None:
    """TCM-34, R16: against Spring AI they wait for each other's sake only; results are in call order all the same."""
    both, started = threading.Barrier(2), {"a": asyncio.Event(), "b": asyncio.Event()}

    def wait(name: str) -> ToolCallback:
        def run() -> str:
            both.wait(timeout=20)
            return name

        async def arun() -> str:
            started[name].set()
            for event in started.values():
                await event.wait()
            return name

        return FunctionToolCallback(run if blocking else arun, name=name)

    result = execute(DefaultToolCallingManager(), prompt(wait("a"), wait("b")), asking("b", "a"))
    assert answers(result) == [("b", False), ("a", False)]


class Gauge:
    """Counts how many calls run at the same time."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.order: list[str] = []

    def tool(self, name: str, **metadata: Any) -> ToolCallback:
        async def run() -> str:
            self.now += 1
            self.most = max(self.most, self.now)
            self.order.append(name)
            for _ in range(5):
                await asyncio.sleep(0)
            self.order.append(f"/{name}")
            self.now -= 1
            return name

        return FunctionToolCallback(run, name=name, metadata=ToolMetadata(**metadata))


@pytest.mark.parametrize(("bound", "most"), [(1, 1), (2, 2), (8, 5)])
def test_at_most_so_many_calls_run_at_once(execute: "Execute", bound: int, most: int) -> None:
    """R16: `max_parallel_calls` bounds the calls of a round; all are run and answered in call order."""
    gauge, names = Gauge(), ["a", "b", "c", "d", "e"]
    manager = DefaultToolCallingManager(max_parallel_calls=bound)
    result = execute(manager, prompt(*map(gauge.tool, names)), asking(*names))
    assert answers(result) == [(name, False) for name in names]
    assert gauge.most == most


def test_a_tool_can_demand_to_run_alone(execute: "Execute") -> None:
    """R16: an exclusive call waits for those before it, and those after it wait for it."""
    gauge = Gauge()
    tools = [gauge.tool("a"), gauge.tool("b"), gauge.tool("alone", exclusive=True), gauge.tool("c"), gauge.tool("d")]
    result = execute(DefaultToolCallingManager(), prompt(*tools), asking("a", "b", "alone", "c", "d"))
    assert [data for data, _ in answers(result)] == ["a", "b", "alone", "c", "d"]
    assert gauge.order == ["a", "b", "/a", "/b", "alone", "/alone", "c", "d", "/c", "/d"]


def test_context_variables_reach_tools_and_do_not_leak(execute: "Execute") -> None:
    """R16: what is set around the turn is seen by blocking and asynchronous tools; what a tool sets, by none else."""
    found: list[str] = []

    def blocking() -> str:
        found.append(Seen.get())
        Seen.set("blocking")
        return "b"

    async def asynchronous() -> str:
        found.append(Seen.get())
        Seen.set("asynchronous")
        await asyncio.sleep(0)
        return Seen.get()

    tools = [FunctionToolCallback(blocking), FunctionToolCallback(asynchronous)]
    token = Seen.set("outside")
    try:
        manager = DefaultToolCallingManager(max_parallel_calls=1)
        names = ["blocking", "asynchronous", "blocking", "asynchronous"]
        result = execute(manager, prompt(*tools), asking(*names))
        assert Seen.get() == "outside"
    finally:
        Seen.reset(token)
    assert found == ["outside"] * 4
    assert [data for data, _ in answers(result)] == ["b", "asynchronous", "b", "asynchronous"]


def test_one_failing_call_costs_its_siblings_nothing(execute: "Execute") -> None:
    """R9, R13, TCM-35, R7: a failed, an unknown and a malformed call are answered in place, marked as errors."""

    def needs(city: str) -> str:
        return city

    result = execute(
        DefaultToolCallingManager(),
        prompt(says("a"), fails(ValueError("broken")), FunctionToolCallback(needs), says("b")),
        asking("a", "fails", "ghost", "needs", "b"),
    )
    (a, broken, unknown, missing, b) = answers(result)
    assert (a, b) == (("a.", False), ("b.", False))
    assert broken == ("broken", True)
    assert unknown == ("There is no tool 'ghost'. Available tools: a, fails, needs, b.", True)
    assert "city: missing" in missing[0]
    assert missing[1]


def test_an_empty_message_never_becomes_an_empty_answer(execute: "Execute") -> None:
    """R11: neither of the tool nor of a careless processor."""

    class Silent(ToolExecutionExceptionProcessor):
        def process(self, exception: ToolExecutionException) -> str:
            return ""

    given = prompt(fails(ValueError("  ")))
    [(text, _)] = answers(execute(DefaultToolCallingManager(), given, asking("fails")))
    assert text == "Exception occurred in tool: fails (ValueError)"
    silent = DefaultToolCallingManager(tool_execution_exception_processor=Silent())
    assert answers(execute(silent, given, asking("fails"))) == [("The tool fails failed.", True)]


def test_a_processor_may_be_asynchronous(execute: "Execute") -> None:
    """R11: its text is awaited, and an exception from it is raised."""

    class Own(ToolExecutionExceptionProcessor):
        async def process(self, exception: ToolExecutionException) -> str:
            await asyncio.sleep(0)
            if isinstance(exception.__cause__, OSError):
                raise LookupError("escalated") from exception
            return f"Sorry: {exception}"

    manager = DefaultToolCallingManager(tool_execution_exception_processor=Own())
    assert answers(execute(manager, prompt(fails(ValueError("no"))), asking("fails"))) == [("Sorry: no", True)]
    with pytest.raises(LookupError, match="escalated"):
        execute(manager, prompt(fails(OSError("no"))), asking("fails"))


def test_what_is_raised_carries_what_had_run(execute: "Execute") -> None:
    """R12, R1: the siblings end first; the exception has the history with all answers, its own in place."""
    started = asyncio.Event()

    async def slow() -> str:
        started.set()
        for _ in range(5):
            await asyncio.sleep(0)
        return "slow"

    processor = DefaultToolExecutionExceptionProcessor(rethrow_exceptions=[OSError], always_throw=True)
    manager = DefaultToolCallingManager(tool_execution_exception_processor=processor)
    tools = prompt(FunctionToolCallback(slow), fails(OSError("disk full")), fails(ValueError("later"), "late"))
    with pytest.raises(OSError, match="disk full") as caught:
        execute(manager, tools, asking("slow", "fails", "late"))
    partial = caught.value.partial_result  # type: ignore[attr-defined]  # it is set by the manager
    assert answers(partial) == [("slow", False), ("disk full", True), ("later", True)]
    with pytest.raises(ToolExecutionException) as thrown:
        execute(manager, tools, asking("slow", "late"))
    assert answers(thrown.value.partial_result) == [("slow", False), ("later", True)]


def test_an_exception_that_takes_no_attributes_says_so(execute: "Execute") -> None:
    """R12: nothing is forgotten silently."""

    class Slotted(Exception):
        __slots__ = ()

        def __setattr__(self, name: str, value: object) -> None:
            if name == "partial_result":
                raise AttributeError(name)
            super().__setattr__(name, value)

    processor = DefaultToolExecutionExceptionProcessor(rethrow_exceptions=[Slotted])
    manager = DefaultToolCallingManager(tool_execution_exception_processor=processor)
    with pytest.raises(Slotted) as caught:
        execute(manager, prompt(fails(Slotted())), asking("fails"))
    assert caught.value.__notes__ == ["What had run before is lost: this exception type takes no attributes."]


def test_results_may_say_that_they_are_errors_and_carry_media(execute: "Execute") -> None:
    """R13, R15: a ToolResult of a bare callback keeps its flag and its media."""
    image = Media("image/png", b"1")

    class Camera(ToolCallback):
        @property
        def definition(self) -> ToolDefinition:
            return ToolDefinition("camera", "Looks.", {"type": "object"})

        def call(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
            return ToolResult("blurred", media=[image], is_error=True)

    result = execute(DefaultToolCallingManager(), prompt(Camera()), asking("camera"))
    last = result.conversation_history[-1]
    assert isinstance(last, ToolResponseMessage)
    assert last.responses == (ToolResponse("0", "camera", "blurred", is_error=True, media=(image,)),)
    assert type(last.responses[0].data) is str


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_by_hand_too_a_cut_off_call_is_answered_and_not_run(execute_by_hand: "Execute", reason: str) -> None:
    """R6: what may be incomplete does not run, though its arguments happen to be valid."""
    calls = [ToolCall("0", "a"), ToolCall("1", "ghost")]
    response = ChatResponse.of(tool_calls=calls, finish_reason=reason)
    text = "This tool call was not executed, because the answer was cut off before it was complete."
    assert answers(execute_by_hand(DefaultToolCallingManager(), prompt(says("a")), response)) == [(text, True)] * 2


def hangs(name: str = "hangs", *, timeout: float | None = None) -> ToolCallback:
    async def hang() -> str:
        await asyncio.Event().wait()
        return "never"

    return FunctionToolCallback(hang, name=name, metadata=ToolMetadata(timeout=timeout))


@pytest.mark.parametrize(("own", "general"), [(0.01, None), (None, 0.01), (0.01, 60)])
def test_a_timeout_is_an_error_that_leaves_the_outcome_open(
    execute: "Execute", own: float | None, general: float | None
) -> None:
    """R16: per tool, or for all that have none of their own; siblings are answered as ever."""
    manager = DefaultToolCallingManager(tool_timeout=general)
    result = execute(manager, prompt(hangs(timeout=own), says("a")), asking("hangs", "a"))
    text = "The tool did not finish within 0.01 seconds; whether it took effect is unknown."
    assert answers(result) == [(text, True), ("a.", False)]


def test_a_blocking_tool_is_abandoned_at_its_timeout(execute: "Execute") -> None:
    """R16: its thread goes on, its late result is dropped."""
    release = threading.Event()
    ended = threading.Event()

    def stuck() -> str:
        release.wait(20)
        ended.set()
        return "late"

    tool = FunctionToolCallback(stuck, metadata=ToolMetadata(timeout=0.01))
    [(text, is_error)] = answers(execute(DefaultToolCallingManager(), prompt(tool), asking("stuck")))
    assert is_error
    assert "unknown" in text
    release.set()
    assert ended.wait(20)


def test_a_timeout_error_of_the_tool_itself_is_a_failure(execute: "Execute") -> None:
    """R16, R11: only the engine's own clock leaves the outcome open."""
    manager = DefaultToolCallingManager(tool_timeout=60)
    result = execute(manager, prompt(fails(TimeoutError("the service is slow"))), asking("fails"))
    assert answers(result) == [("the service is slow", True)]


def test_a_tool_that_fails_while_it_is_stopped_has_run_into_its_timeout(execute: "Execute") -> None:
    """R16: an error in its cleaning up does not hide that its outcome is open."""

    async def stubborn() -> str:
        try:
            await asyncio.Event().wait()
        finally:
            raise OSError("could not roll back")

    tool = FunctionToolCallback(stubborn, metadata=ToolMetadata(timeout=0.01))
    [(text, is_error)] = answers(execute(DefaultToolCallingManager(), prompt(tool), asking("stubborn")))
    assert is_error
    assert "unknown" in text


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), asyncio.CancelledError()])
def test_what_is_no_exception_always_propagates(form: "Form", error: BaseException) -> None:
    """R11: cancellation, interrupt and exit are told to no model, whatever the policy; siblings are stopped."""
    stopped: list[bool] = []

    async def sibling() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append(True)
            raise
        return "never"

    async def late() -> str:
        await asyncio.sleep(0)
        raise error

    model = ScriptedChatModel([tool_calls(tool_call("sibling"), tool_call("late")), "Never."])
    with pytest.raises(type(error)):
        form.ask(ChatClient(model).prompt("Go on.").tools(sibling, late))
    assert stopped == [True]
    assert len(model.requests) == 1


class Terse(ToolExecutionExceptionProcessor):
    def process(self, exception: ToolExecutionException) -> str:
        return "It failed."


@pytest.mark.parametrize("processor", [DefaultToolExecutionExceptionProcessor(error_text="type"), Terse()])
def test_a_failure_is_logged_with_its_traceback(
    execute: "Execute", processor: ToolExecutionExceptionProcessor, caplog: pytest.LogCaptureFixture
) -> None:
    """R11: the developer finds the original, whatever the model is told, and by whose processor."""
    error = OSError("secret path")
    manager = DefaultToolCallingManager(tool_execution_exception_processor=processor)
    with caplog.at_level(logging.WARNING, "vernal.tools"):
        execute(manager, prompt(fails(error)), asking("fails"))
    [record] = [record for record in caplog.records if record.name == "vernal.tools"]
    assert record.getMessage() == "tool 'fails' failed: OSError"
    assert record.exc_info is not None
    assert record.exc_info[1] is error


def test_a_failure_that_the_caller_gets_is_not_logged(execute: "Execute", caplog: pytest.LogCaptureFixture) -> None:
    """R11: it would be told twice."""
    processor = DefaultToolExecutionExceptionProcessor(rethrow_exceptions=[OSError])
    manager = DefaultToolCallingManager(tool_execution_exception_processor=processor)
    with caplog.at_level(logging.WARNING, "vernal.tools"), pytest.raises(OSError, match="down"):
        execute(manager, prompt(fails(OSError("down"))), asking("fails"))
    assert caplog.records == []


def test_a_tool_that_takes_too_long_is_logged(execute: "Execute", caplog: pytest.LogCaptureFixture) -> None:
    """Its name and its time stand in the log: else nobody but the model would know."""

    async def never() -> str:
        await asyncio.Event().wait()
        return "late"

    manager = DefaultToolCallingManager(tool_timeout=0.01)
    with caplog.at_level(logging.WARNING, "vernal.tools"):
        execute(manager, prompt(FunctionToolCallback(never, name="never")), asking("never"))
    [record] = caplog.records
    assert "tool 'never' failed: The tool did not finish within 0.01 seconds" in record.getMessage()


def test_the_answer_of_the_loop_says_which_calls_failed(form: "Form") -> None:
    """R9, R13: what goes back to the model has the flag of each response."""
    model = ScriptedChatModel([tool_calls(tool_call("a"), tool_call("fails")), "Done."])
    client = ChatClient.builder(model).tool_advisor(ToolCallingAdvisor()).build()
    form.ask(client.prompt("Go on.").tools(says("a"), fails(ValueError("no"))))
    last = model.requests[-1].messages[-1]
    assert isinstance(last, ToolResponseMessage)
    assert [(r.data, r.is_error) for r in last.responses] == [("a.", False), ("no", True)]
