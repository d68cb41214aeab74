"""Faults that somebody found by trying to break the engine, each as the sentence that must hold."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from vernal import (
    ChatClient,
    ChatModel,
    ChatResponse,
    FallbackModelAdvisor,
    MessageWindowChatMemory,
    Prompt,
    tool,
)
from vernal.testing import ScriptedChatModel, chunks, tool_call


def test_a_blocking_call_with_wrong_arguments_fails_at_once() -> None:
    """The error reaches the caller, who would wait for ever otherwise (R30)."""
    memory: Any = MessageWindowChatMemory()
    with pytest.raises(TypeError, match="messages"):
        memory.add("c")
    with pytest.raises(TypeError, match="argument"):
        memory.get("c", 3)


def test_a_turn_that_is_read_at_once_from_several_places_runs_once() -> None:
    """Tasks and threads that ask meanwhile read the same response (R10)."""

    async def main() -> None:
        model = ScriptedChatModel(["once"])
        turn = ChatClient(model).prompt("?").acall()
        texts = await asyncio.gather(turn.content(), turn.content(), turn.content())
        assert list(texts) == ["once"] * 3
        assert len(model.requests) == 1

    asyncio.run(main())
    model = ScriptedChatModel(["once"])
    turn = ChatClient(model).prompt("?").call()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: turn.content(), range(4))) == ["once"] * 4
    assert len(model.requests) == 1


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_tool_whose_result_cannot_be_told_has_run_all_the_same(asynchronous: bool) -> None:
    """A destructive tool does not run again because its result had no JSON (R10, R15)."""
    ran: list[int] = []

    @tool(effects="destructive")
    def pay(amount: int) -> object:
        """Pay."""
        ran.append(amount)
        return object()

    @tool(name="pay", effects="destructive")
    async def pay_later(amount: int) -> object:
        """Pay."""
        ran.append(amount)
        return object()

    model = ScriptedChatModel([tool_call("pay", amount=1), tool_call("pay", amount=1), "Done."])
    ChatClient(model).prompt("?").tools(pay_later if asynchronous else pay).call().content()
    assert ran == [1]


def test_a_fallback_models_stream_is_closed_when_the_consumer_leaves() -> None:
    """What the fallback opened is closed before the block is left (R20)."""
    closed: list[bool] = []

    class Fallback(ChatModel):
        async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
            try:
                yield ChatResponse.of("a")
                yield ChatResponse.of("b")
            finally:
                closed.append(True)

    async def main() -> None:
        client = ChatClient(ScriptedChatModel([OSError("down"), chunks("never")]))
        spec = client.prompt("?").advisors(FallbackModelAdvisor(models=[Fallback()]))
        async with spec.astream().content() as texts:
            async for text in texts:
                assert text == "a"
                break
        assert closed == [True]

    asyncio.run(main())
