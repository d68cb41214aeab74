"""Either face of an operation may be implemented (DESIGN, One asynchronous engine, two faces)."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, ClassVar

import pytest

from vernal import (
    AsyncStream,
    ChatMemory,
    ChatMemoryRepository,
    ChatModel,
    ChatResponse,
    Message,
    Prompt,
    Stream,
    ToolCallback,
    ToolCallingManager,
    ToolDefinition,
    UserMessage,
)
from vernal.runtime.faces import Face, TwoFaced

PROMPT = Prompt("Hello.")


class Asker(TwoFaced, abstract=True):
    """An interface with one pair."""

    __faces__: ClassVar = (Face("ask", "aask"),)

    def ask(self, text: str) -> str:
        """Ask."""
        raise NotImplementedError

    async def aask(self, text: str) -> str:
        """Ask."""
        raise NotImplementedError


class Blocking(Asker):
    def ask(self, text: str, *, mark: str = "?") -> str:
        return f"blocking {text}{mark}"


class Asynchronous(Asker):
    async def aask(self, text: str, *, mark: str = "?") -> str:
        await asyncio.sleep(0)
        return f"async {text}{mark}"


class AsyncOverBlocking(Blocking):
    async def aask(self, text: str) -> str:
        return f"[{await super().aask(text)}]"


class BlockingOverAsync(Asynchronous):
    def ask(self, text: str) -> str:
        return f"[{super().ask(text)}]"


class Both(Asker):
    def ask(self, text: str) -> str:
        return f"blocking {text}"

    async def aask(self, text: str) -> str:
        return f"async {text}"


class BlockingOverBoth(Both):
    def ask(self, text: str) -> str:
        return f"<{super().ask(text)}>"


class Inherited(BlockingOverAsync):
    """Defines nothing of its own."""


class Mixin:
    async def aask(self, text: str) -> str:
        return f"mixed {text}"


class Mixed(Mixin, Asker):
    """Gets a face from a class that knows nothing of the interface."""


class MixedOverBoth(Mixin, Both):
    """The mixin stands before a class that has both faces."""


@pytest.mark.parametrize(
    ("asker", "blocking", "asynchronous"),
    [
        (Blocking(), "blocking a?", "blocking a?"),
        (Asynchronous(), "async a?", "async a?"),
        (AsyncOverBlocking(), "[blocking a?]", "[blocking a?]"),
        (BlockingOverAsync(), "[async a?]", "[async a?]"),
        (Both(), "blocking a", "async a"),
        (BlockingOverBoth(), "<blocking a>", "<blocking a>"),
        (Inherited(), "[async a?]", "[async a?]"),
        (Mixed(), "mixed a", "mixed a"),
        (MixedOverBoth(), "mixed a", "mixed a"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_most_derived_definition_of_either_face_counts(asker: Asker, blocking: str, asynchronous: str) -> None:
    """Where a class body defines one face, the other calls that one; `super()` works from both."""
    assert asker.ask("a") == blocking
    assert asyncio.run(asker.aask("a")) == asynchronous


def test_arguments_and_errors_pass_through_a_generated_face() -> None:
    """Keyword arguments, and what the other face raises."""
    assert Asynchronous().ask("a", mark="!") == "async a!"  # type: ignore[call-arg]  # the generated face takes it
    assert asyncio.run(Blocking().aask("a", mark="!")) == "blocking a!"  # type: ignore[call-arg]  # the same

    class Failing(Asker):
        async def aask(self, text: str) -> str:
            raise LookupError(text)

    with pytest.raises(LookupError, match="a"):
        Failing().ask("a")


def test_a_generated_face_is_named_like_one_that_was_written() -> None:
    """Name, qualified name, module and documentation, so that tracebacks and help can be read."""

    class Documented(Asker):
        def ask(self, text: str) -> str:
            """How it is asked."""
            return text

    face = Documented.aask
    assert (face.__name__, face.__module__, face.__doc__) == ("aask", __name__, "How it is asked.")
    assert face.__qualname__.endswith("Documented.aask")


def test_a_blocking_face_runs_in_a_thread_of_its_own() -> None:
    """The event loop goes on meanwhile."""

    class Waiting(Asker):
        def __init__(self) -> None:
            self.go_on = threading.Event()

        def ask(self, text: str) -> str:
            assert self.go_on.wait(20)
            return text

    async def run() -> str:
        asker = Waiting()
        asking = asyncio.create_task(asker.aask("a"))
        await asyncio.sleep(0)
        asker.go_on.set()
        return await asking

    assert asyncio.run(run()) == "a"


def test_a_class_without_any_face_is_refused() -> None:
    """At its creation, with the names of what it must define, unless it says that it is unfinished."""
    with pytest.raises(TypeError, match=r"class .*Empty defines none of its faces; define 'ask' or 'aask'"):
        type("Empty", (Asker,), {})

    class Unfinished(Asker, abstract=True):
        pass

    with pytest.raises(TypeError, match="StillEmpty"):
        type("StillEmpty", (Unfinished,), {})


def test_a_face_of_the_wrong_kind_is_refused() -> None:
    """An asynchronous function under the blocking name, and the reverse; the text says what to do."""

    async def asynchronous(self: Any, text: str) -> str:
        return text

    def plain(self: Any, text: str) -> str:
        return text

    with pytest.raises(TypeError, match=r"Wrong\.ask is asynchronous; call it 'aask'"):
        type("Wrong", (Asker,), {"ask": asynchronous})
    with pytest.raises(TypeError, match=r"Wrong\.aask is a plain function; make it 'async def', or call it 'ask'"):
        type("Wrong", (Asker,), {"aask": plain})


@pytest.mark.parametrize(
    ("interface", "names"),
    [
        (ChatModel, "'call' or 'acall' or 'stream' or 'astream'"),
        (ToolCallback, "'call' or 'acall'"),
        (ToolCallingManager, "'execute_tool_calls' or 'aexecute_tool_calls'"),
        (ChatMemory, "'add' or 'aadd'"),
        (ChatMemoryRepository, "'find_conversation_ids' or 'afind_conversation_ids'"),
    ],
)
def test_every_interface_refuses_a_class_without_faces(interface: type, names: str) -> None:
    """Each of the pairs that users implement."""
    with pytest.raises(TypeError, match=f"define {names}"):
        type("Empty", (interface,), {})


def test_of_several_pairs_each_must_have_a_face() -> None:
    """A memory that adds and gets, but does not clear, is refused for that."""

    def add(self: Any, conversation_id: str, messages: Sequence[Message]) -> None: ...

    async def aget(self: Any, conversation_id: str) -> list[Message]:
        return []

    with pytest.raises(TypeError, match="define 'clear' or 'aclear'"):
        type("Half", (ChatMemory,), {"add": add, "aget": aget})


def answered(text: str) -> ChatResponse:
    return ChatResponse.of(text)


class Calling(ChatModel):
    def call(self, prompt: Prompt) -> ChatResponse:
        return answered("call")


class ACalling(ChatModel):
    async def acall(self, prompt: Prompt) -> ChatResponse:
        return answered("acall")


class Streaming(ChatModel):
    def stream(self, prompt: Prompt) -> Iterator[ChatResponse]:  # type: ignore[override]  # a model may write a generator
        yield answered("str")
        yield answered("eam")


class AStreaming(ChatModel):
    async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        yield answered("astr")
        yield answered("eam")


class StreamingOverCalling(Calling):
    async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        async for chunk in super().astream(prompt):
            yield answered(f"over {chunk.text}")


def all_texts(model: ChatModel) -> list[list[str | None]]:
    """What each of the four forms of a model gives."""

    async def run() -> list[list[str | None]]:
        called = (await model.acall(PROMPT)).text
        return [[called], [chunk.text async for chunk in model.astream(PROMPT)]]

    return [[model.call(PROMPT).text], [chunk.text for chunk in model.stream(PROMPT)], *asyncio.run(run())]


@pytest.mark.parametrize(
    ("model", "called", "streamed"),
    [
        (Calling(), ["call"], ["call"]),
        (ACalling(), ["acall"], ["acall"]),
        (Streaming(), ["stream"], ["str", "eam"]),
        (AStreaming(), ["astream"], ["astr", "eam"]),
        (StreamingOverCalling(), ["call"], ["over call"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_model_implements_any_of_its_four_forms(model: ChatModel, called: list[str], streamed: list[str]) -> None:
    """A missing stream is one chunk of the call, a missing call the aggregate of the stream."""
    assert all_texts(model) == [called, streamed, called, streamed]


def test_generated_streams_can_be_closed() -> None:
    """Both faces give streams: iterators that are context managers, in either direction."""
    with AStreaming().stream(PROMPT) as chunks:
        assert isinstance(chunks, Stream)
        assert next(chunks).text == "astr"
    closed: list[str] = []

    class Closing(ChatModel):
        def stream(self, prompt: Prompt) -> Iterator[ChatResponse]:  # type: ignore[override]  # a model may write a generator
            try:
                yield answered("a")
                yield answered("b")
            finally:
                closed.append("closed")

    async def run() -> None:
        stream = Closing().astream(PROMPT)
        assert isinstance(stream, AsyncStream)
        async with stream as chunks:
            async for chunk in chunks:
                assert chunk.text == "a"
                break
        assert closed == ["closed"]

    asyncio.run(run())


def test_a_memory_may_mix_its_faces() -> None:
    """Each pair by itself: one operation blocking, another asynchronous."""

    class Own(ChatMemory):
        def __init__(self) -> None:
            self.kept: list[Message] = []

        def add(self, conversation_id: str, messages: Sequence[Message]) -> None:
            self.kept += messages

        async def aget(self, conversation_id: str) -> list[Message]:
            return list(self.kept)

        def clear(self, conversation_id: str) -> None:
            self.kept.clear()

    memory = Own()
    asyncio.run(memory.aadd("c", [UserMessage("Hello.")]))
    assert memory.get("c") == [UserMessage("Hello.")]
    asyncio.run(memory.aclear("c"))
    assert memory.get("c") == []


def test_a_tool_callback_may_implement_the_blocking_face() -> None:
    """ToolCallback: `call` alone is enough, and is what `acall` runs."""

    class Own(ToolCallback):
        @property
        def definition(self) -> ToolDefinition:
            return ToolDefinition("own", "Its own.", {"type": "object"})

        def call(self, tool_input: str, tool_context: Any = None) -> str:
            return f"{tool_input} {threading.current_thread().name}"

    assert Own().call("a").startswith("a MainThread")
    assert asyncio.run(Own().acall("a")) == "a vernal-worker"
