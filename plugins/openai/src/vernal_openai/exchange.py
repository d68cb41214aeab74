"""One model's dealings with its service. Imported with the first request: it loads httpx and pydantic-core."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from vernal import ChatResponse, Generation, Prompt, ToolCall
from vernal.http import MISSHAPEN, Endpoint, ProtocolError, SseReader, decode_json, encode_json
from vernal_openai.replies import ResponseHeaders, read_response
from vernal_openai.requests import RequestWriter
from vernal_openai.schemas import without_added_nulls
from vernal_openai.streams import StreamAssembler

END_MARK = b"[DONE]"


class Exchange:
    """Sends prompts to one service and reads its answers."""

    def __init__(self, endpoint: Endpoint, writer: RequestWriter) -> None:
        self._endpoint = endpoint
        self._writer = writer

    async def call(self, prompt: Prompt) -> ChatResponse:
        """The whole answer to `prompt`."""
        answer = await self._endpoint.post(self._writer.body(prompt))
        return self._whole(prompt, answer.content, ResponseHeaders(answer.headers.raw))

    async def stream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        """The answer to `prompt` as it arrives; closing the iterator closes the connection (OAI-10)."""
        stream = await self._endpoint.stream(self._writer.body(prompt, stream=True))
        try:
            headers = ResponseHeaders(stream.headers.raw)
            if "application/json" in stream.headers.get("content-type", ""):
                yield self._whole(prompt, await stream.read_all(), headers)  # a service that does not stream
                return
            reader, assembler = SseReader(), StreamAssembler(self._endpoint.service, headers)
            data, end_mark = b"-", False
            while data and not end_mark:
                data = await stream.read()
                for name, payload in reader.feed(data) if data else reader.close():
                    if payload.startswith(END_MARK):
                        end_mark = True
                        break
                    response = self._next(assembler, name, payload, last=not data)
                    if response is not None:
                        yield response
            yield self._relaxed(prompt, assembler.finish(end_mark=end_mark))
            if end_mark:
                await stream.drain()
        finally:
            await stream.aclose()

    def _whole(self, prompt: Prompt, content: bytes, headers: ResponseHeaders) -> ChatResponse:
        body = self._endpoint.read_object(content)
        if body.get("error"):
            raise self._endpoint.refusal(content, status=_status(body["error"]))
        try:
            response = read_response(body, service=self._endpoint.service, headers=headers)
        except MISSHAPEN as error:
            raise self._endpoint.misshapen(content) from error
        return self._relaxed(prompt, response)

    def _next(self, assembler: StreamAssembler, name: bytes, payload: bytes, *, last: bool) -> ChatResponse | None:
        """What one event of a stream gives; an error in its place is raised (R20)."""
        if name == b"error":
            raise self._endpoint.refusal(payload)
        try:
            chunk = self._endpoint.read_object(payload)
        except ProtocolError as error:
            if last:  # what is left when the bytes end
                raise self._endpoint.broken("the stream ended in the middle") from error
            raise
        if chunk.get("error"):
            raise self._endpoint.refusal(payload)
        try:
            return assembler.add(chunk)
        except MISSHAPEN as error:
            raise self._endpoint.misshapen(payload) from error

    def _relaxed(self, prompt: Prompt, response: ChatResponse) -> ChatResponse:
        """The response without the nulls that strict schemas ask for in place of what was optional (OAI-11)."""
        if not response.has_tool_calls or not (prepared := self._writer.prepared(prompt)).strict:
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
