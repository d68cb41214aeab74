"""The interface to a chat model: a prompt in, a response or a stream of chunks out. It never runs a tool."""

from collections.abc import AsyncIterator
from typing import ClassVar

from vernal.models.aggregator import MessageAggregator
from vernal.runtime.faces import Face, TwoFaced
from vernal.runtime.portal import run_blocking
from vernal.runtime.streams import Stream
from vernal.values.options import ChatOptions
from vernal.values.prompt import Prompt
from vernal.values.responses import ChatResponse


class ChatModel(TwoFaced, abstract=True):
    """A chat model.

    Implement one of `call`, `acall`, `stream` and `astream`; the others follow: a missing stream is one chunk of the
    call, a missing call is the aggregate of the stream. A streamed tool call is emitted whole, in one chunk (AGG-04).

    `default_options` are what the model uses where a request sets nothing (model < client < request, R26).
    """

    __faces__: ClassVar = (
        Face("call", "acall", group="answer"),
        Face("stream", "astream", group="answer", stream=True),
    )

    native_structured_output: bool = False
    """Whether the model takes `output_schema` as an option; else the wanted form is asked for in words."""

    @property
    def service_name(self) -> str:
        """What the service is called in observations; by default the name of the class without `ChatModel`."""
        return type(self).__name__.removesuffix("ChatModel").lower() or "vernal"

    @property
    def default_options(self) -> ChatOptions | None:
        """The model's own options, under those of client and request; None where it has none."""
        return None

    def call(self, prompt: Prompt) -> ChatResponse:
        """Ask the model and wait for its whole answer."""
        return run_blocking(self.acall, prompt)

    async def acall(self, prompt: Prompt) -> ChatResponse:
        """Ask the model for its whole answer."""
        aggregator = MessageAggregator()
        async for _ in aggregator.over(self.astream(prompt)):
            pass
        return aggregator.response

    def stream(self, prompt: Prompt) -> Stream[ChatResponse]:
        """Ask the model and iterate the chunks of its answer as they arrive."""
        return Stream(lambda: self.astream(prompt))

    def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        """Ask the model for the chunks of its answer as they arrive."""
        return self._one_chunk(prompt)

    async def _one_chunk(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        yield await self.acall(prompt)
