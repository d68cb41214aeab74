"""One way to ask in all four forms: blocking and asynchronous, called and streamed."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from vernal.models.aggregator import MessageAggregator
from vernal.models.chat import ChatModel
from vernal.values.exchange import ChatClientResponse
from vernal.values.prompt import Prompt
from vernal.values.responses import ChatResponse

if TYPE_CHECKING:
    from vernal.client.spec import ChatClientRequestSpec


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


class Form(StrEnum):
    """A form of asking, named as the method that begins it: `@pytest.mark.parametrize("form", Form)`."""

    CALL = "call"
    ACALL = "acall"
    STREAM = "stream"
    ASTREAM = "astream"

    @property
    def is_stream(self) -> bool:
        """Whether the answer comes in chunks."""
        return self.endswith("stream")

    @property
    def is_async(self) -> bool:
        """Whether it is awaited."""
        return self.startswith("a")

    def ask(self, spec: "ChatClientRequestSpec") -> Outcome:
        """Run a client's request to its end, in a blocking form from here, in an asynchronous one on a new loop."""
        return Outcome.of(asyncio.run(self._achunks(spec)) if self.is_async else self._chunks(spec))

    def ask_model(self, model: ChatModel, prompt: Prompt) -> tuple[ChatResponse, ...]:
        """The chunks of a model's answer, read to the end; of a call the one response. From where as `ask`."""
        if self.is_async:
            return asyncio.run(self.aask_model(model, prompt))
        if not self.is_stream:
            return (model.call(prompt),)
        with model.stream(prompt) as chunks:
            return tuple(chunks)

    async def aask_model(self, model: ChatModel, prompt: Prompt) -> tuple[ChatResponse, ...]:
        """The same in the asynchronous face of the form, on the present loop."""
        if not self.is_stream:
            return (await model.acall(prompt),)
        return tuple([chunk async for chunk in model.astream(prompt)])

    def _chunks(self, spec: "ChatClientRequestSpec") -> list[ChatClientResponse]:
        if self.is_stream:
            with spec.stream().chat_client_response() as chunks:
                return list(chunks)
        return [spec.call().chat_client_response()]

    async def _achunks(self, spec: "ChatClientRequestSpec") -> list[ChatClientResponse]:
        if self.is_stream:
            async with spec.astream().chat_client_response() as chunks:
                return [chunk async for chunk in chunks]
        return [await spec.acall().chat_client_response()]
