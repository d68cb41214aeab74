"""A model before a service that answers as it is told."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from vernal import ChatResponse, MessageAggregator, Prompt
from vernal.http import RetryPolicy
from vernal.testing.server import ReplayServer, Reply, replaying
from vernal_anthropic import AnthropicChatModel

R = TypeVar("R")


class Service:
    """What the tests ask of the model, and what they look at of the request."""

    def against(
        self, *replies: Reply, ask: Callable[[AnthropicChatModel, ReplayServer], Awaitable[R]], **more: Any
    ) -> R:
        """What `ask` makes of a model whose service gives these replies."""

        async def main() -> R:
            async with replaying(*replies) as server:
                given = {"api_key": "sk-secret", "retry": RetryPolicy(initial_delay=0), **more}
                return await ask(AnthropicChatModel(base_url=server.url, **given), server)

        return asyncio.run(main())

    def called(self, reply: Reply, **more: Any) -> ChatResponse:
        """The whole answer."""

        async def ask(model: AnthropicChatModel, _: ReplayServer) -> ChatResponse:
            return await model.acall(Prompt("hi"))

        return self.against(reply, ask=ask, **more)

    def chunks(self, reply: Reply, **more: Any) -> list[ChatResponse]:
        """All chunks of the streamed answer."""

        async def ask(model: AnthropicChatModel, _: ReplayServer) -> list[ChatResponse]:
            return [chunk async for chunk in model.astream(Prompt("hi"))]

        return self.against(reply, ask=ask, **more)

    def streamed(self, reply: Reply, **more: Any) -> ChatResponse:
        """The streamed answer, whole."""
        aggregator = MessageAggregator()
        for chunk in self.chunks(reply, **more):
            aggregator.add(chunk)
        return aggregator.collected()

    def sent(self, prompt: Prompt, **more: Any) -> dict[str, Any]:
        """The body of the request for `prompt`."""

        async def ask(model: AnthropicChatModel, server: ReplayServer) -> dict[str, Any]:
            await model.acall(prompt)
            body: dict[str, Any] = server.asked[0].json
            return body

        return self.against(Reply.of_json({"content": []}), ask=ask, **more)


@pytest.fixture
def service() -> Service:
    """The service and its model."""
    return Service()


class Events:
    """Streams of the protocol."""

    def of(
        self, *blocks: tuple[dict[str, Any], list[dict[str, Any]]], stop: str | None = "end_turn", **more: Any
    ) -> Reply:
        """A stream of blocks, each given by its start and its deltas; without `stop` it breaks off after them."""
        usage = {"input_tokens": 5, "cache_read_input_tokens": 20, "output_tokens": 1}
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": {"id": "m1", "model": "claude", "content": [], "usage": usage}},
            {"type": "ping"},
        ]
        for index, (start, deltas) in enumerate(blocks):
            events.append({"type": "content_block_start", "index": index, "content_block": start})
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
        if stop is not None:
            delta = {"stop_reason": stop, "stop_sequence": None}
            events += [
                {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}},
                {"type": "message_stop"},
            ]
        return self.raw(*events, **more)

    def raw(self, *events: dict[str, Any], **more: Any) -> Reply:
        """A stream of these events."""
        pieces = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events]
        return Reply(pieces, content_type="text/event-stream", **more)


@pytest.fixture
def events() -> Events:
    """Streams of the protocol."""
    return Events()
