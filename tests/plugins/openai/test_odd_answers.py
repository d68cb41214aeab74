"""Answers in the forms that services of OpenAI's protocol really give them, call and stream, whole and in pieces."""

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from vernal import ChatResponse, ModelError
from vernal.http import BadRequestError, BrokenStreamError, ProtocolError, RateLimitError, RetryPolicy, ServiceError
from vernal.testing.server import Reply
from vernal_openai import OpenAiChatModel, OpenAiChatOptions

if TYPE_CHECKING:
    from tests.plugins.conftest import Service

ONCE = RetryPolicy(max_attempts=1)
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


@pytest.fixture
def service(service_of: "type[Service]") -> "Service":
    """Any compatible service and its model."""

    def make(**given: Any) -> OpenAiChatModel:
        return OpenAiChatModel(options=OpenAiChatOptions(model="m"), **given)

    return service_of(make, {"choices": [{"message": {"content": ""}}]})


def answer(finish: str | None = "stop", choice: dict[str, Any] | None = None, **message: Any) -> dict[str, Any]:
    """A whole answer."""
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish, **(choice or {})}]}


def part(finish: str | None = None, choice: dict[str, Any] | None = None, **delta: Any) -> dict[str, Any]:
    """A chunk."""
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish, **(choice or {})}]}


def streamed(service: "Service", *chunks: Any, done: bool = True) -> ChatResponse:
    """The streamed answer, which is the same however it is cut."""
    whole = b"".join(Reply.of_events(*chunks, done=done).pieces)
    read = service.streamed(Reply([whole], content_type="text/event-stream"))
    by_byte = Reply([bytes([byte]) for byte in whole], content_type="text/event-stream")
    assert service.streamed(by_byte) == read
    return read


def calls(response: ChatResponse) -> list[tuple[str, str, Any]]:
    """Id, name and arguments of the calls."""
    return [(call.id, call.name, json.loads(call.arguments or "{}")) for call in response.tool_calls]


def test_the_older_form_of_a_call_is_a_call(service: "Service") -> None:
    """`function_call` is a call without an id (which the engine gives, R8), whole and in pieces."""
    older = {"name": "f", "arguments": '{"a": 1}'}
    whole = service.called(Reply.of_json(answer("function_call", content=None, function_call=older)))
    pieces = [part(function_call=piece) for piece in ({"name": "f", "arguments": ""}, {"arguments": '{"a"'})]
    for response in (whole, streamed(service, *pieces, part("function_call", function_call={"arguments": ": 1}"}))):
        assert calls(response) == [("", "f", {"a": 1})]
        assert response.finish_reason == "tool_calls"
        assert response.result is not None
        assert "function_call" not in response.result.output.metadata


def test_content_in_parts_loses_nothing(service: "Service") -> None:
    """Texts, thoughts and refusals have their places, and a part of an unknown kind is kept as it came."""
    parts = [
        {"type": "text", "text": "a"},
        "b",
        {"type": "refusal", "refusal": "no"},
        {"type": "reference", "ids": [1]},
    ]
    whole = service.called(Reply.of_json(answer(content=parts)))
    for response in (whole, streamed(service, *(part(content=[each]) for each in parts), part("stop"))):
        assert response.result is not None
        assert response.text == "ab"
        kept = {"refusal": "no", "content_parts": [{"type": "reference", "ids": [1]}]}
        assert response.result.output.metadata == kept


@pytest.mark.parametrize(
    "last",
    [
        [{**part("stop", content="b"), "usage": USAGE}],
        [part("stop", {"usage": USAGE}, content="b"), part()],
        [part(content="b"), part("stop", {"usage": USAGE})],
        [part("stop", content="b"), {"choices": [], "usage": USAGE}],
        [part("stop", content="b"), {"usage": USAGE}],
        [{**part("stop", content="b"), "x_groq": {"usage": USAGE}}],
        [
            {
                **part("stop", content="b"),
                "usage": {**USAGE, "prompt_tokens_details": [], "completion_tokens_details": 1},
            }
        ],
    ],
)
def test_usage_counts_wherever_it_stands(service: "Service", last: list[dict[str, Any]]) -> None:
    """R22: beside text, in a choice, in a chunk of its own, and with details of another shape than the protocol's."""
    response = streamed(service, part(content="a"), *last)
    assert (response.text, response.usage.prompt_tokens, response.usage.total_tokens) == ("ab", 3, 5)


def test_usage_that_is_no_number_does_not_spoil_the_answer(service: "Service") -> None:
    """NaN, infinity and texts count as nothing said."""
    usage = b'{"prompt_tokens": NaN, "completion_tokens": 1e999, "total_tokens": "5"}'
    body = json.dumps(answer(content="a")).encode()[:-1] + b', "usage": %s}' % usage
    response = service.called(Reply([body]))
    assert (response.text, response.usage.prompt_tokens, response.usage.completion_tokens) == ("a", 0, 0)


def test_what_is_said_beside_text_is_kept(service: "Service") -> None:
    """OAI-12: members of the response that come only in later chunks, beside text; objects grow."""
    first = part(choice={"content_filter_results": {"hate": 1}}, content="a")
    later = {**part("stop", {"content_filter_results": {"self_harm": 2}}, content="b"), "citations": ["c"]}
    response = streamed(service, first, part(content="x"), later)
    assert response.result is not None
    assert response.metadata.properties["citations"] == ["c"]
    assert response.result.metadata.properties["content_filter_results"] == {"hate": 1, "self_harm": 2}


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        ({"object": "error", "message": "no", "type": "BadRequestError", "code": 400}, BadRequestError, "no"),
        ({"error": {"message": "no", "code": 429}}, RateLimitError, "no"),
        ({"error": "no"}, ServiceError, "no"),
        ({"message": "no"}, ServiceError, "no"),
        ({"detail": "no"}, ServiceError, "no"),
    ],
)
def test_an_error_in_the_place_of_an_answer_is_raised(
    service: "Service", error: dict[str, Any], kind: type[ModelError], message: str
) -> None:
    """Status 200 or not: in a whole answer, as a chunk, as a line of its own, and before any chunk."""
    line = Reply([b'data: {"choices": []}\n\n', json.dumps(error).encode() + b"\n"], content_type="text/event-stream")
    for ask, reply in (
        (service.called, Reply.of_json(error)),
        (service.streamed, Reply.of_json(error, content_type="text/event-stream")),
        (service.streamed, Reply.of_events(part(content="a"), error)),
        (service.streamed, line),
    ):
        with pytest.raises(kind) as caught:
            ask(reply, retry=ONCE)
        assert caught.value.provider_message == message


@pytest.mark.parametrize("raw", [b"", b"null", b"[]", b'"a"', b"<html>", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_answer_is_an_error_of_the_protocol(service: "Service", raw: bytes) -> None:
    """Never one of Python: whole, and as the only event of a stream."""
    with pytest.raises(ProtocolError):
        service.called(Reply([raw] if raw else []))
    with pytest.raises((ProtocolError, BrokenStreamError)):
        service.streamed(Reply([b"data: " + raw + b"\n\n"], content_type="text/event-stream"))


def test_a_compressed_answer_is_read(service: "Service") -> None:
    """Some proxies compress though nobody asked them to, also streams."""
    whole = gzip.compress(json.dumps(answer(content="é")).encode())
    events = gzip.compress(b"".join(Reply.of_events(part(content="é"), part("stop")).pieces))
    headers = {"content-encoding": "gzip"}
    assert service.called(Reply([whole], headers=headers)).text == "é"
    pieces = [events[:10], events[10:]]
    assert service.streamed(Reply(pieces, content_type="text/event-stream", headers=headers)).text == "é"


def test_marks_comments_and_line_ends_of_all_kinds(service: "Service") -> None:
    """A BOM, comments, CRLF, other fields, and bytes after the end mark change nothing."""
    events = b"\xef\xbb\xbf: hello\r\n\r\nid: 1\r\nretry: 5\r\ndata:%s\r\n\r\n: keep-alive\r\n\r\ndata: %s\r\n\r\n"
    body = events % (json.dumps(part(content="a")).encode(), json.dumps(part("stop")).encode())
    for end in (b"", b"data: [DONE]\r\n\r\ngarbage{", b"data:[DONE]\n\ndata: {}\n\n", b"data: [DONE]"):
        whole = body + end
        for pieces in ([whole], [bytes([byte]) for byte in whole]):
            assert service.streamed(Reply(pieces, content_type="text/event-stream")).text == "a"
