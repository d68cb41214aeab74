"""Answers that were not streamed, their headers and errors."""

from typing import Any

import httpx
import pytest

from vernal import RateLimit, Usage
from vernal.http import ProtocolError
from vernal_openai.replies import ResponseHeaders, finish_reason, read_response, read_usage


def read(message: dict[str, Any], finish: str | None = "stop", **root: Any) -> Any:
    """The response for a body with one choice."""
    body = {"choices": [{"index": 0, "message": message, "finish_reason": finish}], **root}
    return read_response(body, service="test", headers=ResponseHeaders({}))


@pytest.mark.parametrize(
    ("raw", "native", "calls", "meaning"),
    [
        ("stop", None, False, "stop"),
        ("stop", None, True, "tool_calls"),
        (None, None, False, "stop"),
        ("", None, True, "tool_calls"),
        ("weird", None, False, "stop"),
        ("weird", None, True, "tool_calls"),
        ("tool_calls", None, True, "tool_calls"),
        ("tool_calls", "max_tokens", True, "length"),
        ("length", None, True, "length"),
        ("model_length", None, False, "length"),
        ("content_filter", None, False, "content_filter"),
        ("insufficient_system_resource", None, False, "error"),
    ],
)
def test_finish_reasons_have_one_meaning(raw: str | None, native: str | None, calls: bool, meaning: str) -> None:
    """Whatever a service calls it: calls make a tool turn, a cut is a cut, and the unknown is a plain end."""
    assert finish_reason(raw, native, calls) == meaning


def test_the_raw_reason_is_kept() -> None:
    """The service's own word stands beside the meaning, what else it says of the choice among the properties."""
    generation = read({"content": "a"}, "weird").result
    assert (generation.finish_reason, generation.metadata.native_finish_reason) == ("stop", "weird")


def test_content_in_parts_is_text_and_reasoning() -> None:
    """A list of parts, as Mistral sends it, is read like its plain forms (OAI-08)."""
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "144"}]
    output = read({"content": parts}).result.output
    assert (output.text, output.reasoning) == ("144", "hm")


def test_an_empty_list_of_calls_is_no_tool_turn() -> None:
    """`tool_calls: []` and `null` beside text mean nothing; a missing id is left to the engine (R8)."""
    assert not read({"content": "a", "tool_calls": []}).has_tool_calls
    assert not read({"content": "a", "tool_calls": None}).has_tool_calls
    (call,) = read({"content": None, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}).tool_calls
    assert (call.id, call.type, call.arguments) == ("", "function", '{"a":1}')


def test_what_the_service_says_beyond_the_protocol_is_kept() -> None:
    """OAI-12: unmapped members land in metadata, null and empty ones do not."""
    response = read({"content": "a", "refusal": None, "annotations": []}, created=7, system_fingerprint=None)
    assert response.metadata.properties == {"created": 7}
    assert response.result.output.metadata == {}
    assert read({"content": None, "refusal": "no"}).result.output.metadata == {"refusal": "no"}


def test_usage_has_its_parts() -> None:
    """R22: cached and reasoning tokens are read under all their names, the service's own object is kept."""
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    assert read_usage({"usage": usage}) == Usage(10, 5, 15, 4, 2, 3, usage)
    assert read_usage({"usage": {"prompt_tokens": 1, "prompt_cache_hit_tokens": 1}}).cache_read_tokens == 1
    assert read_usage({"usage": None}).is_empty
    assert read_usage({"usage": None, "x_groq": {"usage": {"prompt_tokens": 1}}}).prompt_tokens == 1


def test_limits_and_request_id_are_read_from_headers() -> None:
    """What the service says of the caller's limits: counts, and resets in seconds."""
    headers = ResponseHeaders(
        httpx.Headers(
            {
                "X-RateLimit-Limit-Requests": "60",
                "x-ratelimit-remaining-requests": "59",
                "x-ratelimit-reset-requests": "6m0.5s",
                "x-ratelimit-remaining-tokens": "many",
                "x-ratelimit-reset-tokens": "20ms",
                "x-request-id": "req_1",
            }
        )
    )
    assert headers.rate_limit == RateLimit(60, 59, 360.5, None, None, 0.02)
    assert headers.properties == {"request_id": "req_1"}
    assert ResponseHeaders({}).rate_limit is None


def test_an_answer_without_choices_is_no_answer() -> None:
    """A body of another kind is an error that says what it has."""
    with pytest.raises(ProtocolError, match=r"no choices, but \['object'\]"):
        read_response({"object": "list"}, service="test", headers=ResponseHeaders({}))
