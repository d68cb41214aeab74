"""`OllamaChatModel` over HTTP: requests, answers, streams, errors, missing models."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import (
    AssistantMessage,
    ChatResponse,
    Media,
    Message,
    MessageAggregator,
    ModelError,
    Prompt,
    SystemMessage,
    ToolCall,
    ToolResponse,
    ToolResponseMessage,
    UsageError,
    UserMessage,
    tool,
    tool_callbacks,
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
from vernal.testing.server import ReplayServer, Reply, replaying
from vernal_ollama import OllamaChatModel, OllamaChatOptions

R = TypeVar("R")
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


def against(*replies: Reply, ask: Callable[[OllamaChatModel, ReplayServer], Awaitable[R]], **more: Any) -> R:
    """What `ask` makes of a model whose service gives these replies."""

    async def main() -> R:
        async with replaying(*replies) as server:
            given = {"options": OllamaChatOptions(model="m"), "retry": RetryPolicy(initial_delay=0), **more}
            return await ask(OllamaChatModel(base_url=server.url, **given), server)

    return asyncio.run(main())


async def call(model: OllamaChatModel, _: ReplayServer) -> ChatResponse:
    """The whole answer."""
    return await model.acall(PROMPT)


async def collect(model: OllamaChatModel, _: ReplayServer) -> list[ChatResponse]:
    """All chunks of the streamed answer."""
    return [chunk async for chunk in model.astream(PROMPT)]


async def aggregate(model: OllamaChatModel, _: ReplayServer) -> ChatResponse:
    """The streamed answer, whole."""
    aggregator = MessageAggregator()
    async for _chunk in aggregator.over(model.astream(PROMPT)):
        pass
    return aggregator.response


def sent(*messages: Message, **options: Any) -> dict[str, Any]:
    """The body of the request for these messages and options."""

    async def ask(model: OllamaChatModel, server: ReplayServer) -> dict[str, Any]:
        await model.acall(Prompt(messages or [UserMessage("hi")], OllamaChatOptions(**options)))
        assert server.asked[0].path == "/v1/api/chat".removeprefix("/v1")
        body: dict[str, Any] = server.asked[0].json
        return body

    return against(Reply.of_json(ANSWER), ask=ask)


@tool
def weather(city: str) -> str:
    """Weather of a city."""
    return city


@tool
def clock() -> str:
    """The time."""
    return "12:00"


def test_an_answer_is_read_whole() -> None:
    """Text, model, finish reason, usage, and what else Ollama said."""
    response = against(Reply.of_json(ANSWER), ask=call)
    assert response.result is not None
    assert (response.text, response.metadata.model) == ("Hello", "qwen3")
    assert (response.result.finish_reason, response.result.metadata.native_finish_reason) == ("stop", "stop")
    usage = response.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (7, 3, 10)
    assert response.metadata.properties["total_duration"] == 5


def test_a_stream_gives_text_and_thinking_as_they_come_and_the_rest_at_its_end() -> None:
    """R21: each line with content is a chunk; calls, finish reason and usage come in the last one."""
    call_ = {"function": {"name": "weather", "arguments": {"city": "Oslo"}}}
    reply = lines(part(thinking="Hm"), part("Hel"), part("lo"), part(tool_calls=[call_]), {**part(), **DONE})
    chunks = against(reply, ask=collect)
    told = [(c.result.output.text, c.result.output.reasoning) for c in chunks[:-1] if c.result]
    assert told == [(None, "Hm"), ("Hel", None), ("lo", None)]
    last = chunks[-1]
    assert [(c.name, json.loads(c.arguments)) for c in last.tool_calls] == [("weather", {"city": "Oslo"})]
    assert last.result is not None
    assert (last.result.finish_reason, last.usage.total_tokens) == ("tool_calls", 10)


@given(st.lists(st.text(max_size=8), max_size=6), st.integers(1, 60))
def test_a_stream_cut_anywhere_reads_like_a_whole_answer(texts: list[str], size: int) -> None:
    """R21: whatever the texts and wherever the network cuts the bytes, the aggregate is the same text."""
    body = b"".join(json.dumps(d, ensure_ascii=True).encode() + b"\n" for d in (*map(part, texts), {**part(), **DONE}))
    pieces = [body[i : i + size] for i in range(0, len(body), size)]
    response = against(Reply(pieces, content_type="application/x-ndjson"), ask=aggregate)
    assert (response.text or "") == "".join(texts)
    assert response.usage.total_tokens == 10


def test_a_stream_without_its_last_line_is_broken() -> None:
    """R20: an answer that was never done is no answer, whether the bytes end or the last line is cut."""
    for reply in (
        lines(part("Hel")),
        Reply([b'{"message":{"content":"Hel"},"do'], content_type="application/x-ndjson"),
    ):
        with pytest.raises(BrokenStreamError, match="ended"):
            against(reply, ask=collect)


def test_an_error_in_a_stream_is_raised() -> None:
    """R20: a line with an error ends the stream with that error, after the text before it."""
    with pytest.raises(ServiceError, match="runner has crashed"):
        against(lines(part("Hel"), {"error": "the runner has crashed"}), ask=collect)


def test_closing_a_stream_closes_the_connection() -> None:
    """OAI-10's kind: what nobody reads any more is not paid for."""

    async def ask(model: OllamaChatModel, server: ReplayServer) -> str | None:
        stream = model.astream(PROMPT)
        first = await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]  # streams of models can be closed
        assert await asyncio.wait_for(server.gone.wait(), 5)
        return first.text

    assert against(lines(part("Hel"), hold=True), ask=ask) == "Hel"


def test_messages_are_written_as_ollama_wants_them() -> None:
    """Images are base64 beside the text, calls have arguments as objects, results go by the tool's name."""
    picture = Media("image/png", b"\x89PNG")
    body = sent(
        SystemMessage("Be brief."),
        UserMessage("What is this?", [picture]),
        AssistantMessage(None, [ToolCall("1", "weather", '{"city": "Oslo"}')], reasoning="Hm"),
        ToolResponseMessage([ToolResponse("1", "weather", "cold", media=(picture,))]),
    )
    call_ = {"type": "function", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is this?", "images": ["iVBORw=="]},
        {"role": "assistant", "content": "", "thinking": "Hm", "tool_calls": [call_]},
        {"role": "tool", "tool_name": "weather", "content": "cold"},
        {"role": "user", "content": "From the tool weather:", "images": ["iVBORw=="]},
    ]


@pytest.mark.parametrize(
    ("media", "words"),
    [(Media("audio/wav", b"x"), "images only"), (Media("image/png", url="http://a/b.png"), "give its bytes")],
)
def test_media_that_ollama_cannot_take_are_refused(media: Media, words: str) -> None:
    """What would be lost on the way is an error that says what is wanted."""
    with pytest.raises(ValueError, match=words):
        sent(UserMessage("What?", [media]))


def test_options_go_where_ollama_reads_them() -> None:
    """Options of the runner go into `options`, the others into the request; further ones win."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    body = sent(
        temperature=0.5,
        max_tokens=9,
        stop_sequences=["END"],
        num_ctx=4096,
        think="high",
        keep_alive="10m",
        output_schema=schema,
        runner_options={"mirostat": 1, "num_ctx": 8192},
        extra_body={"truncate": False},
    )
    options = {"num_predict": 9, "stop": ["END"], "temperature": 0.5, "num_ctx": 8192, "mirostat": 1}
    wanted = {"model": "m", "think": "high", "keep_alive": "10m", "options": options, "format": schema}
    assert body == {**wanted, "truncate": False, "stream": False, "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(("given", "meant"), [("true", True), ("False", False), ("low", "low"), (True, True)])
def test_thinking_is_a_flag_or_a_level(given: Any, meant: Any) -> None:
    """A setting's text is read as what it says."""
    assert OllamaChatOptions(think=given).think == meant


@pytest.mark.parametrize(("given", "meant"), [("-1", -1), ("300", 300), ("10m", "10m"), (0, 0)])
def test_numbers_of_keep_alive_are_seconds(given: Any, meant: Any) -> None:
    """Ollama takes a text only with a unit, so a number in a text goes out as a number."""
    assert OllamaChatOptions(keep_alive=given).keep_alive == meant


@pytest.mark.parametrize(
    ("choice", "names"),
    [(None, ["weather", "clock"]), ("required", ["weather", "clock"]), ("none", []), ("clock", ["clock"])],
)
def test_the_tool_choice_decides_which_tools_are_shown(choice: str | None, names: list[str]) -> None:
    """Ollama knows no tool choice, so what may not be called is not shown."""
    body = sent(tool_callbacks=tool_callbacks(weather, clock), tool_choice=choice)
    assert [each["function"]["name"] for each in body.get("tools", ())] == names


def test_equal_requests_have_equal_bytes() -> None:
    """R24: a cache of prompts hits."""

    async def ask(model: OllamaChatModel, server: ReplayServer) -> tuple[bytes, ...]:
        options = OllamaChatOptions(tool_callbacks=tool_callbacks(weather, clock), temperature=0)
        for _ in range(2):
            await model.acall(Prompt("hi", options.copy()))
        return tuple(asked.body for asked in server.asked)

    first, second = against(Reply.of_json(ANSWER), ask=ask)
    assert first == second


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
def test_errors_have_their_class(reply: Reply, kind: type[ModelError]) -> None:
    """R19: each refusal, and each answer of another shape, is the error that it is, called and streamed."""
    for ask in (call, collect):
        with pytest.raises(kind) as caught:
            against(reply, ask=ask, retry=RetryPolicy(max_attempts=1))
        assert type(caught.value) is kind


def test_a_missing_model_is_an_error_that_says_how_to_get_it() -> None:
    """Nothing is fetched unasked."""
    for ask in (call, collect):
        with pytest.raises(NotFoundError, match=r"Run 'ollama pull m', or set VERNAL_OLLAMA__PULL=missing"):
            against(MISSING, ask=ask)


def test_a_missing_model_is_fetched_where_that_is_allowed(caplog: pytest.LogCaptureFixture) -> None:
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
        assert against(MISSING, pulled, Reply.of_json(ANSWER), ask=ask, pull=True) == "Hello"
    first, *rest = caplog.records
    assert (first.levelname, "fetched now" in first.message) == ("WARNING", True)
    assert [record.message for record in rest if "abc" in record.message][-1] == "m: pulling abc 100 %"
    assert len(rest) < 20  # each tenth, not each line


def test_a_model_is_fetched_before_a_stream_begins() -> None:
    """The stream of a fetched model is that of any other."""
    replies = (MISSING, lines({"status": "success"}), lines(part("Hello"), {**part(), **DONE}))
    assert against(*replies, ask=aggregate, pull=True).text == "Hello"


@pytest.mark.parametrize(
    ("pulled", "kind"),
    [(lines({"error": "pull model manifest: file does not exist"}), ServiceError), (lines({}), BrokenStreamError)],
)
def test_a_pull_that_fails_is_an_error(pulled: Reply, kind: type[ModelError]) -> None:
    """What kept the model from being fetched is said, and the request is not sent again."""
    with pytest.raises(kind):
        against(MISSING, pulled, ask=call, pull=True)


def test_without_a_model_the_error_says_what_to_set() -> None:
    """A model has no default: which ones there are is the user's own choice."""
    with pytest.raises(UsageError, match="VERNAL_OLLAMA__MODEL"):
        against(Reply.of_json(ANSWER), ask=call, options=None)
