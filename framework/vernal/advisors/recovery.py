"""Advisors that answer a failing model: by asking again, or by asking another one. Neither runs a tool again."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from vernal.advisors.api import (
    LOWEST_PRECEDENCE,
    Advisor,
    CallAdvisor,
    CallAdvisorChain,
    StreamAdvisor,
    StreamAdvisorChain,
    ToolAdvisor,
)
from vernal.advisors.model import ChatModelAdvisor
from vernal.errors import ConfigurationError
from vernal.models.chat import ChatModel
from vernal.runtime.streams import aclose
from vernal.values.exchange import ChatClientRequest, ChatClientResponse


@dataclass(kw_only=True, eq=False)
class RetryAdvisor(CallAdvisor, StreamAdvisor):
    """Asks the model again where a request fails with one of `retry_on`, `max_attempts` times in all.

    Providers retry what heals by itself; this is for failures that they give up on. `delay` is the pause in seconds,
    doubled each time. It stands inside the tool loop; a stream is repeated only before its first chunk (R19).

    Raises:
        ConfigurationError: from a request, where the tool advisor stands behind it.
    """

    max_attempts: int = 3
    delay: float = 0.5
    retry_on: tuple[type[Exception], ...] = (Exception,)
    retry_order: int = LOWEST_PRECEDENCE - 1000

    def __post_init__(self) -> None:
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts is {self.max_attempts!r}; an integer of at least 1 is wanted")
        if self.delay < 0:
            raise ValueError(f"delay is {self.delay!r}; seconds of at least 0 are wanted")

    @property
    def order(self) -> int:
        """`retry_order`, unless a subclass says otherwise."""
        return self.retry_order

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        """The first answer that comes."""
        for attempt in range(1, self.max_attempts + 1):
            downstream = chain.copy(self)
            _refuse_tools_behind(self, downstream.call_advisors)
            try:
                return await downstream.next_call(request)
            except self.retry_on:
                if attempt == self.max_attempts:
                    raise
            await asyncio.sleep(self.delay * 2 ** (attempt - 1))
        raise AssertionError("the last attempt returns or raises")

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        """The chunks of the first stream that begins."""
        for attempt in range(1, self.max_attempts + 1):
            downstream = chain.copy(self)
            _refuse_tools_behind(self, downstream.stream_advisors)
            begun = False
            try:
                async for chunk in downstream.next_stream(request):
                    begun = True
                    yield chunk
                return
            except self.retry_on:
                if begun or attempt == self.max_attempts:
                    raise
            finally:
                await downstream.aclose()
            await asyncio.sleep(self.delay * 2 ** (attempt - 1))


@dataclass(kw_only=True, eq=False)
class FallbackModelAdvisor(CallAdvisor, StreamAdvisor):
    """Asks `models`, one after the other, where the client's model fails with one of `fall_back_on`.

    It stands inside the tool loop: tools that have run are not run again. A stream falls back only before its first
    chunk. The error of the last model is raised.

    Raises:
        ConfigurationError: from a request, where the tool advisor stands behind it.
    """

    models: Sequence[ChatModel]
    fall_back_on: tuple[type[Exception], ...] = (Exception,)
    fallback_order: int = LOWEST_PRECEDENCE - 1100

    def __post_init__(self) -> None:
        for model in self.models:
            if not isinstance(model, ChatModel):
                raise TypeError(f"among the models is {model!r}; ChatModel objects are wanted")
        self._advisors = [ChatModelAdvisor(model) for model in self.models]

    @property
    def order(self) -> int:
        """`fallback_order`, unless a subclass says otherwise."""
        return self.fallback_order

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        """The answer of the first model that gives one."""
        _refuse_tools_behind(self, chain.copy(self).call_advisors)
        try:
            return await chain.next_call(request)
        except self.fall_back_on as error:
            failure: Exception = error
        for advisor in self._advisors:
            try:
                return await advisor.advise_call(request, chain)
            except self.fall_back_on as error:
                failure = error
        raise failure

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        """The chunks of the first model whose stream begins."""
        _refuse_tools_behind(self, chain.copy(self).stream_advisors)
        chunks = chain.next_stream(request)
        for fallback in (*self._advisors, None):
            begun = False
            try:
                async for chunk in chunks:
                    begun = True
                    yield chunk
                return
            except self.fall_back_on:
                if begun or fallback is None:
                    raise
            finally:
                await aclose(chunks)
            chunks = fallback.advise_stream(request, chain)


def _refuse_tools_behind(advisor: Advisor, behind: Sequence[Advisor]) -> None:
    tools = next((each for each in behind if isinstance(each, ToolAdvisor)), None)
    if tools is not None:
        raise ConfigurationError(
            f"{advisor.name} (order {advisor.order}) stands before {tools.name} (order {tools.order}), so asking again "
            f"would run tools again; give it an order greater than {tools.order}"
        )
