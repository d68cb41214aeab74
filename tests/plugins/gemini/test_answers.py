"""Answers of Gemini's service, whole and streamed, and its errors."""

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vernal import ModelError, Prompt
from vernal.http import (
    AuthenticationError,
    BrokenStreamError,
    NotFoundError,
    OverloadedError,
    ProtocolError,
    QuotaExceededError,
    RateLimitError,
    RetryPolicy,
)
from vernal.testing.server import ReplayServer, Reply
from vernal_gemini import GeminiChatModel, GeminiChatOptions
from vernal_gemini.messages import PARTS

if TYPE_CHECKING:
    from tests.plugins.conftest import Service

USAGE = {"promptTokenCount": 20, "candidatesTokenCount": 5, "thoughtsTokenCount": 7, "totalTokenCount": 32}
ONCE = RetryPolicy(max_attempts=1)


def chunk(*parts: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A response, or a chunk of one."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": "gemini", "responseId": "r1", **more}


def stream(*chunks: dict[str, Any], **more: Any) -> Reply:
    """A streamed response."""
    return Reply.of_events(*chunks, done=False, **more)


def call(**more: Any) -> dict[str, Any]:
    """A part with a call."""
    return {"functionCall": {"name": "clock", "args": {"a": 1}}, **more}


def test_an_answer_is_read_whole(service: "Service") -> None:
    """Text, call, thoughts, model, finish reason; thinking is output, cached tokens are input (USG)."""
    parts = ({"text": "Hm", "thought": True}, {"text": "Let me see."}, call(thoughtSignature="c2ln"))
    usage = {**USAGE, "cachedContentTokenCount": 16}
    response = service.called(Reply.of_json(chunk(*parts, finish="STOP", usageMetadata=usage)))
    assert response.result is not None
    output = response.result.output
    assert (output.text, output.reasoning) == ("Let me see.", "Hm")
    assert (response.metadata.id, response.metadata.model) == ("r1", "gemini")
    (asked,) = response.tool_calls
    assert (asked.id, asked.name, json.loads(asked.arguments)) == ("", "clock", {"a": 1})
    assert asked.metadata["thoughtSignature"] == "c2ln"
    assert (response.result.finish_reason, response.result.metadata.native_finish_reason) == ("tool_calls", "STOP")
    given = response.usage
    assert (given.prompt_tokens, given.completion_tokens, given.total_tokens) == (20, 12, 32)
    assert (given.reasoning_tokens, given.cache_read_tokens) == (7, 16)
    assert [list(part) for part in output.metadata[PARTS]] == [["text"], ["functionCall", "thoughtSignature"]]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("SOMETHING_NEW", "stop"),
    ],
)
def test_finish_reasons_have_one_vocabulary(service: "Service", raw: str, reason: str) -> None:
    """The service's own word stays beside it, in call and stream; a filtered answer may have no content at all."""
    empty = {"candidates": [{"finishReason": raw, "index": 0, "safetyRatings": []}]}
    for response in (service.called(Reply.of_json(empty)), service.streamed(stream(empty))):
        assert response.result is not None
        assert (response.result.finish_reason, response.result.metadata.native_finish_reason) == (reason, raw)
        assert "safetyRatings" in response.result.metadata.properties


def test_a_blocked_prompt_is_an_answer_without_text(service: "Service") -> None:
    """Why it was blocked is the native reason, and what the service says to it a property."""
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}}
    for response in (service.called(Reply.of_json(blocked)), service.streamed(stream(blocked))):
        assert response.result is not None
        assert (response.text, response.result.finish_reason) == (None, "content_filter")
        assert response.result.metadata.native_finish_reason == "SAFETY"
        assert response.metadata.properties["promptFeedback"]["blockReason"] == "SAFETY"
        assert response.usage.prompt_tokens == 4


def test_a_stream_gives_text_and_thoughts_as_they_come(service: "Service") -> None:
    """R21: a chunk for each piece; calls, usage and signed parts come in the last one."""
    reply = stream(
        chunk({"text": "Hm", "thought": True}),
        chunk({"text": "Let "}),
        chunk({"text": "me see."}),
        chunk(call(thoughtSignature="c2ln")),
        chunk({"text": "", "thoughtSignature": "ZW5k"}, finish="STOP"),
    )
    chunks = service.chunks(reply)
    told = [(c.result.output.reasoning, c.result.output.text) for c in chunks[:-1] if c.result]
    assert told == [("Hm", None), (None, "Let "), (None, "me see.")]
    last = chunks[-1].result
    assert last is not None
    assert last.finish_reason == "tool_calls"
    parts = [dict(part) for part in last.output.metadata[PARTS]]
    assert parts[0] == {"text": "Let me see."}
    assert parts[2] == {"text": "", "thoughtSignature": "ZW5k"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=6), max_size=5), st.integers(1, 50))
def test_a_stream_cut_anywhere_reads_like_a_whole_answer(service: "Service", words: list[str], size: int) -> None:
    """R21: whatever the texts and wherever the network cuts the bytes, both ways of asking read the same."""
    reply = stream(*(chunk({"text": word}) for word in words), chunk(call(), finish="STOP"))
    body = b"".join(reply.pieces).replace(b"\n", b"\r\n")
    cut = Reply([body[i : i + size] for i in range(0, len(body), size)], content_type="text/event-stream")
    streamed = service.streamed(cut)
    called = service.called(Reply.of_json(chunk({"text": "".join(words)}, call(), finish="STOP")))
    assert (streamed.text or "") == (called.text or "")
    assert [each.arguments for each in streamed.tool_calls] == [each.arguments for each in called.tool_calls]
    assert streamed.usage == called.usage


def test_a_stream_that_is_a_list_reads_too(service: "Service") -> None:
    """Gateways that drop the query get the chunks as one JSON list."""
    body = json.dumps([chunk({"text": "Hel"}), chunk({"text": "lo"}, finish="STOP")]).encode()
    response = service.streamed(Reply([body]))
    assert (response.text, response.usage.total_tokens) == ("Hello", 32)


def test_several_candidates_are_several_generations(service: "Service") -> None:
    """Each has its place, streamed or not."""
    second = {"content": {"parts": [{"text": "B"}]}, "index": 1, "finishReason": "STOP"}
    first = chunk({"text": "A"}, finish="STOP")["candidates"][0]
    for response in (
        service.called(Reply.of_json({"candidates": [first, second]})),
        service.streamed(stream({"candidates": [second]}, {"candidates": [first]})),
    ):
        assert [generation.output.text for generation in response.generations] == ["A", "B"]


def test_media_that_the_model_makes_are_media_of_the_message(service: "Service") -> None:
    """Bytes, with their type; they go back on the part that they came on."""
    part = {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}}
    response = service.called(Reply.of_json(chunk(part, finish="STOP")))
    assert response.result is not None
    (medium,) = response.result.output.media
    assert (medium.mime_type, medium.data) == ("image/png", b"\x89PNG")


def test_a_stream_that_breaks_off_is_no_answer(service: "Service") -> None:
    """R20: without a reason why it ends it has not ended."""
    with pytest.raises(BrokenStreamError, match="ended in the middle"):
        service.streamed(stream(chunk({"text": "Hel"})))


def test_an_error_in_a_stream_has_its_class(service: "Service") -> None:
    """R20: its code tells, since there is no status any more."""
    error = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
    with pytest.raises(OverloadedError, match="overloaded"):
        service.streamed(stream(chunk({"text": "Hel"}), error))


def violation(quota: str) -> dict[str, Any]:
    """What a quota failure says."""
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]}


@pytest.mark.parametrize(
    ("status", "name", "details", "kind", "delay"),
    [
        (400, "INVALID_ARGUMENT", [{"reason": "API_KEY_INVALID"}], AuthenticationError, None),
        (404, "NOT_FOUND", [], NotFoundError, None),
        (429, "RESOURCE_EXHAUSTED", [violation("PerMinute"), {"retryDelay": "34.4s"}], RateLimitError, 34.4),
        (429, "RESOURCE_EXHAUSTED", [violation("RequestsPerDay"), {"retryDelay": "3s"}], QuotaExceededError, 3.0),
        (503, "UNAVAILABLE", [], OverloadedError, None),
    ],
)
@pytest.mark.parametrize("listed", [False, True])
def test_refusals_have_their_class(
    service: "Service", status: int, name: str, details: list[Any], kind: type[ModelError], delay: float, listed: bool
) -> None:
    """R19: with status, type, code and the time to wait; a stream's error is an object or a list with one."""
    body: Any = {"error": {"code": status, "message": "No.", "status": name, "details": details}}
    with pytest.raises(kind) as caught:
        service.chunks(Reply.of_json([body] if listed else body, status=status), retry=ONCE)
    error = caught.value
    assert (type(error), error.status, error.type, error.code, error.retry_after) == (kind, status, name, status, delay)
    assert error.provider_message == "No."


@pytest.mark.parametrize(
    "body", [b"[1]", b"{}", b'{"candidates": [1]}', b'{"candidates": [{"content": {"parts": [3]}}]}']
)
def test_an_answer_of_another_shape_is_a_protocol_error(service: "Service", body: bytes) -> None:
    """What cannot be read is said to be so, and shown."""
    with pytest.raises(ProtocolError):
        service.called(Reply([body]))


def test_model_and_key_go_out_as_the_service_wants_them(service: "Service") -> None:
    """The model is in the path, with its own folder where it has one; the key is in a header, never in the address."""

    async def asked(model: GeminiChatModel, server: ReplayServer) -> list[str]:
        await model.acall(Prompt("hi"))
        await model.acall(Prompt("hi", GeminiChatOptions(model="tunedModels/mine")))
        [_ async for _ in model.astream(Prompt("hi"))]
        assert {request.headers["x-goog-api-key"] for request in server.asked} == {"sk-secret"}
        return [request.path for request in server.asked]

    replies = [Reply.of_json(chunk(finish="STOP"))] * 2 + [stream(chunk(finish="STOP"))]
    assert service.against(*replies, ask=asked) == [
        "/v1/models/gemini-2.5-flash:generateContent",
        "/v1/tunedModels/mine:generateContent",
        "/v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    ]


def test_closing_a_stream_closes_the_connection(service: "Service") -> None:
    """What nobody reads any more is not paid for."""

    async def ask(model: GeminiChatModel, server: ReplayServer) -> str | None:
        answer = model.astream(Prompt("hi"))
        first = await anext(answer)
        await answer.aclose()  # type: ignore[attr-defined]  # streams of models can be closed
        assert await asyncio.wait_for(server.gone.wait(), 5)
        return first.text

    assert service.against(stream(chunk({"text": "Hel"}), hold=True), ask=ask) == "Hel"
