"""How prompts and answers travel to and from Gemini's service. Imported with the first request."""

import dataclasses
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from vernal import ChatResponse, Exchange, Prompt
from vernal.http import Endpoint, Refusal, ServerSentEvent, decode_json, read_refusal
from vernal_gemini.replies import Reply
from vernal_gemini.requests import RequestWriter

END_MARK = b"[DONE]"
"""What some gateways send after the end, as other protocols do."""

_DELAY = re.compile(r"(\d+(?:\.\d+)?)s")


class GeminiExchange(Exchange):
    """Sends prompts to the service and reads its answers."""

    def __init__(self, endpoint: Endpoint, writer: RequestWriter) -> None:
        super().__init__(endpoint)
        self._writer = writer

    def request(self, prompt: Prompt, *, stream: bool) -> tuple[bytes, str]:
        """The body for `prompt`, and the path of its model."""
        body, model = self._writer.body(prompt)
        name = quote(model if "/" in model else f"models/{model}", safe="/")
        return body, f"/{name}:streamGenerateContent?alt=sse" if stream else f"/{name}:generateContent"

    def read(self, prompt: Prompt, content: bytes, headers: Mapping[str, str]) -> ChatResponse:
        """The response for a whole answer, also for the list of chunks that a stream without events is."""
        value, reply = decode_json(content), Reply(self.endpoint)
        for chunk in value if isinstance(value, list) and value else [value]:
            reply.add(self.checked(chunk, content))
        return reply.build()

    def assembler(self, prompt: Prompt, headers: Mapping[str, str]) -> "StreamAssembler":
        """What assembles a streamed answer."""
        return StreamAssembler(self)

    def checked(self, chunk: Any, content: bytes) -> Mapping[str, Any]:
        """A chunk that is one; an error in its place is raised (R20).

        Raises:
            ProtocolError: it is no object.
        """
        if not isinstance(chunk, Mapping):
            raise self.endpoint.misshapen(content)
        error = chunk.get("error")
        if error:
            code = error.get("code") if isinstance(error, Mapping) else None
            raise self.endpoint.refusal(content, status=code if isinstance(code, int) and 400 <= code < 600 else None)
        return chunk


class StreamAssembler:
    """Turns the chunks of one stream into responses; the stream has no end mark but the reason why each answer ends."""

    ended = False

    def __init__(self, exchange: GeminiExchange) -> None:
        self._exchange = exchange
        self._reply = Reply(exchange.endpoint)

    def add(self, event: ServerSentEvent) -> ChatResponse | None:
        """The response with the new text of a chunk."""
        payload = event[1]
        if payload.startswith(END_MARK):
            return None
        return self._reply.add(self._exchange.checked(self._exchange.endpoint.read_object(payload), payload))

    def finish(self) -> ChatResponse:
        """The last response: tool calls, finish reasons, usage, and the parts that go back unchanged.

        Raises:
            BrokenStreamError: the stream ended before the service said why the answer ends.
        """
        if not self._reply.ended:
            raise self._exchange.endpoint.broken("the stream ended in the middle of the answer")
        return self._reply.build(text=False)


def read_gemini_refusal(content: bytes) -> Refusal:
    """What an error says: its status as the type, and from its details the reason, and how long to wait."""
    refusal = read_refusal(content)
    details = [each for each in refusal.details.get("details") or () if isinstance(each, Mapping)]
    status = refusal.details.get("status")
    return dataclasses.replace(
        refusal,
        type=status if isinstance(status, str) else refusal.type,
        reason=_reason(details),
        retry_after=next((delay for each in details if (delay := _delay(each)) is not None), None),
    )


def _reason(details: list[Mapping[str, Any]]) -> str | None:
    for each in details:
        violations = [v for v in each.get("violations") or () if isinstance(v, Mapping)]
        if any("PerDay" in str(violation.get("quotaId")) for violation in violations):
            return "insufficient_quota"  # not healed within any time that a caller would wait
        if isinstance(each.get("reason"), str):
            return str(each["reason"])
    return None


def _delay(detail: Mapping[str, Any]) -> float | None:
    found = _DELAY.fullmatch(str(detail.get("retryDelay")))
    return float(found[1]) if found else None
