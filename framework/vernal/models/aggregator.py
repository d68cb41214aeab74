"""One response from the chunks of a stream."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, TypeVar, overload

from vernal.errors import UsageError
from vernal.values.exchange import ChatClientResponse
from vernal.values.messages import AssistantMessage, Media, ToolCall
from vernal.values.replay import WITHHELD_TOOL_CALLS, withhold_cut_off_calls
from vernal.values.responses import (
    CUT_OFF,
    ChatGenerationMetadata,
    ChatResponse,
    ChatResponseMetadata,
    Generation,
    RateLimit,
)
from vernal.values.usage import EMPTY_USAGE, Usage

Chunk = TypeVar("Chunk", ChatResponse, ChatClientResponse)


class MessageAggregator:
    """Collects the chunks of a stream, from a model or from a chat client, while they pass through.

    `for chunk in aggregator.over(model.stream(prompt)): …` (or `async for` over an asynchronous stream), then
    `aggregator.response`; `aggregator.context` has the merged contexts of a chat client's chunks (AGG-10).
    """

    def __init__(self) -> None:
        self.context: dict[str, Any] = {}
        self._last_context: dict[str, Any] | None = None
        self._last_metadata: ChatResponseMetadata | None = None
        self._generations: list[_Collected] = []
        self._id: str | None = None
        self._model: str | None = None
        self._usage: Usage = EMPTY_USAGE
        self._round_usages: tuple[Usage, ...] = ()
        self._rate_limit: RateLimit | None = None
        self._properties: dict[str, Any] = {}
        self._passing = False

    @overload
    def over(self, chunks: AsyncIterable[Chunk]) -> AsyncIterator[Chunk]: ...
    @overload
    def over(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]: ...
    def over(self, chunks: AsyncIterable[Any] | Iterable[Any]) -> AsyncIterator[Any] | Iterator[Any]:
        """Pass `chunks` through, collecting them; what an earlier stream left is forgotten (AGG-09)."""
        self.__init__()  # type: ignore[misc]  # the state of a new aggregator
        return self._async_over(chunks) if isinstance(chunks, AsyncIterable) else self._over(chunks)

    def add(self, chunk: ChatResponse | ChatClientResponse) -> None:
        """Collect one chunk."""
        if isinstance(chunk, ChatClientResponse):
            if chunk.context is not self._last_context:
                self._last_context = chunk.context
                self.context.update(chunk.context)
            if chunk.chat_response is None:
                return
            chunk = chunk.chat_response
        elif not isinstance(chunk, ChatResponse):
            raise TypeError(f"a chunk of a stream is {chunk!r}; a ChatResponse or a ChatClientResponse is wanted")
        for index, generation in enumerate(chunk.generations):
            if index == len(self._generations):
                self._generations.append(_Collected())
            self._generations[index].add(generation)
        if chunk.metadata is not self._last_metadata:
            self._last_metadata = chunk.metadata
            self._add_metadata(chunk.metadata)

    @property
    def usage(self) -> Usage:
        """The usage that has been reported so far."""
        return self._usage

    @property
    def response(self) -> ChatResponse:
        """The aggregate.

        Texts and reasoning are joined, tool calls and media appended in order (AGG-03, AGG-04); usage is, per count,
        the last that was reported (cache and reasoning counts included). Tool calls of a generation that was cut off
        are withheld (R6).

        Raises:
            UsageError: a stream that passes through `over` has not come to its end.
        """
        if self._passing:
            raise UsageError("the stream has not ended (or was left early): read it to its end, then ask for .response")
        return self.collected()

    def collected(self) -> ChatResponse:
        """The aggregate of what has been collected so far, also where the stream did not come to its end."""
        metadata = ChatResponseMetadata(
            self._id, self._model, self._usage, self._round_usages, self._rate_limit, self._properties
        )
        return withhold_cut_off_calls(ChatResponse(tuple(g.build() for g in self._generations), metadata))

    def _over(self, chunks: Iterable[Any]) -> Iterator[Any]:
        self._passing = True
        for chunk in chunks:
            self.add(chunk)
            yield chunk
        self._passing = False

    async def _async_over(self, chunks: AsyncIterable[Any]) -> AsyncIterator[Any]:
        self._passing = True
        async for chunk in chunks:
            self.add(chunk)
            yield chunk
        self._passing = False

    def _add_metadata(self, metadata: ChatResponseMetadata) -> None:
        self._id = metadata.id or self._id
        self._model = metadata.model or self._model
        if metadata.usage is not EMPTY_USAGE and not metadata.usage.is_empty:
            self._usage = _later(self._usage, metadata.usage)
        self._round_usages = metadata.round_usages or self._round_usages
        if metadata.rate_limit is not None and metadata.rate_limit != RateLimit():
            self._rate_limit = metadata.rate_limit
        if metadata.properties:
            self._properties.update(metadata.properties)


class _Collected:
    """One generation in the making."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[ToolCall] = []
        self._media: list[Media] = []
        self._message_metadata: dict[str, Any] = {}
        self._finish_reason: str | None = None
        self._native: str | None = None
        self._properties: dict[str, Any] = {}

    def add(self, generation: Generation) -> None:
        message, metadata = generation.output, generation.metadata
        if message.text is not None:
            self._text.append(message.text)
        if message.reasoning is not None:
            self._reasoning.append(message.reasoning)
        if message.tool_calls:
            self._calls += message.tool_calls
        if message.media:
            self._media += message.media
        if message.metadata:
            self._message_metadata.update(message.metadata)
        if metadata.finish_reason is not None and not self._has_cut_off_calls():
            self._finish_reason = metadata.finish_reason
            self._native = metadata.native_finish_reason
        if metadata.properties:
            self._properties.update(metadata.properties)

    def _has_cut_off_calls(self) -> bool:
        """Whether calls have been cut off: no later reason unsays that (R6)."""
        return self._finish_reason in CUT_OFF and bool(self._calls or WITHHELD_TOOL_CALLS in self._properties)

    def build(self) -> Generation:
        message = AssistantMessage(
            _joined(self._text) if self._text else None,
            tuple(self._calls),
            tuple(self._media),
            _joined(self._reasoning) if self._reasoning else None,
            self._message_metadata,
        )
        return Generation(message, ChatGenerationMetadata(self._finish_reason, self._native, self._properties))


def _joined(pieces: list[str]) -> str:
    """The pieces as one text; a character whose halves came in two of them, as some servers send it, is whole again."""
    text = "".join(pieces)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def _later(before: Usage, now: Usage) -> Usage:
    if before is EMPTY_USAGE:
        return now
    prompt = now.prompt_tokens or before.prompt_tokens
    completion = now.completion_tokens or before.completion_tokens
    total = now.total_tokens or before.total_tokens or 0
    if not (now.prompt_tokens and now.completion_tokens):  # input and output were told apart (R22)
        total = max(total, prompt + completion)
    return Usage(
        prompt,
        completion,
        total,
        before.cache_read_tokens if now.cache_read_tokens is None else now.cache_read_tokens,
        before.cache_write_tokens if now.cache_write_tokens is None else now.cache_write_tokens,
        before.reasoning_tokens if now.reasoning_tokens is None else now.reasoning_tokens,
        now.native if now.native is not None else before.native,
    )
