"""One model's dealings with its service. Imported with the first request: it loads httpx and pydantic-core."""

from collections.abc import AsyncIterator, Mapping
from typing import ClassVar, Protocol

from vernal.http.endpoint import MISSHAPEN, Endpoint
from vernal.http.errors import ModelError, ProtocolError
from vernal.http.headers import request_id
from vernal.http.sse import BOM, NdjsonReader, ServerSentEvent, SseReader
from vernal.values.prompt import Prompt
from vernal.values.responses import ChatResponse

_WHOLE = (b"{", b"[", b"<")
"""What documents begin with, and events never."""


class Assembler(Protocol):
    """Turns the events of one stream into responses: text as it arrives, all else in the last one (R21)."""

    ended: bool
    """Whether the end of the answer has been seen, so that nothing further is read of the stream."""

    def add(self, event: ServerSentEvent) -> ChatResponse | None:
        """The response with what is new in `event`, None where that is no content yet."""

    def finish(self) -> ChatResponse:
        """The last response: tool calls, finish reasons, usage.

        Raises:
            BrokenStreamError: the stream ended in the middle.
        """


class Exchange:
    """Sends prompts to one service and reads its answers; a subclass says how requests and answers are written.

    Whatever reading raises where an answer has another shape than it should (`MISSHAPEN`) becomes a `ProtocolError`.
    """

    reader: ClassVar[type[SseReader] | type[NdjsonReader]] = SseReader
    """What cuts a streamed answer into events."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    def request(self, prompt: Prompt, *, stream: bool) -> tuple[bytes, str]:
        """The body for `prompt`, and the path under the address of the endpoint."""
        raise NotImplementedError

    def read(self, prompt: Prompt, content: bytes, headers: Mapping[str, str]) -> ChatResponse:
        """The response that `content`, a whole answer, stands for."""
        raise NotImplementedError

    def assembler(self, prompt: Prompt, headers: Mapping[str, str]) -> Assembler:
        """What assembles a streamed answer to `prompt`."""
        raise NotImplementedError

    async def call(self, prompt: Prompt) -> ChatResponse:
        """The whole answer to `prompt`."""
        answer = await self.endpoint.post(*self.request(prompt, stream=False))
        try:
            return self._whole(prompt, answer.content, answer.headers)
        except ModelError as error:
            error.request_id = error.request_id or request_id(answer.headers)
            raise

    async def stream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        """The answer to `prompt` as it arrives; closing the iterator closes the connection (R20)."""
        stream = await self.endpoint.stream(*self.request(prompt, stream=True))
        try:
            if self.is_whole(stream.headers.get("content-type", ""), stream.begin):
                yield self._whole(prompt, await stream.read_all(), stream.headers)
                return
            reader, assembler = self.reader(), self.assembler(prompt, stream.headers)
            data, event = b"-", (b"", b"")
            while data and not assembler.ended:
                data = await stream.read()
                for event in reader.feed(data) if data else reader.close():
                    try:
                        response = assembler.add(event)
                    except MISSHAPEN as error:
                        raise self.endpoint.misshapen(event[1]) from error
                    except ProtocolError as error:
                        if data:
                            raise
                        raise self.endpoint.broken("the stream ended in the middle") from error  # what was left of it
                    if response is not None:
                        yield response
                    if assembler.ended:
                        break
            yield self._finish(assembler, event)
            if assembler.ended:
                await stream.drain()
        except ModelError as error:
            error.request_id = error.request_id or request_id(stream.headers)
            raise
        finally:
            await stream.aclose()

    def is_whole(self, content_type: str, begin: bytes) -> bool:
        """Whether an answer comes at once, though a stream was asked for: its first bytes tell, else its type.

        So are an error or a page in the place of a stream, and events whose type is given wrongly, read as what they
        are.
        """
        first = begin.removeprefix(BOM).lstrip()[:1]
        if self.reader is NdjsonReader:
            return first == b"<"
        return first in _WHOLE if first else "application/json" in content_type

    def _whole(self, prompt: Prompt, content: bytes, headers: Mapping[str, str]) -> ChatResponse:
        try:
            return self.read(prompt, content, headers)
        except MISSHAPEN as error:
            raise self.endpoint.misshapen(content) from error

    def _finish(self, assembler: Assembler, last: ServerSentEvent) -> ChatResponse:
        try:
            return assembler.finish()
        except MISSHAPEN as error:
            raise self.endpoint.misshapen(last[1]) from error
