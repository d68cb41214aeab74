"""One way to ask in all four forms: blocking and asynchronous, called and streamed."""

import asyncio
from dataclasses import dataclass

from vernal import ChatClientRequestSpec, ChatClientResponse, ChatResponse, MessageAggregator


@dataclass(frozen=True)
class Outcome:
    """What came of a turn; of a called one `chunks` is the one response, of a streamed one the rest is the aggregate.

    `text` is what a reader has seen: the texts of all chunks, in order.
    """

    text: str
    chat_response: ChatResponse
    client_response: ChatClientResponse
    chunks: tuple[ChatClientResponse, ...]

    @classmethod
    def of(cls, chunks: list[ChatClientResponse]) -> "Outcome":
        """The outcome of a turn with these chunks."""
        aggregator = MessageAggregator()
        for chunk in aggregator.over(chunks):
            assert isinstance(chunk, ChatClientResponse)
        text = "".join(chunk.text or "" for chunk in chunks)
        if len(chunks) == 1:
            [whole] = chunks
            return cls(text, whole.chat_response or ChatResponse(), whole, tuple(chunks))
        response = ChatClientResponse(aggregator.response, aggregator.context)
        return cls(text, aggregator.response, response, tuple(chunks))


@dataclass(frozen=True)
class Form:
    """A form of asking: `name` is the method of the request that begins it."""

    name: str

    @property
    def is_stream(self) -> bool:
        """Whether the answer comes in chunks."""
        return self.name.endswith("stream")

    @property
    def is_async(self) -> bool:
        """Whether it is awaited."""
        return self.name.startswith("a")

    def ask(self, spec: ChatClientRequestSpec) -> Outcome:
        """Run the request to its end, in a blocking form from here, in an asynchronous one on an event loop."""
        return Outcome.of(asyncio.run(self._achunks(spec)) if self.is_async else self._chunks(spec))

    def _chunks(self, spec: ChatClientRequestSpec) -> list[ChatClientResponse]:
        if self.is_stream:
            with spec.stream().chat_client_response() as chunks:
                return list(chunks)
        return [spec.call().chat_client_response()]

    async def _achunks(self, spec: ChatClientRequestSpec) -> list[ChatClientResponse]:
        if self.is_stream:
            async with spec.astream().chat_client_response() as chunks:
                return [chunk async for chunk in chunks]
        return [await spec.acall().chat_client_response()]


FORMS = ("call", "acall", "stream", "astream")
