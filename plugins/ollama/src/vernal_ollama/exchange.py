"""How prompts and answers travel to and from Ollama. Imported with the first request."""

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing

from vernal import ChatResponse, Exchange, Prompt
from vernal.http import Endpoint, NdjsonReader, NotFoundError
from vernal_ollama.pulling import pull_model
from vernal_ollama.replies import AnswerReader
from vernal_ollama.requests import RequestWriter

PATH = "/api/chat"


class OllamaExchange(Exchange):
    """Sends prompts to Ollama and reads its answers; a missing model is fetched where that is allowed."""

    reader = NdjsonReader

    def __init__(self, endpoint: Endpoint, writer: RequestWriter, *, pull: bool) -> None:
        super().__init__(endpoint)
        self._writer = writer
        self._pull = pull

    def request(self, prompt: Prompt, *, stream: bool) -> tuple[bytes, str]:
        """The body for `prompt`, and the path of chats."""
        return self._writer.body(prompt, stream=stream), PATH

    def read(self, prompt: Prompt, content: bytes, headers: Mapping[str, str]) -> ChatResponse:
        """The response for a whole answer; an error in its place is raised."""
        answer = AnswerReader(self.endpoint)
        return answer.build(answer.read(content))

    def assembler(self, prompt: Prompt, headers: Mapping[str, str]) -> AnswerReader:
        """What assembles a streamed answer."""
        return AnswerReader(self.endpoint)

    async def call(self, prompt: Prompt) -> ChatResponse:
        """The whole answer to `prompt`."""
        try:
            return await super().call(prompt)
        except NotFoundError as error:
            await self._fetch(prompt, error)
        return await super().call(prompt)

    async def stream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        """The answer to `prompt` as it arrives; closing the iterator closes the connection (R20)."""
        for may_fetch in (True, False):
            try:
                async with aclosing(super().stream(prompt)) as chunks:  # type: ignore[type-var]
                    async for chunk in chunks:
                        yield chunk
                return
            except NotFoundError as error:
                if not may_fetch:
                    raise
                await self._fetch(prompt, error)

    async def _fetch(self, prompt: Prompt, error: NotFoundError) -> None:
        """Fetch the model that is missing, or say how to."""
        model = self._writer.prepared(prompt).model
        if model not in error.provider_message:  # an address is missing, not a model
            raise error
        if not self._pull:
            error.cure = f"Run 'ollama pull {model}', or set VERNAL_OLLAMA__PULL=missing to have it fetched."
            raise error
        await pull_model(self.endpoint, model)
