"""Answers as Anthropic's service and the gateways before it really give them, and what goes back after them."""

import json
from typing import TYPE_CHECKING, Any

import pytest

from vernal import AssistantMessage, ChatResponse, Prompt, ToolCall, UserMessage, dump_messages, load_messages
from vernal.http import BrokenStreamError, OverloadedError, ProtocolError, RetryPolicy
from vernal.testing.server import Reply
from vernal_anthropic.messages import BLOCKS

if TYPE_CHECKING:
    from tests.plugins.anthropic.conftest import Events
    from tests.plugins.conftest import Service

ONCE = RetryPolicy(max_attempts=1)
TEXT = {"type": "text", "text": ""}
START = {"type": "message_start", "message": {"id": "m1", "usage": {"input_tokens": 5, "output_tokens": 1}}}
STOP = {"type": "message_stop"}


def begin(index: int | None, block: dict[str, Any]) -> dict[str, Any]:
    """The start of a block; `index` None is left out."""
    return {"type": "content_block_start", **({} if index is None else {"index": index}), "content_block": block}


def piece(index: int | None, kind: str, **delta: Any) -> dict[str, Any]:
    """A piece of a block."""
    place = {} if index is None else {"index": index}
    return {"type": "content_block_delta", **place, "delta": {"type": f"{kind}_delta", **delta}}


def end(reason: str = "end_turn", **more: Any) -> dict[str, Any]:
    """Why the answer ends."""
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}, **more}


def use(**more: Any) -> dict[str, Any]:
    """A call, or its start."""
    return {"type": "tool_use", "id": "a", "name": "clock", "input": {}, **more}


def streamed(service: "Service", reply: Reply) -> ChatResponse:
    """The streamed answer, which is the same however it is cut."""
    read = service.streamed(reply)
    by_byte = [bytes([byte]) for byte in b"".join(reply.pieces)]
    assert service.streamed(Reply(by_byte, content_type="text/event-stream")) == read
    return read


def next_content(service: "Service", message: AssistantMessage) -> Any:
    """The content of an assistant message in the next request, after it was kept as JSON."""
    history = load_messages(dump_messages([UserMessage("hi"), message, UserMessage("and?")]))
    sent = service.sent(Prompt(history))["messages"]
    return sent[1]["content"] if len(sent) == 3 else []


@pytest.mark.parametrize("index", [0, None])
def test_blocks_that_are_counted_wrongly_keep_their_order(
    service: "Service", events: "Events", index: int | None
) -> None:
    """Gateways give every block the same index, or none."""
    reply = events.raw(
        START,
        begin(index, TEXT),
        piece(index, "text", text="a"),
        begin(index, use(id="x")),
        piece(index, "input_json", partial_json='{"a": 1}'),
        begin(index, use(id="y")),
        end("tool_use"),
        STOP,
    )
    response = streamed(service, reply)
    assert response.text == "a"
    assert [(call.id, json.loads(call.arguments)) for call in response.tool_calls] == [("x", {"a": 1}), ("y", {})]


def test_pieces_without_a_beginning_are_read(service: "Service", events: "Events") -> None:
    """Text and thinking say themselves what they are; a piece of an unknown block is an error of the protocol."""
    reply = events.raw(START, piece(0, "thinking", thinking="hm"), piece(1, "text", text="a"), end(), STOP)
    response = streamed(service, reply)
    assert response.result is not None
    assert (response.text, response.result.output.reasoning) == ("a", "hm")
    with pytest.raises(ProtocolError):
        service.streamed(events.raw(START, piece(0, "input_json", partial_json="{}"), end(), STOP))


def test_the_end_mark_of_other_protocols_is_passed_over(service: "Service", events: "Events") -> None:
    """OpenRouter sends it after the end; it ends no answer that has no reason to end."""
    mark = b"event: data\ndata: [DONE]\n\n"
    text = [START, begin(0, TEXT), piece(0, "text", text="a")]
    for last, before in (([end(), STOP], 0), ([end()], 0), ([end(), STOP], 1)):
        reply = events.raw(*text, *last)
        pieces = list(reply.pieces)
        pieces.insert(len(pieces) - before, mark)
        assert service.streamed(Reply(pieces, content_type="text/event-stream")).text == "a"
    with pytest.raises(BrokenStreamError):
        service.streamed(Reply([*events.raw(*text).pieces, mark], content_type="text/event-stream"))


@pytest.mark.parametrize(
    ("start", "last", "wanted"),
    [
        ({"input_tokens": 5, "output_tokens": 1}, {"output_tokens": 9}, (5, 9)),
        ({"input_tokens": 0, "output_tokens": 0}, {"input_tokens": 5, "output_tokens": 9}, (5, 9)),
        ({"input_tokens": 5, "output_tokens": 1}, {"input_tokens": 0, "output_tokens": 9}, (5, 9)),
        (None, {"input_tokens": 5, "output_tokens": 9, "server_tool_use": {"web_search_requests": 1}}, (5, 9)),
        ({"input_tokens": 5, "output_tokens": 1}, None, (5, 1)),
        ([], {"input_tokens": None, "output_tokens": 9}, (0, 9)),
    ],
)
def test_usage_counts_wherever_it_stands(
    service: "Service", events: "Events", start: Any, last: Any, wanted: tuple[int, int]
) -> None:
    """R22: at the start, at the end, in both, in one as zero."""
    message = {"type": "message_start", "message": {"id": "m1", "usage": start}}
    usage = streamed(service, events.raw(message, begin(0, TEXT), end(usage=last), STOP)).usage
    assert (usage.prompt_tokens, usage.completion_tokens) == wanted


def test_what_is_said_beside_the_end_is_kept(service: "Service", events: "Events") -> None:
    """OAI-12: why an answer was refused, and what the service did to the context."""
    details = {"stop_details": {"category": "cyber"}, "stop_reason": "refusal", "stop_sequence": None}
    last = {"type": "message_delta", "delta": details, "usage": {}, "context_management": {"applied_edits": []}}
    response = streamed(service, events.raw(START, begin(0, {"type": "text", "text": "no"}), last, STOP))
    assert response.result is not None
    assert (response.text, response.result.finish_reason) == ("no", "content_filter")
    assert response.metadata.properties == {
        "stop_details": {"category": "cyber"},
        "context_management": {"applied_edits": []},
    }


def test_an_overload_in_the_stream_is_raised_with_the_id_of_the_request(service: "Service", events: "Events") -> None:
    """R20: after what came before it, and it heals by waiting."""
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    reply = events.raw(START, begin(0, TEXT), piece(0, "text", text="a"), error, headers={"request-id": "req_1"})
    with pytest.raises(OverloadedError, match="Overloaded") as caught:
        service.streamed(reply, retry=ONCE)
    assert (caught.value.type, caught.value.retryable, caught.value.request_id) == ("overloaded_error", True, "req_1")


def test_content_that_is_a_text_is_one(service: "Service") -> None:
    """As some gateways give it; none at all is an empty answer."""
    for content, text in (("a", "a"), (None, None), ([], None)):
        assert service.called(Reply.of_json({"content": content, "stop_reason": "end_turn"})).text == text


@pytest.mark.parametrize("delta", [{"type": "text_delta", "text": None}, {"type": "text_delta", "text": 5}])
def test_pieces_of_another_kind_are_an_error_of_the_protocol(
    service: "Service", events: "Events", delta: dict[str, Any]
) -> None:
    """Never one of Python, also where it shows only at the end."""
    with pytest.raises(ProtocolError):
        service.streamed(events.of((TEXT, [delta])))


def test_a_call_that_was_cut_off_does_not_run(service: "Service", events: "Events") -> None:
    """R6: its text is kept, and the answer goes back without it and without thinking that has no signature."""
    thinking = {"type": "thinking", "thinking": "h", "signature": ""}
    cut = (use(), [{"type": "input_json_delta", "partial_json": '{"a": "b'}])
    response = service.streamed(events.of((TEXT, [{"type": "text_delta", "text": "a"}]), cut, stop="max_tokens"))
    assert response.result is not None
    assert not response.tool_calls
    (withheld,) = response.result.metadata.properties["withheldToolCalls"]
    assert withheld.arguments == '{"a": "b'
    assert next_content(service, response.result.output) == [{"type": "text", "text": "a"}]
    unsigned = service.streamed(events.of((thinking, []), stop="max_tokens")).result
    assert unsigned is not None
    assert unsigned.output.reasoning == "h"
    assert next_content(service, unsigned.output) == []


def test_thinking_does_not_stand_last(service: "Service") -> None:
    """The service refuses it there; what was only thought is left out."""
    thought = {"type": "thinking", "thinking": "h", "signature": "s"}
    message = AssistantMessage("a", metadata={BLOCKS: [{"type": "text", "text": "a"}, thought]})
    assert next_content(service, message) == [{"type": "text", "text": "a"}]
    assert next_content(service, AssistantMessage(metadata={BLOCKS: [thought]})) == []


def test_repaired_ids_leave_thinking_in_its_place(service: "Service") -> None:
    """R8: a call that came without an id goes back with the engine's, between the thoughts around it."""
    thought = {"type": "thinking", "thinking": "h", "signature": "s"}
    bare = {"type": "tool_use", "name": "clock", "input": {"a": [1, {"b": None}]}, "caller": {"type": "direct"}}
    blank = {"type": "text", "text": "\n\n"}
    message = AssistantMessage(
        "\n\n", [ToolCall("x", "clock", '{"a": [1, {"b": null}]}')], metadata={BLOCKS: [thought, blank, thought, bare]}
    )
    assert next_content(service, message) == [thought, thought, {**bare, "id": "x"}]
