"""A model before a service that answers as it is told: what the tests of providers ask of it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from vernal import ChatModel, ChatResponse, MessageAggregator, Prompt
from vernal.http import RetryPolicy
from vernal.testing.server import ReplayServer, Reply, replaying

R = TypeVar("R")


class Service:
    """The service, and how to make a model that asks it: `make(base_url=…, api_key=…, retry=…)`.

    `empty` is the body of an answer that says nothing.
    """

    def __init__(self, make: Callable[..., ChatModel], empty: Any) -> None:
        self._make = make
        self._empty = empty

    def against(self, *replies: Reply, ask: Callable[[Any, ReplayServer], Awaitable[R]], **more: Any) -> R:
        """What `ask` makes of a model whose service gives these replies."""

        async def main() -> R:
            async with replaying(*replies) as server:
                given = {"api_key": "sk-secret", "retry": RetryPolicy(initial_delay=0), **more}
                return await ask(self._make(base_url=server.url, **given), server)

        return asyncio.run(main())

    def called(self, *replies: Reply, **more: Any) -> ChatResponse:
        """The whole answer."""

        async def ask(model: ChatModel, _: ReplayServer) -> ChatResponse:
            return await model.acall(Prompt("hi"))

        return self.against(*replies, ask=ask, **more)

    def chunks(self, *replies: Reply, **more: Any) -> list[ChatResponse]:
        """All chunks of the streamed answer."""

        async def ask(model: ChatModel, _: ReplayServer) -> list[ChatResponse]:
            return [chunk async for chunk in model.astream(Prompt("hi"))]

        return self.against(*replies, ask=ask, **more)

    def streamed(self, *replies: Reply, **more: Any) -> ChatResponse:
        """The streamed answer, whole."""
        aggregator = MessageAggregator()
        for chunk in self.chunks(*replies, **more):
            aggregator.add(chunk)
        return aggregator.collected()

    def sent(self, prompt: Prompt, **more: Any) -> dict[str, Any]:
        """The body of the request for `prompt`."""

        async def ask(model: ChatModel, server: ReplayServer) -> dict[str, Any]:
            await model.acall(prompt)
            body: dict[str, Any] = server.asked[0].json
            return body

        return self.against(Reply.of_json(self._empty), ask=ask, **more)


@pytest.fixture
def service_of() -> type[Service]:
    """Makes the service of a provider."""
    return Service
