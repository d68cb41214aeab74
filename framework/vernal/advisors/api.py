"""The interfaces of advisors and of the chain they stand in."""

import inspect
from collections.abc import AsyncIterator, Sequence
from typing import Any, TypeVar

from vernal.models.aggregator import MessageAggregator
from vernal.values.exchange import ChatClientRequest, ChatClientResponse
from vernal.values.responses import ChatResponse

T = TypeVar("T")

HIGHEST_PRECEDENCE = -2147483648
LOWEST_PRECEDENCE = 2147483647


def _refuse_plain(cls: type, name: str) -> None:
    function = vars(cls).get(name)
    if inspect.isfunction(function) and not inspect.iscoroutinefunction(function):
        raise TypeError(f"{cls.__qualname__}.{name} is a plain function; make it 'async def'")


def _refuse_missing(cls: type) -> None:
    for base, name in ((CallAdvisor, "advise_call"), (StreamAdvisor, "advise_stream")):
        if issubclass(cls, base) and getattr(cls, name) is getattr(base, name):
            raise TypeError(
                f"class {cls.__qualname__} is a {base.__name__} but defines no {name!r}; define it "
                f"(or declare the class with abstract=True)"
            )


class Advisor:
    """Something that takes part in a request. Lower `order` runs earlier on the way in, later on the way out.

    A subclass sets `order` as a class attribute, a field or a property. Methods of advisors are `async def`.

    Raises:
        TypeError: at class creation, where a method that must be asynchronous is a plain function, or is missing.
    """

    def __init_subclass__(cls, *, abstract: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("advise_call", "before", "after"):
            _refuse_plain(cls, name)
        stream = vars(cls).get("advise_stream")
        if stream is not None and inspect.iscoroutinefunction(stream):
            raise TypeError(
                f"{cls.__qualname__}.advise_stream is a coroutine function without a 'yield'; write an asynchronous "
                f"generator ('async def' with 'yield'), or a plain function that returns an asynchronous iterator"
            )
        if not abstract:
            _refuse_missing(cls)

    @property
    def order(self) -> int:
        """Where the advisor stands in the chain; 0 by default."""
        return 0

    @property
    def name(self) -> str:
        """What the advisor is called in reports; by default the name of its class (ADV-08)."""
        return type(self).__name__


class AdvisorChain:
    """The advisors that come after the present one, down to the model. One-shot: each step takes the next advisor.

    An advisor that asks downstream more than once uses `chain.copy(self)` for each time (CHN-08).
    """

    def copy(self, after: Advisor) -> "AdvisorChain":
        """A fresh chain of the advisors after `after` (CHN-05)."""
        raise NotImplementedError


class CallAdvisorChain(AdvisorChain):
    """The chain of a call."""

    def copy(self, after: Advisor) -> "CallAdvisorChain":
        """A fresh chain of the advisors after `after` (CHN-05)."""
        raise NotImplementedError

    @property
    def call_advisors(self) -> "Sequence[CallAdvisor]":
        """All call advisors of this chain, whether they have run or not (CHN-02)."""
        raise NotImplementedError

    async def next_call(self, request: ChatClientRequest) -> ChatClientResponse:
        """Let the next advisor answer `request`."""
        raise NotImplementedError


class StreamAdvisorChain(AdvisorChain):
    """The chain of a stream."""

    def copy(self, after: Advisor) -> "StreamAdvisorChain":
        """A fresh chain of the advisors after `after` (CHN-05)."""
        raise NotImplementedError

    @property
    def stream_advisors(self) -> "Sequence[StreamAdvisor]":
        """All stream advisors of this chain, whether they have run or not (CHN-02)."""
        raise NotImplementedError

    def next_stream(self, request: ChatClientRequest) -> AsyncIterator[ChatClientResponse]:
        """Let the next advisor answer `request` in chunks; the chain closes the iterator when the turn ends."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Close what this chain has opened, outermost first."""
        raise NotImplementedError


class CallAdvisor(Advisor, abstract=True):
    """An advisor that takes part in calls."""

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        """Answer `request`, usually by way of `await chain.next_call(request)`."""
        raise NotImplementedError


class StreamAdvisor(Advisor, abstract=True):
    """An advisor that takes part in streams."""

    def advise_stream(self, request: ChatClientRequest, chain: StreamAdvisorChain) -> AsyncIterator[ChatClientResponse]:
        """Answer `request` in chunks, usually by way of `async for chunk in chain.next_stream(request)`."""
        raise NotImplementedError


class MemoryAdvisor(Advisor, abstract=True):
    """Marks an advisor that keeps the conversation; inside the tool loop it takes over the history (TCR-16)."""


class ToolAdvisor(Advisor, abstract=True):
    """Marks the one advisor of a chain that executes tool calls."""


class BaseAdvisor(CallAdvisor, StreamAdvisor, abstract=True):
    """An advisor that changes requests on the way in and responses on the way out.

    Define `before`, `after`, or both, as `async def`. In a stream the chunks pass through as they arrive (R21); `after`
    gets their aggregate once, at the end, and what it changes of metadata and context goes out in a last chunk.
    """

    async def before(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        """The request to go on with."""
        return request

    async def after(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        """The response to go back with."""
        return response

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        """`before`, the rest of the chain, `after`."""
        request = given(self, "before", await self.before(request, chain), ChatClientRequest)
        response = await self.after(await chain.next_call(request), chain)
        return given(self, "after", response, ChatClientResponse)

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        """`before`, the chunks of the rest of the chain, then `after` with their aggregate."""
        request = given(self, "before", await self.before(request, chain), ChatClientRequest)
        aggregator = MessageAggregator()
        async for chunk in chain.next_stream(request):
            aggregator.add(chunk)
            yield chunk
        response = ChatClientResponse(aggregator.collected(), {**request.context, **aggregator.context})
        last = closing_chunk(response, given(self, "after", await self.after(response, chain), ChatClientResponse))
        if last is not None:
            yield last


def closing_chunk(before: ChatClientResponse, after: ChatClientResponse) -> ChatClientResponse | None:
    """The chunk that carries what was changed when all text has gone out: metadata and context, no generations."""
    if after is before:
        return None
    metadata = after.chat_response.metadata if after.chat_response is not None else None
    return ChatClientResponse(ChatResponse((), metadata) if metadata is not None else None, after.context)


def checked_order(order: int) -> int:
    """Refuse an order outside the bounds, both exclusive (TCA-02, TCA-03, SOV-01)."""
    if not HIGHEST_PRECEDENCE < order < LOWEST_PRECEDENCE:
        raise ValueError(
            f"advisor_order must be between HIGHEST_PRECEDENCE and LOWEST_PRECEDENCE (both exclusive), but is {order!r}"
        )
    return order


def given(owner: object, method: str, value: T, kind: type) -> T:
    """What `method` of `owner` gave, refused by their names unless it is of the wanted kind."""
    if not isinstance(value, kind):
        raise TypeError(f"{type(owner).__qualname__}.{method} gave {value!r}; a {kind.__name__} is wanted")
    return value


def refuse_other(name: str, value: object, kind: type) -> None:
    """Refuse `value` unless it is of the wanted kind."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"{name} is {value!r}; {article} {kind.__name__} is wanted")
