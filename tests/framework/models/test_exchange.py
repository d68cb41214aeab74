"""What every exchange does with what a service sends, whatever its protocol."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from vernal import AssistantMessage, ChatResponse, Exchange, Generation, Prompt, ServiceChatModel
from vernal.http import BrokenStreamError, ModelError, NdjsonReader, ProtocolError, ServerSentEvent
from vernal.testing.server import Reply, replaying

IDENTIFIED = {"x-request-id": "req_1"}


def said(text: str) -> ChatResponse:
    """A response with this text."""
    return ChatResponse([Generation(AssistantMessage(text))])


class Words:
    """Answers are `{"word": …}`, streamed one by one up to `{"end": true}`; other members are errors."""

    def __init__(self, exchange: Exchange) -> None:
        self.ended = False
        self._exchange = exchange
        self._last: Any = ""

    def add(self, event: ServerSentEvent) -> ChatResponse | None:
        """The next word."""
        told = self._exchange.endpoint.read_object(event[1])
        if "error" in told:
            raise self._exchange.endpoint.refusal(event[1])
        self.ended = "end" in told
        self._last = told.get("last", "")
        return None if self.ended else said(told["word"])

    def finish(self) -> ChatResponse:
        """The last word."""
        if not self.ended:
            raise self._exchange.endpoint.broken("too early")
        return said("".join(self._last))


class WordExchange(Exchange):
    """Reads words."""

    def request(self, prompt: Prompt, *, stream: bool) -> tuple[bytes, str]:
        """Always the same."""
        return b"{}", ""

    def read(self, prompt: Prompt, content: bytes, headers: Mapping[str, str]) -> ChatResponse:
        """One word."""
        return Words(self).add((b"", content)) or said("")

    def assembler(self, prompt: Prompt, headers: Mapping[str, str]) -> Words:
        """Word by word."""
        return Words(self)


class LineExchange(WordExchange):
    """Reads words from lines."""

    reader = NdjsonReader


class Model(ServiceChatModel):
    """Asks for words."""

    kind: type[Exchange] = WordExchange

    def connect(self) -> Exchange:
        """With nothing but the address."""
        return self.kind(self.endpoint(service="words", url=self._base_url, headers={}))


class LineModel(Model):
    """Asks for words in lines."""

    kind = LineExchange


def streamed(*pieces: bytes, content_type: str = "text/event-stream", model: type[Model] = Model) -> list[str]:
    """The texts of the streamed answer that these pieces are."""

    async def main() -> list[str]:
        async with replaying(Reply(pieces, content_type=content_type, headers=IDENTIFIED)) as server:
            return [chunk.text or "" async for chunk in model(base_url=server.url).astream(Prompt("hi"))]

    return asyncio.run(main())


@pytest.mark.parametrize("content_type", ["text/event-stream", "application/json", "text/plain", ""])
@pytest.mark.parametrize("begin", [b"", b"\xef\xbb\xbf", b"\n"])
def test_the_bytes_tell_whether_a_stream_came(content_type: str, begin: bytes) -> None:
    """A whole answer in the place of a stream is read as one, and a stream as a stream, whatever the type says."""
    assert streamed(begin + b'{"word": "a"}', content_type=content_type) == ["a"]
    events = begin + b'data: {"word": "a"}\n\n', b'data: {"end": 1}\n\n'
    assert streamed(*events, content_type=content_type) == ["a", ""]


@pytest.mark.parametrize("model", [Model, LineModel])
@pytest.mark.parametrize("content_type", ["text/event-stream", "application/json", "text/html"])
def test_a_page_in_the_place_of_an_answer_is_named(content_type: str, model: type[Model]) -> None:
    """What a wrong address answers with is no broken stream: the error shows it, and says what to check."""
    with pytest.raises(ProtocolError, match=r"begins with '<html>.*base URL") as caught:
        streamed(b"<html>Welcome</html>", content_type=content_type, model=model)
    assert caught.value.request_id == "req_1"


@pytest.mark.parametrize(
    "pieces",
    [
        (b'{"error": {"message": "no"}}',),
        (b'data: {"word": "a"}\n\n', b'data: {"error": {"message": "no"}}\n\n'),
        (b'data: {"word": "a"}\n\n', b'{"error": {"message": "no"}}\n'),
        (b'data: {"word": "a"}\n\n', b'data: {"error": "no"}'),
    ],
)
def test_errors_in_an_answer_have_the_id_of_the_request(pieces: tuple[bytes, ...]) -> None:
    """R28: what the service's support asks for, also where the error comes after the headers."""
    with pytest.raises(ModelError) as caught:
        streamed(*pieces)
    assert (caught.value.provider_message, caught.value.request_id) == ("no", "req_1")


def test_an_answer_that_cannot_be_put_together_is_misshapen() -> None:
    """Whatever the last step raises is an error of the protocol, never one of Python."""
    with pytest.raises(ProtocolError, match="begins with"):
        streamed(b'data: {"end": 1, "last": [5]}\n\n')


@pytest.mark.parametrize("model", [Model, LineModel])
def test_a_stream_without_anything_is_broken(model: type[Model]) -> None:
    """As it is where no content (204) comes."""
    with pytest.raises(BrokenStreamError, match="too early") as caught:
        streamed(model=model)
    assert caught.value.request_id == "req_1"


def test_an_empty_answer_is_named() -> None:
    """An answer without any byte is none."""

    async def main() -> None:
        async with replaying(Reply(status=204, headers=IDENTIFIED)) as server:
            await Model(base_url=server.url).acall(Prompt("hi"))

    with pytest.raises(ProtocolError, match="the answer is empty") as caught:
        asyncio.run(main())
    assert caught.value.request_id == "req_1"
