"""R20: a stream that breaks raises after what came before; who leaves early closes everything at once."""

import asyncio
import gc
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import ChatClient, ChatModel, ChatResponse, MessageChatMemoryAdvisor, MessageWindowChatMemory, Prompt
from vernal.testing import ScriptedChatModel, chunks, tool_call


class Broke(Exception):
    """What breaks a stream."""


@given(before=st.integers(0, 5), rounds=st.integers(0, 2), remembered=st.booleans())
def test_what_came_before_a_break_is_delivered_then_the_error(before: int, rounds: int, remembered: bool) -> None:
    """R20: in both faces, in any round."""

    def look(n: int) -> str:
        """Look."""
        return "seen"

    def spec() -> Any:
        script = [*(tool_call("look", n=n) for n in range(rounds)), chunks(*map(str, range(before)), Broke("broke"))]
        asked = ChatClient(ScriptedChatModel(script)).prompt("Go on.").tools(look)
        if remembered:
            advisor = MessageChatMemoryAdvisor(chat_memory=MessageWindowChatMemory())
            asked = asked.advisors(advisor, conversation_id="c")
        return asked

    stream = spec().stream().content()
    assert [next(stream) for _ in range(before)] == list(map(str, range(before)))
    with pytest.raises(Broke):
        next(stream)

    async def main() -> None:
        texts = spec().astream().content()
        assert [await anext(texts) for _ in range(before)] == list(map(str, range(before)))
        with pytest.raises(Broke):
            await anext(texts)

    asyncio.run(main())


class Open(ChatModel):
    """Streams for ever, and knows how many of its streams are open."""

    def __init__(self, *, fails_at: int | None = None) -> None:
        self.open = 0
        self._fails_at = fails_at

    async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        self.open += 1
        try:
            for n in range(1000):
                if n == self._fails_at:
                    raise Broke("ahead")
                yield ChatResponse.of(str(n))
                await asyncio.sleep(0)
        finally:
            try:
                await asyncio.sleep(0)
            finally:
                self.open -= 1


@given(read=st.integers(1, 70), how=st.sampled_from(["with", "close"]), fails=st.sampled_from([None, 70]))
def test_who_leaves_early_leaves_nothing_open(read: int, how: str, fails: int | None) -> None:
    """R20: when `close()` or the block returns, the model's stream is closed; an error that lies ahead stays there."""
    model = Open(fails_at=fails)
    stream = ChatClient(model).prompt("Go on.").stream().content()
    if how == "with":
        with stream:
            texts = [next(stream) for _ in range(read)]
    else:
        texts = [next(stream) for _ in range(read)]
        stream.close()
    assert texts == list(map(str, range(read)))
    assert model.open == 0

    async def main() -> None:
        async with ChatClient(model).prompt("Go on.").astream().content() as texts:
            for n in range(read):
                assert await anext(texts) == str(n)
        assert model.open == 0
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_a_bare_break_closes_within_the_next_steps() -> None:
    """R20: nobody has closed the stream, and nobody holds it."""
    model = Open()

    async def main() -> None:
        async for _ in ChatClient(model).prompt("Go on.").astream().content():
            break
        gc.collect()
        for _ in range(20):
            await asyncio.sleep(0)
        assert model.open == 0

    asyncio.run(main())
    for _ in ChatClient(model).prompt("Go on.").stream().content():
        break
    gc.collect()
    until = time.monotonic() + 5
    while model.open and time.monotonic() < until:
        time.sleep(0.001)
    assert model.open == 0


class Blocking(ChatModel):
    """Streams from blocking code, and waits in its middle."""

    def __init__(self) -> None:
        self.waiting, self.go_on, self.closed = threading.Event(), threading.Event(), threading.Event()

    def stream(self, prompt: Prompt) -> Iterator[ChatResponse]:  # type: ignore[override]  # any iterator will do
        try:
            yield ChatResponse.of("a")
            self.waiting.set()
            self.go_on.wait(10)
            yield ChatResponse.of("b")
        finally:
            self.closed.set()


def test_a_blocking_iterator_that_is_abandoned_is_closed_by_its_own_thread() -> None:
    """R20, R11: the cancellation arrives as such and at once; the iterator is closed as soon as it has come back."""

    async def main() -> None:
        model = Blocking()

        async def read() -> None:
            async for _ in ChatClient(model).prompt("Go on.").astream().content():
                pass

        task = asyncio.create_task(read())
        await asyncio.to_thread(model.waiting.wait, 10)
        task.cancel()
        [outcome] = await asyncio.gather(task, return_exceptions=True)
        assert isinstance(outcome, asyncio.CancelledError)
        assert not model.closed.is_set()
        model.go_on.set()
        assert await asyncio.to_thread(model.closed.wait, 10)

    asyncio.run(main())
