"""Answers of Anthropic's service, whole and streamed, and its errors."""

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vernal import ModelError, Prompt
from vernal.http import (
    AuthenticationError,
    BadRequestError,
    BrokenStreamError,
    ContextLengthExceededError,
    OverloadedError,
    ProtocolError,
    QuotaExceededError,
    RateLimitError,
    RetryPolicy,
)
from vernal.testing.server import ReplayServer, Reply
from vernal_anthropic import AnthropicChatModel
from vernal_anthropic.messages import BLOCKS

if TYPE_CHECKING:
    from tests.plugins.anthropic.conftest import Events
    from tests.plugins.conftest import Service

USAGE = {"input_tokens": 5, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 3, "output_tokens": 9}
ONCE = RetryPolicy(max_attempts=1)


def answer(*blocks: dict[str, Any], stop: str = "end_turn", **more: Any) -> Reply:
    """A whole answer."""
    body = {"id": "m1", "type": "message", "model": "claude", "content": blocks, "stop_reason": stop, "usage": USAGE}
    return Reply.of_json(body, **more)


def text(words: str) -> dict[str, Any]:
    """A block of text, or its start."""
    return {"type": "text", "text": words}


def use(**more: Any) -> dict[str, Any]:
    """A call, or its start."""
    return {"type": "tool_use", "id": "a", "name": "clock", "input": {}, **more}


def test_an_answer_is_read_whole(service: "Service") -> None:
    """Text, call, model, finish reason; cached tokens are part of the input (USG)."""
    headers = {"request-id": "req1", "anthropic-ratelimit-requests-remaining": "7"}
    response = service.called(answer(text("Let me see."), use(), stop="tool_use", headers=headers))
    assert response.result is not None
    assert (response.text, response.metadata.id, response.metadata.model) == ("Let me see.", "m1", "claude")
    assert [(call.id, call.name, call.arguments) for call in response.tool_calls] == [("a", "clock", "{}")]
    assert (response.result.finish_reason, response.result.metadata.native_finish_reason) == ("tool_calls", "tool_use")
    usage = response.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (28, 9, 37)
    assert (usage.cache_read_tokens, usage.cache_write_tokens) == (20, 3)
    assert response.metadata.properties["request_id"] == "req1"
    assert response.metadata.rate_limit is not None
    assert response.metadata.rate_limit.requests_remaining == 7


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("something_new", "stop"),
    ],
)
def test_finish_reasons_have_one_vocabulary(service: "Service", events: "Events", raw: str, reason: str) -> None:
    """The service's own word stays beside it, in call and stream."""
    for reply, ask in (
        (answer(text("x"), stop=raw), service.called),
        (events.of((text("x"), []), stop=raw), service.streamed),
    ):
        result = ask(reply).result
        assert result is not None
        assert (result.finish_reason, result.metadata.native_finish_reason) == (reason, raw)


def test_a_stream_gives_text_and_thinking_as_they_come(service: "Service", events: "Events") -> None:
    """R21: a chunk for each piece; calls, usage and the blocks with their signature come in the last one."""
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    deltas = [{"type": "thinking_delta", "thinking": word} for word in ("H", "m")]
    signed = [*deltas, {"type": "signature_delta", "signature": "c2"}, {"type": "signature_delta", "signature": "ln"}]
    pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", '{"ci', 'ty": "Oslo"}')]
    said = [{"type": "text_delta", "text": "I look."}]
    chunks = service.chunks(events.of((thinking, signed), (text(""), said), (use(), pieces), stop="tool_use"))
    told = [(c.result.output.reasoning, c.result.output.text) for c in chunks[:-1] if c.result]
    assert told == [("H", None), ("m", None), (None, "I look.")]
    last = chunks[-1]
    assert [json.loads(call.arguments) for call in last.tool_calls] == [{"city": "Oslo"}]
    assert (last.usage.prompt_tokens, last.usage.completion_tokens) == (25, 9)
    assert last.result is not None
    blocks = last.result.output.metadata[BLOCKS]
    assert blocks[0] == {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}
    assert [block["type"] for block in blocks] == ["thinking", "text", "tool_use"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=6), max_size=5), st.integers(1, 50))
def test_a_stream_cut_anywhere_reads_like_a_whole_answer(
    service: "Service", events: "Events", words: list[str], size: int
) -> None:
    """R21: whatever the texts and wherever the network cuts the bytes, both ways of asking read the same."""
    deltas = [{"type": "text_delta", "text": word} for word in words]
    reply = events.of((text(""), deltas), (use(), [{"type": "input_json_delta", "partial_json": '{"a":1}'}]))
    body = b"".join(reply.pieces)
    cut = Reply([body[i : i + size] for i in range(0, len(body), size)], content_type="text/event-stream")
    streamed, called = service.streamed(cut), service.called(answer(text("".join(words)), use(input={"a": 1})))
    assert (streamed.text or "") == (called.text or "")
    assert [call.arguments for call in streamed.tool_calls] == [call.arguments for call in called.tool_calls]


def test_a_call_that_was_cut_off_does_not_run(service: "Service", events: "Events") -> None:
    """R6: at the limit of tokens half an input may be there; it stays the text that it is."""
    pieces = [{"type": "input_json_delta", "partial_json": '{"city": "Os'}]
    response = service.streamed(events.of((use(), pieces), stop="max_tokens"))
    assert response.result is not None
    assert response.result.finish_reason == "length"
    assert not response.has_tool_calls
    assert response.result.metadata.properties["withheldToolCalls"][0].arguments == '{"city": "Os'


def test_what_the_service_runs_itself_is_no_call_of_ours(service: "Service", events: "Events") -> None:
    """Its calls and results are kept for the next request; unknown kinds of blocks and events are passed over."""
    search = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []}
    cited = {"type": "citations_delta", "citation": {"url": "https://a"}}
    stream = events.of(
        (search, [{"type": "input_json_delta", "partial_json": '{"query":"x"}'}]),
        (found, []),
        (text(""), [cited, {"type": "text_delta", "text": "Found."}, {"type": "new_delta"}]),
        ({"type": "new_block"}, []),
    )
    response = service.streamed(
        Reply([*stream.pieces[:1], b"event: new\ndata: {}\n\n", *stream.pieces[1:]], content_type="text/event-stream")
    )
    assert response.text == "Found."
    assert not response.has_tool_calls
    assert response.result is not None
    blocks = response.result.output.metadata[BLOCKS]
    assert blocks[0]["input"] == {"query": "x"}
    assert blocks[2]["citations"] == ({"url": "https://a"},) or blocks[2]["citations"] == [{"url": "https://a"}]
    assert blocks[3] == {"type": "new_block"}


def test_a_stream_that_breaks_off_is_no_answer(service: "Service", events: "Events") -> None:
    """R20: without a reason why it ends it has not ended; with one, the last event may be missing."""
    said = (text(""), [{"type": "text_delta", "text": "Hel"}])
    with pytest.raises(BrokenStreamError, match="ended in the middle"):
        service.streamed(events.of(said, stop=None))
    whole = events.of(said)
    assert service.streamed(Reply(whole.pieces[:-1], content_type="text/event-stream")).text == "Hel"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("overloaded_error", OverloadedError),
        ("rate_limit_error", RateLimitError),
        ("invalid_request_error", BadRequestError),
    ],
)
def test_an_error_in_a_stream_has_its_class(
    service: "Service", events: "Events", name: str, kind: type[ModelError]
) -> None:
    """R19, R20: the error event says what it is, since there is no status any more."""
    error = {"type": "error", "error": {"type": name, "message": "No."}}
    start = {"type": "message_start", "message": {"id": "m1"}}
    with pytest.raises(kind) as caught:
        service.streamed(events.raw(start, error))
    assert (caught.value.type, caught.value.provider_message) == (name, "No.")


@pytest.mark.parametrize(
    ("status", "name", "message", "kind"),
    [
        (401, "authentication_error", "invalid x-api-key", AuthenticationError),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
            ContextLengthExceededError,
        ),
        (400, "invalid_request_error", "Your credit balance is too low to access the API.", QuotaExceededError),
        (413, "request_too_large", "Request exceeds the maximum size", BadRequestError),
        (429, "rate_limit_error", "Slow down.", RateLimitError),
        (529, "overloaded_error", "Overloaded", OverloadedError),
    ],
)
def test_refusals_have_their_class(
    service: "Service", status: int, name: str, message: str, kind: type[ModelError]
) -> None:
    """R19: with status, type, the service's words and the id of the request."""
    body = {"type": "error", "error": {"type": name, "message": message}, "request_id": "req1"}
    with pytest.raises(kind) as caught:
        service.called(Reply.of_json(body, status=status, headers={"request-id": "req1"}), retry=ONCE)
    error = caught.value
    assert (type(error), error.status, error.type, error.request_id) == (kind, status, name, "req1")
    assert "sk-secret" not in str(error)


@pytest.mark.parametrize("body", [b"[]", b'{"id": "m1"}', b'{"content": [1]}', b'{"content": [{"type": "tool_use"}]}'])
def test_an_answer_of_another_shape_is_a_protocol_error(service: "Service", body: bytes) -> None:
    """What cannot be read is said to be so, and shown."""
    with pytest.raises(ProtocolError):
        service.called(Reply([body]))


def test_key_and_version_go_out_as_the_service_wants_them(service: "Service") -> None:
    """A header of its own, or a bearer token for gateways; betas in one header."""

    async def asked(model: AnthropicChatModel, server: ReplayServer) -> dict[str, str]:
        await model.acall(Prompt("hi"))
        assert server.asked[0].path == "/v1/messages"
        return server.asked[0].headers

    own = service.against(answer(text("x")), ask=asked, betas=["a", "b"])
    assert (own["x-api-key"], own["anthropic-version"], own["anthropic-beta"]) == ("sk-secret", "2023-06-01", "a,b")
    bearer = service.against(answer(text("x")), ask=asked, bearer=True)
    assert (bearer["authorization"], "x-api-key" in bearer) == ("Bearer sk-secret", False)


def test_closing_a_stream_closes_the_connection(service: "Service", events: "Events") -> None:
    """What nobody reads any more is not paid for."""
    held = events.of((text(""), [{"type": "text_delta", "text": "Hel"}]), stop=None, hold=True)

    async def ask(model: AnthropicChatModel, server: ReplayServer) -> str | None:
        stream = model.astream(Prompt("hi"))
        first = await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]  # streams of models can be closed
        assert await asyncio.wait_for(server.gone.wait(), 5)
        return first.text

    assert service.against(held, ask=ask) == "Hel"
