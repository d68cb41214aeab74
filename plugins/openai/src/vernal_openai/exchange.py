"""How prompts and answers travel to and from a service of OpenAI's protocol. Imported with the first request."""

from collections.abc import Mapping
from typing import Any

from vernal import ChatResponse, Exchange, Generation, Prompt, ToolCall
from vernal.http import Endpoint, ServerSentEvent, decode_json, encode_json
from vernal_openai.addresses import Address
from vernal_openai.replies import ResponseHeaders, is_error, read_response
from vernal_openai.requests import Prepared, RequestWriter
from vernal_openai.schemas import without_added_nulls
from vernal_openai.streams import StreamAssembler

END_MARK = b"[DONE]"


class OpenAiExchange(Exchange):
    """Sends prompts to one service and reads its answers."""

    def __init__(self, endpoint: Endpoint, writer: RequestWriter, address: Address) -> None:
        super().__init__(endpoint)
        self.writer = writer
        self.address = address

    def request(self, prompt: Prompt, *, stream: bool) -> tuple[bytes, str]:
        """The body for `prompt`, and where it goes."""
        return self.writer.body(prompt, stream=stream), self.address.path(self.writer.prepared(prompt).model)

    def read(self, prompt: Prompt, content: bytes, headers: Mapping[str, str]) -> ChatResponse:
        """The response for a whole answer; an error in its place is raised."""
        body = self.endpoint.read_object(content)
        if is_error(body):
            raise self.endpoint.refusal(content, status=_status(body.get("error")))
        prepared = self.writer.prepared(prompt)
        response = read_response(
            body,
            service=self.endpoint.service,
            headers=ResponseHeaders(headers),
            audio_type=prepared.audio_type,
        )
        return relaxed(response, prepared)

    def assembler(self, prompt: Prompt, headers: Mapping[str, str]) -> "_Assembler":
        """What assembles a streamed answer."""
        return _Assembler(self, prompt, ResponseHeaders(headers))


def relaxed(response: ChatResponse, prepared: Prepared) -> ChatResponse:
    """The response without the nulls that strict schemas ask for in place of what was optional (OAI-11)."""
    if not prepared.strict or not response.has_tool_calls:
        return response
    schemas = {callback.definition.name: callback.definition.input_schema for callback in prepared.tool_callbacks}
    return response.copy(
        generations=tuple(
            Generation(
                generation.output.copy(
                    tool_calls=tuple(
                        _without_nulls(call, schemas.get(call.name, {})) for call in generation.output.tool_calls
                    )
                ),
                generation.metadata,
            )
            for generation in response.generations
        )
    )


def _without_nulls(call: ToolCall, schema: Mapping[str, Any]) -> ToolCall:
    try:
        arguments = decode_json(call.arguments)
    except ValueError:
        return call
    relaxed = without_added_nulls(arguments, schema)
    if relaxed == arguments:
        return call
    return ToolCall(call.id, call.name, encode_json(relaxed).decode(), call.type, call.metadata)


def _status(error: object) -> int | None:
    """The status that an error object names, where it comes with a status of success."""
    code = (error.get("status") or error.get("code")) if isinstance(error, Mapping) else None
    return code if isinstance(code, int) and 400 <= code < 600 else None


class _Assembler:
    """Reads the events of one stream; an error in the place of one is raised (R20)."""

    __slots__ = ("_chunks", "_exchange", "_prepared", "ended")

    def __init__(self, exchange: OpenAiExchange, prompt: Prompt, headers: ResponseHeaders) -> None:
        self._exchange, self._prepared = exchange, exchange.writer.prepared(prompt)
        self._chunks = StreamAssembler(exchange.endpoint.service, headers, self._prepared.audio_type)
        self.ended = False

    def add(self, event: ServerSentEvent) -> ChatResponse | None:
        name, payload = event
        if payload.startswith(END_MARK):
            self.ended = True
            return None
        endpoint = self._exchange.endpoint
        if name == b"error":
            raise endpoint.refusal(payload)
        chunk = endpoint.read_object(payload)
        if is_error(chunk):
            raise endpoint.refusal(payload)
        return self._chunks.add(chunk)

    def finish(self) -> ChatResponse:
        return relaxed(self._chunks.finish(end_mark=self.ended), self._prepared)
