"""Answers as Gemini's service and the gateways before it really give them, and what goes back after them."""

import json
from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    AssistantMessage,
    ChatResponse,
    Prompt,
    ToolCall,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
    dump_messages,
    load_messages,
)
from vernal.http import BrokenStreamError, ModelError, OverloadedError, ProtocolError, RetryPolicy
from vernal.testing.server import Reply
from vernal_gemini.messages import PARTS

if TYPE_CHECKING:
    from tests.plugins.conftest import Service

ONCE = RetryPolicy(max_attempts=1)
EVENTS = "text/event-stream"


def chunk(*parts: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A response, or a chunk of one."""
    return {"candidates": [{"content": {"parts": list(parts)}, "finishReason": finish}], **more}


def streamed(service: "Service", *chunks: Any) -> ChatResponse:
    """The streamed answer, which is the same however it is cut, with CRLF, and as a list without events."""
    whole = b"".join(Reply.of_events(*chunks, done=False).pieces)
    read = service.streamed(Reply([whole], content_type=EVENTS))
    assert service.streamed(Reply([bytes([byte]) for byte in whole], content_type=EVENTS)) == read
    assert service.streamed(Reply([whole.replace(b"\n", b"\r\n")], content_type=EVENTS)) == read
    array = b"[" + b"\n,\r\n".join(json.dumps(each).encode() for each in chunks) + b"]"
    assert service.streamed(Reply([array])) == read
    return read


def test_usage_in_pieces_is_one(service: "Service") -> None:
    """R22: later chunks tell more of it, and do not unsay what they leave out."""
    first = chunk({"text": "a"}, usageMetadata={"promptTokenCount": 4, "thoughtsTokenCount": 2})
    last = chunk(finish="STOP", usageMetadata={"candidatesTokenCount": 3, "totalTokenCount": 9})
    usage = streamed(service, first, last, {"usageMetadata": {"promptTokenCount": 4}}).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (4, 5, 9)


def test_chunks_without_content_are_read(service: "Service") -> None:
    """Candidates without content or parts, arguments that are null, and chunks without candidates."""
    empty = {"candidates": [{"content": None, "finishReason": "STOP"}]}
    call = chunk({"functionCall": {"name": "f", "args": None}})
    response = streamed(service, {"modelVersion": "m"}, {"candidates": [{}]}, call, empty, {"candidates": None})
    assert [(each.name, each.arguments) for each in response.tool_calls] == [("f", "{}")]
    assert response.finish_reason == "tool_calls"


def test_the_end_mark_of_other_protocols_is_passed_over(service: "Service") -> None:
    """Gateways send it; it ends no answer that has no reason to end."""
    whole = list(Reply.of_events(chunk({"text": "a"}, finish="STOP"), done=True).pieces)
    assert service.streamed(Reply(whole, content_type=EVENTS)).text == "a"
    cut = list(Reply.of_events(chunk({"text": "a"}), done=True).pieces)
    with pytest.raises(BrokenStreamError):
        service.streamed(Reply(cut, content_type=EVENTS))


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}},
        [{"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}],
    ],
)
def test_an_error_in_the_place_of_an_answer_is_raised(service: "Service", error: Any) -> None:
    """Whole, in the place of a stream, in a list, and inside a stream."""
    inside = [b"data: " + json.dumps(chunk({"text": "a"})).encode() + b"\n\n"]
    replies = [Reply.of_json(error), Reply.of_json(error, content_type=EVENTS)]
    if isinstance(error, dict):
        replies.append(Reply([*inside, json.dumps(error).encode() + b"\n"], content_type=EVENTS))
    for reply in replies:
        with pytest.raises(OverloadedError, match="busy") as caught:
            service.streamed(reply, retry=ONCE)
        assert (caught.value.type, caught.value.code) == ("UNAVAILABLE", 503)


@pytest.mark.parametrize(
    "part",
    [
        {"text": 5},
        {"functionCall": {"name": 5}},
        {"functionCall": {"id": [1]}},
        {"inlineData": {"data": "é"}},
        {"functionCall": 1},
    ],
)
def test_parts_of_another_kind_are_an_error_of_the_protocol(service: "Service", part: dict[str, Any]) -> None:
    """Never one of Python, also where it shows only at the end."""
    for ask in (service.called, service.streamed):
        with pytest.raises(ModelError) as caught:
            ask(Reply.of_events(chunk(part, finish="STOP"), done=False) if ask == service.streamed else whole(part))
        assert type(caught.value) is ProtocolError


def whole(part: dict[str, Any]) -> Reply:
    """A whole answer with one part."""
    return Reply.of_json(chunk(part, finish="STOP"))


def test_signatures_come_back_through_json(service: "Service") -> None:
    """A suspended turn: arguments are what they were, and each signature stands on its own part."""
    arguments = {"a": [1, {"b": [None, "c"]}], "d": {}}
    parts: list[dict[str, Any]] = [
        {"text": "Hm", "thought": True},
        {"text": "", "thoughtSignature": "dGV4dA=="},
        {"functionCall": {"name": "f", "args": arguments}, "thoughtSignature": "Y2FsbA=="},
        {"functionCall": {"name": "g", "args": {}}},
    ]
    response = streamed(service, *map(chunk, parts), chunk(finish="STOP"))
    assert response.result is not None
    given = enumerate(response.tool_calls)
    calls = tuple(ToolCall(f"id{n}", call.name, call.arguments, metadata=call.metadata) for n, call in given)
    message: AssistantMessage = response.result.output.copy(tool_calls=calls)
    results = ToolResponseMessage([ToolResponse(call.id, call.name, "ok") for call in calls])
    history = load_messages(dump_messages([UserMessage("hi"), message, results]))
    contents = service.sent(Prompt(history))["contents"]
    assert contents[1]["parts"] == parts[1:]
    assert [part["functionResponse"] for part in contents[2]["parts"]] == [
        {"name": "f", "response": {"result": "ok"}},
        {"name": "g", "response": {"result": "ok"}},
    ]
    assert PARTS in message.metadata
