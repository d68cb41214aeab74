"""Ollama's answers: whole and streamed, errors, missing models."""

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vernal import (
    ModelError,
    Prompt,
)
from vernal.http import (
    AuthenticationError,
    BadRequestError,
    BrokenStreamError,
    NotFoundError,
    ProtocolError,
    RetryPolicy,
    ServiceError,
)
from vernal.testing.server import ReplayServer, Reply
from vernal_ollama import OllamaChatModel

if TYPE_CHECKING:
    from tests.plugins.conftest import Service

DONE = {"done": True, "done_reason": "stop", "prompt_eval_count": 7, "eval_count": 3, "total_duration": 5}
ANSWER = {"model": "qwen3", "message": {"role": "assistant", "content": "Hello"}, **DONE}
PROMPT = Prompt("hi")
MISSING = Reply.of_json({"error": "model 'm' not found"}, status=404)


def lines(*documents: Any, **more: Any) -> Reply:
    """A streamed answer, one piece for each line."""
    return Reply([json.dumps(d).encode() + b"\n" for d in documents], content_type="application/x-ndjson", **more)


def part(content: str = "", **members: Any) -> dict[str, Any]:
    """A line of a streamed answer."""
    return {"model": "qwen3", "message": {"role": "assistant", "content": content, **members}, "done": False}


def test_an_answer_is_read_whole(service: "Service") -> None:
    """Text, model, finish reason, usage, and what else Ollama said."""
    response = service.called(Reply.of_json(ANSWER))
    assert response.result is not None
    assert (response.text, response.metadata.model) == ("Hello", "qwen3")
    assert (response.result.finish_reason, response.result.metadata.native_finish_reason) == ("stop", "stop")
    usage = response.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (7, 3, 10)
    assert response.metadata.properties["total_duration"] == 5


def test_a_stream_gives_text_and_thinking_as_they_come_and_the_rest_at_its_end(service: "Service") -> None:
    """R21: each line with content is a chunk; calls, finish reason and usage come in the last one."""
    call_ = {"function": {"name": "weather", "arguments": {"city": "Oslo"}}}
    reply = lines(part(thinking="Hm"), part("Hel"), part("lo"), part(tool_calls=[call_]), {**part(), **DONE})
    chunks = service.chunks(reply)
    told = [(c.result.output.text, c.result.output.reasoning) for c in chunks[:-1] if c.result]
    assert told == [(None, "Hm"), ("Hel", None), ("lo", None)]
    last = chunks[-1]
    assert [(c.name, json.loads(c.arguments)) for c in last.tool_calls] == [("weather", {"city": "Oslo"})]
    assert last.result is not None
    assert (last.result.finish_reason, last.usage.total_tokens) == ("tool_calls", 10)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(max_size=8), max_size=6), size=st.integers(1, 60))
def test_a_stream_cut_anywhere_reads_like_a_whole_answer(service: "Service", texts: list[str], size: int) -> None:
    """R21: whatever the texts and wherever the network cuts the bytes, the aggregate is the same text."""
    body = b"".join(json.dumps(d, ensure_ascii=True).encode() + b"\n" for d in (*map(part, texts), {**part(), **DONE}))
    pieces = [body[i : i + size] for i in range(0, len(body), size)]
    response = service.streamed(Reply(pieces, content_type="application/x-ndjson"))
    assert (response.text or "") == "".join(texts)
    assert response.usage.total_tokens == 10


def test_a_stream_without_its_last_line_is_broken(service: "Service") -> None:
    """R20: an answer that was never done is no answer, whether the bytes end or the last line is cut."""
    for reply in (
        lines(part("Hel")),
        Reply([b'{"message":{"content":"Hel"},"do'], content_type="application/x-ndjson"),
    ):
        with pytest.raises(BrokenStreamError, match="ended"):
            service.chunks(reply)


def test_an_error_in_a_stream_is_raised(service: "Service") -> None:
    """R20: a line with an error ends the stream with that error, after the text before it."""
    with pytest.raises(ServiceError, match="runner has crashed"):
        service.chunks(lines(part("Hel"), {"error": "the runner has crashed"}))


def test_closing_a_stream_closes_the_connection(service: "Service") -> None:
    """OAI-10's kind: what nobody reads any more is not paid for."""

    async def ask(model: OllamaChatModel, server: ReplayServer) -> str | None:
        stream = model.astream(PROMPT)
        first = await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]  # streams of models can be closed
        assert await asyncio.wait_for(server.gone.wait(), 5)
        return first.text

    assert service.against(lines(part("Hel"), hold=True), ask=ask) == "Hel"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply.of_json({"error": "gemma does not support tools"}, status=400), BadRequestError),
        (Reply.of_json({"error": "llama runner process has terminated"}, status=500), ServiceError),
        (Reply.of_json({"error": "unauthorized"}, status=401), AuthenticationError),
        (Reply([b"[]\n"]), ProtocolError),
        (Reply.of_json({"message": {"content": "", "tool_calls": [{"function": {}}]}, **DONE}), ProtocolError),
        (Reply.of_json({"message": {"content": "", "tool_calls": ["weather"]}, **DONE}), ProtocolError),
    ],
)
def test_errors_have_their_class(service: "Service", reply: Reply, kind: type[ModelError]) -> None:
    """R19: each refusal, and each answer of another shape, is the error that it is, called and streamed."""
    for ask in (service.called, service.chunks):
        with pytest.raises(kind) as caught:
            ask(reply, retry=RetryPolicy(max_attempts=1))
        assert type(caught.value) is kind


def test_a_missing_model_is_an_error_that_says_how_to_get_it(service: "Service") -> None:
    """Nothing is fetched unasked."""
    for ask in (service.called, service.chunks):
        with pytest.raises(NotFoundError, match=r"Run 'ollama pull m', or set VERNAL_OLLAMA__PULL=missing"):
            ask(MISSING)


def test_a_missing_model_is_fetched_where_that_is_allowed(service: "Service", caplog: pytest.LogCaptureFixture) -> None:
    """A pull is never silent: a warning before it, progress while it runs; then the request is sent again."""
    layer = {"status": "pulling abc", "total": 1000}
    pulled = lines({"status": "pulling manifest"}, *({**layer, "completed": n} for n in range(0, 1001, 50)))
    pulled.pieces = [*pulled.pieces, b'{"status": "success"}']

    async def ask(model: OllamaChatModel, server: ReplayServer) -> str | None:
        text = (await model.acall(PROMPT)).text
        assert [asked.path for asked in server.asked] == ["/api/chat", "/api/pull", "/api/chat"]
        assert server.asked[1].json["model"] == "m"
        return text

    with caplog.at_level(logging.INFO, logger="vernal.ollama"):
        assert service.against(MISSING, pulled, Reply.of_json(ANSWER), ask=ask, pull=True) == "Hello"
    first, *rest = caplog.records
    assert (first.levelname, "fetched now" in first.message) == ("WARNING", True)
    assert [record.message for record in rest if "abc" in record.message][-1] == "m: pulling abc 100 %"
    assert len(rest) < 20  # each tenth, not each line


def test_a_model_is_fetched_before_a_stream_begins(service: "Service") -> None:
    """The stream of a fetched model is that of any other."""
    replies = (MISSING, lines({"status": "success"}), lines(part("Hello"), {**part(), **DONE}))
    assert service.streamed(*replies, pull=True).text == "Hello"


@pytest.mark.parametrize(
    ("pulled", "kind"),
    [(lines({"error": "pull model manifest: file does not exist"}), ServiceError), (lines({}), BrokenStreamError)],
)
def test_a_pull_that_fails_is_an_error(service: "Service", pulled: Reply, kind: type[ModelError]) -> None:
    """What kept the model from being fetched is said, and the request is not sent again."""
    with pytest.raises(kind):
        service.called(MISSING, pulled, pull=True)


def test_answers_in_odd_forms_are_read(service: "Service") -> None:
    """Arguments as a text or null, ids, usage that is no number, CRLF, blank lines, no last line end, cut anywhere."""
    calls = [
        {"id": "c1", "function": {"index": 0, "name": "weather", "arguments": '{"city": "Oslo"}'}},
        {"function": {"name": "clock", "arguments": None}},
    ]
    done = b'{"done": true, "prompt_eval_count": NaN, "eval_count": 3}'
    body = json.dumps(part("a", tool_calls=calls)).encode() + b"\r\n\r\n \n" + done
    for pieces in ([body], [bytes([byte]) for byte in body]):
        response = service.streamed(Reply(pieces, content_type="application/json"))
        assert [(c.id, c.name, c.arguments) for c in response.tool_calls] == [
            ("c1", "weather", '{"city": "Oslo"}'),
            ("", "clock", "{}"),
        ]
        assert (response.text, response.finish_reason) == ("a", "tool_calls")
        assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (0, 3)


@pytest.mark.parametrize("content_type", ["application/x-ndjson", "text/html", "application/json"])
def test_a_page_of_a_proxy_is_no_answer(service: "Service", content_type: str) -> None:
    """It is shown, and named for what it is, whole and in the place of a stream."""
    for ask in (service.called, service.chunks):
        with pytest.raises(ProtocolError, match="begins with '<html>"):
            ask(Reply([b"<html>Welcome</html>"], content_type=content_type))


def test_an_error_of_the_cloud_says_what_it_is(service: "Service") -> None:
    """R28: the text of the error in a stream, beside members that repeat its status."""
    error = {"StatusCode": 500, "Status": "500 Internal Server Error", "error": "Internal Server Error (ref: x)"}
    with pytest.raises(ServiceError) as caught:
        service.chunks(lines(part("a"), error))
    assert caught.value.provider_message == "Internal Server Error (ref: x)"
