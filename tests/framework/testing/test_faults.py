"""Faults on purpose: errors, waiting and broken streams where a test says, and cancelling at every suspension."""

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from vernal import (
    ChatClient,
    ChatResponse,
    FinishReason,
    InMemoryChatMemoryRepository,
    Prompt,
    Usage,
    UserMessage,
    tool,
    tool_callbacks,
)
from vernal.http import BrokenStreamError, RateLimitError
from vernal.testing import (
    Fault,
    FaultyChatMemoryRepository,
    FaultyChatModel,
    FaultyToolCallback,
    Form,
    Gate,
    ScriptedChatModel,
    chunks,
    every_cancellation,
    tool_call,
)

PROMPT = Prompt("Hello")
SLOW_DOWN = RateLimitError("slow down", service="test")
BROKEN = BrokenStreamError("cut", service="test")


@pytest.mark.parametrize("form", Form)
def test_a_model_fails_at_the_request_that_is_named(form: Form) -> None:
    """The others are answered, and the one that failed has not reached the model (R19)."""
    model = ScriptedChatModel(["one", "two"])
    faulty = FaultyChatModel(model, Fault(SLOW_DOWN, at=2))
    assert form.ask_model(faulty, PROMPT)[0].text == "one"
    with pytest.raises(RateLimitError):
        form.ask_model(faulty, PROMPT)
    assert len(model.requests) == 1
    assert form.ask_model(faulty, PROMPT)[0].text == "two"


@pytest.mark.parametrize("after", range(5))
def test_a_stream_breaks_after_as_many_chunks_as_are_named(after: int) -> None:
    """What came before is delivered; a stream of fewer chunks breaks at its end (R20)."""
    faulty = FaultyChatModel(ScriptedChatModel([chunks("a", "b", "c")]), Fault(BROKEN, after=after))
    seen: list[str | None] = []

    def read() -> None:
        with faulty.stream(PROMPT) as stream:
            seen.extend(chunk.text for chunk in stream)

    with pytest.raises(BrokenStreamError):
        read()
    assert seen == ["a", "b", "c"][:after]


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize(("after", "runs"), [(0, 0), (1, 1)])
def test_a_tool_fails_before_or_after_it_has_run(form: Form, after: int, runs: int) -> None:
    """The model is told of it either way; the definition is that of the tool (R9)."""
    done = []

    @tool
    def save(n: int) -> str:
        """Save."""
        done.append(n)
        return "saved"

    (callback,) = tool_callbacks(save)
    faulty = FaultyToolCallback(callback, Fault(OSError("disk full"), after=after))
    assert (faulty.definition, faulty.origin) == (callback.definition, callback.origin)
    model = ScriptedChatModel([tool_call("save", n=1), "Sorry."])
    assert form.ask(ChatClient(model).prompt("Save.").tools(faulty)).text.endswith("Sorry.")
    assert len(done) == runs
    assert "disk full" in str(model.requests[-1].messages[-1])


def test_a_store_fails_before_or_after_it_has_saved() -> None:
    """Operations of all kinds are counted together; `at=None` is each of them."""
    repository = InMemoryChatMemoryRepository()
    faulty = FaultyChatMemoryRepository(repository, Fault(OSError("down"), at=1), Fault(OSError("down"), at=3, after=1))
    for saved in ([], [UserMessage("a")]):
        with pytest.raises(OSError, match="down"):
            faulty.save_all("c", [UserMessage("a")])
        assert repository.find_by_conversation_id("c") == saved
        assert faulty.find_by_conversation_id("c") == saved if not saved else True
    always = FaultyChatMemoryRepository(repository, Fault(OSError("down"), at=None))
    for ask in (always.find_conversation_ids, lambda: always.delete_by_conversation_id("c")):
        with pytest.raises(OSError, match="down"):
            ask()


def test_a_model_waits_at_a_gate() -> None:
    """The reader has the first piece while the model waits, and the rest when the gate is opened (R21)."""
    gate = Gate()
    for model in (
        ScriptedChatModel([chunks("Hel", gate, "lo")]),
        FaultyChatModel(ScriptedChatModel([chunks("Hel", "lo")]), Fault(gate, after=1)),
    ):
        with model.stream(PROMPT) as stream:
            assert next(stream).text == "Hel"
            gate.wait_reached()
            gate.open()
            assert next(stream).text == "lo"


def test_who_waits_at_a_gate_can_be_cancelled_and_the_gate_stays() -> None:
    """Between event loops and threads: one waits and is cancelled, another waits and is let through."""
    gate = Gate()

    async def cancelled() -> None:
        waiting = asyncio.ensure_future(gate.apass_through())
        await gate.await_reached()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert waiting.cancelled()

    assert not gate.is_reached
    asyncio.run(cancelled())
    thread = threading.Thread(target=gate.pass_through)
    thread.start()
    gate.open()
    thread.join()
    asyncio.run(gate.apass_through())
    with pytest.raises(TimeoutError):
        Gate().wait_reached(timeout=0)


@pytest.mark.parametrize("form", Form)
def test_reasoning_usage_and_finish_reasons_are_scripted(form: Form) -> None:
    """In whole answers and in chunks of any kind (R22)."""
    usage = Usage(3, 2, reasoning_tokens=1)
    whole = ChatResponse.of("Hello", reasoning="Hm.", usage=usage, finish_reason=FinishReason.LENGTH)
    in_chunks = chunks(
        ChatResponse.of(reasoning="Hm."), "Hel", ChatResponse.of("lo", usage=usage, finish_reason=FinishReason.LENGTH)
    )
    for item in (whole, in_chunks):
        outcome = form.ask(ChatClient(ScriptedChatModel([item])).prompt("Hello"))
        response = outcome.chat_response
        assert (response.text, response.finish_reason, response.usage) == ("Hello", "length", usage)
        assert response.result is not None
        assert response.result.output.reasoning == "Hm."


class Steps:
    """Notes what it has begun and not ended."""

    def __init__(self) -> None:
        self.open = 0

    async def child(self) -> None:
        self.open += 1
        try:
            for _ in range(3):
                await asyncio.sleep(0)
        finally:
            self.open -= 1

    async def run(self) -> str:
        await asyncio.sleep(0)
        async with asyncio.TaskGroup() as group:
            group.create_task(self.child())
            group.create_task(self.child())
        return "done"


def test_a_function_is_cancelled_at_every_suspension() -> None:
    """Its own two and the three of each of its two tasks; the last run comes to its end."""
    steps = Steps()
    runs = []
    for run in every_cancellation(steps.run):
        assert steps.open == 0
        runs.append(run)
    assert [run.at for run in runs] == [*range(1, 9), None]
    assert runs[-1].result == "done"


async def swallows() -> str:
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        pass
    return "answered all the same"


async def leaves() -> None:
    async def left() -> None:
        await asyncio.Event().wait()

    LEFT.append(asyncio.ensure_future(left()))
    await asyncio.sleep(0)


async def replaces() -> None:
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        raise ValueError("something else") from None


LEFT: list[object] = []


@pytest.mark.parametrize(
    ("function", "text"),
    [(swallows, "answered all the same"), (replaces, "something else"), (leaves, "left running")],
)
def test_who_mistreats_a_cancellation_is_told(function: object, text: str) -> None:
    """Swallowing it, putting another error in its place, leaving tasks behind (R11, R20)."""
    with pytest.raises(AssertionError, match=text):
        list(every_cancellation(function))  # type: ignore[arg-type]  # three functions of different results


def test_the_error_of_a_run_that_was_not_cancelled_comes_out() -> None:
    """A function that fails by itself fails the test."""

    async def fails() -> AsyncIterator[int]:
        raise ValueError("of its own")

    with pytest.raises(ValueError, match="of its own"):
        list(every_cancellation(fails))
