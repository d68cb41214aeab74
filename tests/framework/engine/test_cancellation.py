"""Cancelled at any point, a turn leaves nothing running; what must propagate does (R11, R20)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    AdvisorChain,
    BaseAdvisor,
    ChatClient,
    ChatClientRequest,
    ChatClientRequestSpec,
    ChatClientResponse,
    ChatModel,
    ChatResponse,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    ObservationRegistry,
    Prompt,
    ToolCallingAdvisor,
)
from vernal.testing import ScriptedChatModel, assert_replayable, every_cancellation, tool_call, tool_calls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.framework.engine.conftest import Form


@dataclass
class Watch:
    """Knows what has begun and not ended."""

    running: list[str] = field(default_factory=list)

    @contextmanager
    def over(self, name: str) -> "Iterator[None]":
        """Watch a block of work."""
        self.running.append(name)
        try:
            yield
        finally:
            self.running.remove(name)


class Slow(ChatModel):
    """Takes a step of the loop for everything, and asks for two tools in its first two rounds."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    async def acall(self, prompt: Prompt) -> ChatResponse:
        with self.watch.over("model call"):
            await asyncio.sleep(0)
            return self._answer(prompt)

    async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        with self.watch.over("model stream"):
            for text in ("Let ", "me "):
                await asyncio.sleep(0)
                yield ChatResponse.of(text)
            await asyncio.sleep(0)
            yield self._answer(prompt)

    def _answer(self, prompt: Prompt) -> ChatResponse:
        rounds = len(prompt.messages) // 2
        if rounds == 2:
            return ChatResponse.of("see.")
        names = ("look", "listen")
        calls = [tool_call(name, call_id=f"{name} {rounds}", rounds=rounds) for name in names]
        return ChatResponse.of(tool_calls=calls)


@dataclass(kw_only=True, eq=False)
class SlowHooks(ToolCallingAdvisor):
    """Takes a step of the loop in each hook."""

    async def do_initialize_loop(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        await asyncio.sleep(0)
        return request

    async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        await asyncio.sleep(0)
        return request

    async def do_after_call(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        await asyncio.sleep(0)
        return response

    async def do_finalize_loop(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        await asyncio.sleep(0)
        return response


class SlowAdvisor(BaseAdvisor):
    """Takes a step before and after."""

    order = 7

    async def before(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        await asyncio.sleep(0)
        return request

    async def after(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        await asyncio.sleep(0)
        return response


def everything(watch: Watch, memory: MessageWindowChatMemory, *, observed: bool) -> ChatClientRequestSpec:
    """A request that passes all there is: tools that take steps, hooks, advisors, memory inside the loop."""

    async def look(rounds: int) -> str:
        """Look."""
        with watch.over("look"):
            for _ in range(3):
                await asyncio.sleep(0)
        return "seen"

    async def listen(rounds: int) -> AsyncIterator[str]:
        """Listen."""
        with watch.over("listen"):
            for _ in range(2):
                await asyncio.sleep(0)
                yield "heard"

    inside = MessageChatMemoryAdvisor(chat_memory=memory, memory_order=1000)
    builder = ChatClient.builder(Slow(watch)).default_tools(look, listen)
    builder.default_advisors(SlowHooks(), SlowAdvisor(), inside, conversation_id="1")
    if observed:
        builder.observation_registry(ObservationRegistry())
    return builder.build().prompt("Hello")


async def ask(spec: ChatClientRequestSpec, *, streamed: bool) -> str | None:
    """The answer, with the reader taking a step for each chunk."""
    if not streamed:
        return await spec.acall().content()
    texts = []
    async with spec.astream().content() as stream:
        async for text in stream:
            texts.append(text)
            await asyncio.sleep(0)
    return "".join(texts)


@pytest.mark.parametrize("observed", [False, True])
@pytest.mark.parametrize("streamed", [False, True])
def test_cancelling_at_any_step_leaves_nothing_running(streamed: bool, observed: bool) -> None:
    """Wherever a turn is cancelled, model, tools and advisors have ended when the cancellation arrives (R20).

    It arrives as `CancelledError`, never as an answer (R11), and what memory has kept can be replayed (R1).
    """
    watch, runs = Watch(), 0
    memory = MessageWindowChatMemory()

    async def turn() -> None:
        await memory.aclear("1")
        await ask(everything(watch, memory, observed=observed), streamed=streamed)

    for runs, run in enumerate(every_cancellation(turn)):  # noqa: B007  # counted
        assert watch.running == [], run
        assert_replayable(memory.get("1"))
    assert runs > 20


def test_an_uncancelled_turn_is_what_the_test_above_thinks() -> None:
    """Left alone, the turn runs through two tool rounds in call and stream (R20)."""
    for streamed, answer in [(False, "see."), (True, "Let me Let me Let me see.")]:
        watch, memory = Watch(), MessageWindowChatMemory()
        assert asyncio.run(ask(everything(watch, memory, observed=False), streamed=streamed)) == answer
        assert len(memory.get("1")) == 6
        assert watch.running == []


@pytest.mark.parametrize("streamed", [False, True])
def test_a_deadline_of_the_caller_is_a_timeout_error(streamed: bool) -> None:
    """`asyncio.timeout` around a turn gives `TimeoutError`, also while tools run: no tool result swallows it (R11)."""
    watch = Watch()
    deadline: Any = None

    async def stuck() -> str:
        """Never ends."""
        with watch.over("stuck"):
            deadline.reschedule(asyncio.get_running_loop().time())
            return await asyncio.Future()

    async def main() -> None:
        nonlocal deadline
        spec = ChatClient(ScriptedChatModel([tool_call("stuck")])).prompt("Hello").tools(stuck)
        async with asyncio.timeout(None) as deadline:
            await ask(spec, streamed=streamed)

    with pytest.raises(TimeoutError):
        asyncio.run(main())
    assert watch.running == []


class Stop(BaseException):
    """No `Exception`: nobody may swallow it."""


KINDS = [Stop, KeyboardInterrupt, SystemExit, asyncio.CancelledError]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blocking", [False, True])
def test_what_is_no_exception_comes_out_of_a_tool(form: "Form", blocking: bool, kind: type[BaseException]) -> None:
    """A tool's `BaseException` that is no `Exception` is no tool result: it ends the turn, siblings included (R11)."""
    watch, model = Watch(), ScriptedChatModel([tool_calls(tool_call("sibling"), tool_call("stop"))])

    async def sibling() -> str:
        """Waits for ever."""
        with watch.over("sibling"):
            return await asyncio.Future()

    async def stop() -> str:
        """Stops."""
        await asyncio.sleep(0)
        raise kind

    def stop_blocking() -> str:
        """Stops."""
        raise kind

    stop_blocking.__name__ = "stop"
    spec = ChatClient(model).prompt("Hello").tools(sibling, stop_blocking if blocking else stop)
    with pytest.raises(kind):
        form.ask(spec)
    assert watch.running == []
    assert len(model.requests) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_exception_comes_out_of_a_model(form: "Form", kind: type[BaseException]) -> None:
    """The same of a model, in its first round and after a tool (R11)."""

    def look() -> str:
        """Look."""
        return "seen"

    for script in ([kind()], [tool_call("look"), kind()]):
        with pytest.raises(kind):
            form.ask(ChatClient(ScriptedChatModel(script)).prompt("Hello").tools(look))
