"""Whoever leaves a stream early leaves nothing open (R20)."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Callable, Iterator
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
    StreamAdvisor,
    StreamAdvisorChain,
    ToolCallingAdvisor,
)
from vernal.testing import tool_call

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form


class Endless(ChatModel):
    """Streams for ever, after a round that asks for `tool` if one is named; knows how many streams are open."""

    def __init__(self, *, tool: str | None = None) -> None:
        self.tool = tool
        self.opened = 0
        self.closed = threading.Event()
        self.log: list[str] = []

    async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        self.opened += 1
        self.log.append("opened")
        try:
            if self.tool is not None and len(prompt.messages) == 1:
                yield ChatResponse.of("Let me look. ")
                yield ChatResponse.of(tool_calls=[tool_call(self.tool, call_id="1")])
                return
            while True:
                yield ChatResponse.of("again ")
                await asyncio.sleep(0)
        finally:
            await asyncio.sleep(0)
            self.opened -= 1
            self.log.append("closed")
            self.closed.set()


class BlockingEndless(Endless):
    """The same, as a blocking stream."""

    def stream(self, prompt: Prompt) -> Any:
        return self._chunks(prompt)

    def _chunks(self, prompt: Prompt) -> Iterator[ChatResponse]:
        self.opened += 1
        try:
            while True:
                yield ChatResponse.of("again ")
        finally:
            self.opened -= 1
            self.closed.set()


class Abandoning(StreamAdvisor):
    """Reads one chunk of what is below and goes on by itself, without closing anything."""

    order = 2

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        self.kept = chain.next_stream(request)
        async for chunk in self.kept:
            while True:
                yield chunk
                await asyncio.sleep(0)


class Copying(StreamAdvisor):
    """Opens several copies of the chain at once, and closes none."""

    order = 3

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        self.kept = [chain.copy(self).next_stream(request) for _ in range(3)]
        while True:
            for stream in self.kept:
                yield await anext(stream)


class Failing(StreamAdvisor):
    """Its cleaning up fails."""

    order = 1

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        try:
            async for chunk in chain.next_stream(request):
                yield chunk
        finally:
            raise OSError("cleaning up failed")


@dataclass(kw_only=True, eq=False)
class Wrapping(ToolCallingAdvisor):
    """Wraps the chunks in a generator of its own, which must be closed as well."""

    wrappers: list[str] = field(default_factory=list)

    async def do_finalize_loop_stream(
        self, chunks: AsyncIterator[ChatClientResponse], chain: AdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        self.wrappers.append("opened")
        try:
            async for chunk in chunks:
                yield chunk
        finally:
            self.wrappers.append("closed")


class Looking(BaseAdvisor):
    """A `before` and an `after`, inside."""

    order = 5


def memory() -> list[Any]:
    """Memory outside and inside the loop."""
    return [
        MessageChatMemoryAdvisor(chat_memory=MessageWindowChatMemory()),
        MessageChatMemoryAdvisor(chat_memory=MessageWindowChatMemory(), memory_order=1000),
    ]


CHAINS: dict[str, Callable[[], list[Any]]] = {
    "the loop": list,
    "every advisor": lambda: [*memory(), Looking(), Wrapping()],
    "abandoning": lambda: [Abandoning(), Looking()],
    "copying": lambda: [Copying(), Looking()],
    "abandoning twice": lambda: [Abandoning(), Copying(), Wrapping()],
}


def spec_of(
    model: ChatModel, advisors: list[Any], registry: ObservationRegistry | None = None
) -> ChatClientRequestSpec:
    """A request through these advisors."""
    builder = ChatClient.builder(model).default_advisors(*advisors, conversation_id="1")
    if registry is not None:
        builder.observation_registry(registry)
    return builder.build().prompt("Hello")


async def read_some(spec: ChatClientRequestSpec, how: str) -> None:
    """Read two texts, then leave by `how`."""
    stream = spec.astream().content()
    if how == "with":
        async with stream:
            await anext(stream)
            await anext(stream)
        return
    count = 0
    async for _ in stream:
        count += 1
        if count == 2:
            break
    await stream.aclose()


def read_some_blocking(spec: ChatClientRequestSpec, how: str) -> None:
    """The same, blocking."""
    stream = spec.stream().content()
    if how == "with":
        with stream:
            next(stream)
            next(stream)
        return
    next(stream)
    next(stream)
    stream.close()


@pytest.mark.parametrize("registry", [None, ObservationRegistry()])
@pytest.mark.parametrize("model", [Endless, BlockingEndless])
@pytest.mark.parametrize("how", ["with", "close"])
@pytest.mark.parametrize("advisors", CHAINS)
def test_a_stream_left_early_is_closed_at_once(
    stream_form: "Form", advisors: str, how: str, model: type[Endless], registry: ObservationRegistry | None
) -> None:
    """The model's stream is closed before `close`, `aclose` or the `with` block returns, in any chain (R20)."""
    used, chain = model(), CHAINS[advisors]()

    async def main() -> None:
        await read_some(spec_of(used, chain, registry), how)
        assert used.opened == 0
        assert asyncio.all_tasks() == {asyncio.current_task()}

    if stream_form.is_async:
        asyncio.run(main())
    else:
        read_some_blocking(spec_of(used, chain, registry), how)
    assert used.closed.is_set()
    assert used.opened == 0
    for wrapping in chain:
        if isinstance(wrapping, Wrapping):
            assert wrapping.wrappers == ["opened", "closed"]


def test_a_bare_break_closes_soon(stream_form: "Form") -> None:
    """Where nobody closes, the stream is closed within the next steps of the loop (R20)."""
    model = Endless()

    async def main() -> None:
        async for _ in spec_of(model, [*memory(), Wrapping()]).astream().content():
            break
        for _ in range(100):
            await asyncio.sleep(0)
        assert model.opened == 0

    def blocking() -> None:
        for _ in spec_of(model, [*memory(), Wrapping()]).stream().content():
            break

    if stream_form.is_async:
        asyncio.run(main())
    else:
        blocking()
        gc.collect()
        assert model.closed.wait(20)


def test_a_stream_that_was_never_read_opens_nothing(stream_form: "Form") -> None:
    """Closing what has not begun asks nothing of the model, and it gives nothing afterwards (R20, R25)."""
    model = Endless()

    async def main() -> None:
        stream = spec_of(model, []).astream().content()
        await stream.aclose()
        assert [text async for text in stream] == []

    if stream_form.is_async:
        asyncio.run(main())
    else:
        stream = spec_of(model, []).stream().content()
        stream.close()
        assert list(stream) == []
    assert model.log == []


def test_closing_twice_is_no_error(stream_form: "Form") -> None:
    """A closed stream may be closed again, and has nothing more to give (R20)."""
    model = Endless()

    async def main() -> None:
        stream = spec_of(model, []).astream().content()
        await anext(stream)
        await stream.aclose()
        await stream.aclose()
        assert [text async for text in stream] == []

    if stream_form.is_async:
        asyncio.run(main())
    else:
        stream = spec_of(model, []).stream().content()
        next(stream)
        stream.close()
        stream.close()
        assert list(stream) == []
    assert model.log == ["opened", "closed"]


def test_the_stream_of_a_round_is_closed_before_the_next_round() -> None:
    """What an advisor has left open in one round is closed when the round ends, not with the turn (R20)."""

    class First(StreamAdvisor):
        """Takes chunks up to the tool call, and leaves."""

        order = 2

        async def advise_stream(
            self, request: ChatClientRequest, chain: StreamAdvisorChain
        ) -> AsyncIterator[ChatClientResponse]:
            self.kept = chain.next_stream(request)
            async for chunk in self.kept:
                yield chunk
                if chunk.has_tool_calls:
                    return

    def look() -> str:
        """Look."""
        model.log.append("tool ran")
        return "seen"

    model = Endless(tool="look")
    asyncio.run(read_some(spec_of(model, [First()]).tools(look), "with"))
    assert model.log == ["opened", "closed", "tool ran", "opened", "closed"]


def test_one_failing_advisor_does_not_keep_the_rest_open(stream_form: "Form") -> None:
    """Cleaning up goes on when one advisor's fails; its error is raised, not swallowed (R20)."""
    model = Endless()
    spec = spec_of(model, [Failing(), Abandoning(), Wrapping()])
    with pytest.raises(OSError, match="cleaning up failed"):
        asyncio.run(read_some(spec, "close")) if stream_form.is_async else read_some_blocking(spec, "close")
    assert model.opened == 0


def test_closing_ends_tools_that_run() -> None:
    """A blocking reader that closes while a tool runs returns when the tool has ended (R20)."""
    started, ended = threading.Event(), list[str]()

    async def look() -> str:
        """Look for ever."""
        started.set()
        try:
            return await asyncio.Future()
        finally:
            await asyncio.sleep(0)
            ended.append("tool")

    stream = spec_of(Endless(tool="look"), [*memory(), Wrapping()]).tools(look).stream().content()
    assert next(stream) == "Let me look. "
    assert started.wait(20)
    stream.close()
    assert ended == ["tool"]


def test_a_stream_that_cannot_be_opened_says_so(stream_form: "Form") -> None:
    """A model that fails before its first chunk fails the reader, who does not wait for ever (R20)."""

    class Broken(ChatModel):
        def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
            raise LookupError("no such stream")

    async def main() -> None:
        await anext(Broken().astream(Prompt("Hello")))

    with pytest.raises(LookupError, match="no such stream"):
        asyncio.run(main()) if stream_form.is_async else next(Broken().stream(Prompt("Hello")))
    with pytest.raises(LookupError, match="no such stream"):
        stream_form.ask(spec_of(Broken(), [*memory()]))
