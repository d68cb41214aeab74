"""`OpenAiChatModel` over HTTP: call and stream, both faces, errors, closing."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vernal import ChatResponse, MessageAggregator, ModelError, Prompt, ToolCallback, ToolDefinition
from vernal.http import (
    AuthenticationError,
    BrokenStreamError,
    HttpClients,
    NotFoundError,
    ProtocolError,
    RateLimitError,
    RetryPolicy,
    ServiceError,
)
from vernal.testing.server import ReplayServer, Reply, replaying
from vernal_openai import OpenAiChatModel, OpenAiChatOptions

R = TypeVar("R")
KEY = "sk-very-secret"
ANSWER = {"id": "r", "model": "m", "choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}
PROMPT = Prompt("hi")


def delta(finish: str | None = None, **members: Any) -> dict[str, Any]:
    """A chunk of a streamed answer."""
    return {"choices": [{"index": 0, "delta": members, "finish_reason": finish}]}


def against(
    *replies: Reply, ask: Callable[[OpenAiChatModel, ReplayServer], Awaitable[R]], path: str = "", **options: Any
) -> R:
    """What `ask` makes of a model whose service gives these replies."""

    async def main() -> R:
        async with replaying(*replies) as server:
            settings = {"api_key": KEY, "retry": RetryPolicy(initial_delay=0), **options}
            own = OpenAiChatOptions(model="m")
            return await ask(OpenAiChatModel(base_url=server.url + path, options=own, **settings), server)

    return asyncio.run(main())


async def collect(model: OpenAiChatModel, _: ReplayServer) -> list[ChatResponse]:
    """All chunks of the streamed answer."""
    return [chunk async for chunk in model.astream(PROMPT)]


async def call(model: OpenAiChatModel, _: ReplayServer) -> ChatResponse:
    """The whole answer."""
    return await model.acall(PROMPT)


def test_a_call_asks_the_completions_of_the_base_url() -> None:
    """Method, path, key, organization and further headers go out; the answer comes back."""

    async def ask(model: OpenAiChatModel, server: ReplayServer) -> None:
        response = await model.acall(PROMPT)
        assert (response.text, response.metadata.model) == ("Hello", "m")
        (asked,) = server.asked
        assert (asked.method, asked.path) == ("POST", "/v1/chat/completions")
        wanted = {"authorization": f"Bearer {KEY}", "openai-organization": "o", "openai-project": "p", "x-title": "t"}
        assert {name: asked.headers.get(name) for name in wanted} == wanted
        assert asked.headers["content-type"] == "application/json"

    against(Reply.of_json(ANSWER), ask=ask, organization="o", project="p", headers={"X-Title": "t"})


def test_azure_takes_its_key_and_its_query() -> None:
    """Azure's header of the key, and the API version in the base URL's query, are sent as it wants them."""

    async def ask(model: OpenAiChatModel, server: ReplayServer) -> None:
        await model.acall(PROMPT)
        assert server.asked[0].path == "/v1/openai/deployments/d/chat/completions?api-version=2024-10-21"
        assert server.asked[0].headers["api-key"] == KEY
        assert "authorization" not in server.asked[0].headers

    path = "/openai/deployments/d?api-version=2024-10-21"
    against(Reply.of_json(ANSWER), ask=ask, path=path, profile="azure")


def test_both_blocking_faces_answer() -> None:
    """`call` and `stream` do the same from plain code, on the engine's own loop."""

    async def ask(model: OpenAiChatModel, _: ReplayServer) -> tuple[str | None, list[str | None]]:
        called = await asyncio.to_thread(model.call, PROMPT)
        streamed = await asyncio.to_thread(lambda: [chunk.text for chunk in model.stream(PROMPT)])
        return called.text, streamed

    replies = [Reply.of_json(ANSWER), Reply.of_events(delta(content="Hel"), delta("stop", content="lo"))]
    assert against(*replies, ask=ask) == ("Hello", ["Hel", "lo", None])


def test_text_arrives_while_the_service_is_still_writing() -> None:
    """R21: the first chunk is there before the service has sent the next; closing ends the connection (OAI-10)."""

    async def ask(model: OpenAiChatModel, server: ReplayServer) -> str | None:
        stream = model.astream(PROMPT)
        async for chunk in stream:
            text = chunk.text
            break
        await stream.aclose()  # type: ignore[attr-defined]  # streams of models can be closed
        assert await asyncio.wait_for(server.gone.wait(), 5)
        return text

    reply = Reply.of_events(delta(content="Hel"), done=False, hold=True)
    assert against(reply, ask=ask) == "Hel"


def test_a_blocking_stream_that_is_closed_closes_the_connection() -> None:
    """R20: when `with` ends, the service is no longer listened to."""

    async def ask(model: OpenAiChatModel, server: ReplayServer) -> str | None:
        def first() -> str | None:
            with model.stream(PROMPT) as stream:
                return next(stream).text

        text = await asyncio.to_thread(first)
        assert await asyncio.wait_for(server.gone.wait(), 5)
        return text

    assert against(Reply.of_events(delta(content="Hel"), done=False, hold=True), ask=ask) == "Hel"


def test_a_stream_that_was_read_leaves_its_connection_open() -> None:
    """After the end mark the body is read to its end, so that the next round needs no new connection."""

    async def ask(model: OpenAiChatModel, server: ReplayServer) -> int:
        for _ in range(3):
            await collect(model, server)
        return server.connections

    assert against(Reply.of_events(delta("stop", content="a")), ask=ask) == 1


def test_a_service_that_does_not_hang_up_after_the_end_mark_is_not_waited_for() -> None:
    """The end mark is the end, whatever the connection does."""
    chunks = against(Reply.of_events(delta("stop", content="a"), hold=True), ask=collect)
    assert [chunk.text for chunk in chunks] == ["a", None]


def test_an_error_in_the_middle_is_raised_after_what_came() -> None:
    """R20: an error object, or an error line, in a stream is raised as such when the text before it was given."""

    async def ask(model: OpenAiChatModel, server: ReplayServer) -> list[str | None]:
        aggregator = MessageAggregator()
        with pytest.raises(ServiceError, match=r"busy, \*\*\*") as caught:
            async for _ in aggregator.over(model.astream(PROMPT)):
                pass
        assert caught.value.code == 502
        assert len(server.asked) == 1
        return [aggregator.collected().text]

    error = {"message": f"busy, {KEY}", "code": 502}
    assert against(Reply.of_events(delta(content="a"), {"error": error}), ask=ask) == ["a"]
    line = b"data: " + json.dumps(delta(content="a")).encode() + b"\n\nerror: " + json.dumps(error).encode() + b"\n\n"
    assert against(Reply([line], content_type="text/event-stream"), ask=ask) == ["a"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply.of_events(delta(content="a"), done=False),
        Reply.of_events(delta(content="a"), done=False, cut=True),
        Reply([b'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: {"cho'], content_type="text/event-stream"),
    ],
    ids=["ends", "is cut", "ends within an event"],
)
def test_a_stream_that_breaks_is_an_error_after_what_came(reply: Reply) -> None:
    """R20: whether it merely ends, is cut, or ends within an event: what came is given, then the break is raised."""

    async def ask(model: OpenAiChatModel, server: ReplayServer) -> tuple[str | None, int]:
        aggregator = MessageAggregator()
        with pytest.raises(BrokenStreamError):
            async for _ in aggregator.over(model.astream(PROMPT)):
                pass
        return aggregator.collected().text, len(server.asked)

    assert against(reply, ask=ask) == ("a", 1)


def test_a_service_that_does_not_stream_is_understood() -> None:
    """An answer in one JSON body to a request for a stream is one chunk; an error in it is raised."""
    (chunk,) = against(Reply.of_json(ANSWER), ask=collect)
    assert chunk.text == "Hello"
    error = Reply.of_json({"error": {"message": "slow", "code": 429}})
    for ask in (collect, call):
        with pytest.raises(RateLimitError) as caught:
            against(error, ask=ask)
        assert caught.value.status == 429


@pytest.mark.parametrize("body", [b"<html>hello</html>", b"[]", b"", b'{"choices": []}', b'{"choices": [1]}'])
def test_an_answer_of_another_kind_is_a_protocol_error(body: bytes) -> None:
    """A page, a list, nothing: each is named for what it is, with advice about the base URL."""
    with pytest.raises(ProtocolError, match="Check that the base URL is that of the API"):
        against(Reply([body] if body else []), ask=call)


MEMBERS = ["choices", "delta", "message", "content", "tool_calls", "function", "name", "arguments", "index", "usage"]
ODD = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(MEMBERS), inner),
    max_leaves=8,
)
MESSAGES = st.dictionaries(st.sampled_from(MEMBERS), ODD)
CHOICES = st.fixed_dictionaries(
    {}, optional={"index": ODD, "delta": MESSAGES, "message": MESSAGES, "finish_reason": ODD}
)
BODIES = ODD | st.fixed_dictionaries({"choices": st.lists(CHOICES, min_size=1, max_size=2)}, optional={"usage": ODD})


@settings(max_examples=50, deadline=None)
@given(st.lists(BODIES, min_size=1, max_size=3))
def test_whatever_a_service_sends_is_read_or_refused(chunks: list[Any]) -> None:
    """Bodies and events of any shape give an answer or an error of the tree, never an error of Python's."""
    for reply, ask in ((Reply.of_json(chunks[0]), call), (Reply.of_events(*chunks), collect)):
        with suppress(ModelError):
            against(reply, ask=ask)


def test_errors_carry_what_the_service_said() -> None:
    """A refusal has the service's name, words, status, request id and a cure (R19)."""
    body = {"error": {"message": "no such model", "type": "invalid_request_error", "code": "model_not_found"}}
    with pytest.raises(NotFoundError) as caught:
        against(Reply.of_json(body, status=404, headers={"x-request-id": "req_1"}), ask=call)
    assert str(caught.value) == (
        f"compatible: no such model (status 404, code model_not_found, request id req_1, at {caught.value.url}). "
        "Check the name of the model and the base URL."
    )


def test_a_key_is_demanded_at_the_first_request() -> None:
    """R25: a model without a key can be made; asking it names the variables to set."""
    model = OpenAiChatModel()
    for ask in (lambda: model.call(PROMPT), lambda: list(model.stream(PROMPT))):
        with pytest.raises(AuthenticationError, match="Set VERNAL_OPENAI__API_KEY or OPENAI_API_KEY"):
            ask()


def test_a_local_service_needs_no_key() -> None:
    """Where no key is wanted, none is sent."""

    async def ask(model: OpenAiChatModel, server: ReplayServer) -> bool:
        await model.acall(PROMPT)
        return "authorization" in server.asked[0].headers

    assert against(Reply.of_json(ANSWER), ask=ask, api_key=None) is False


def test_the_key_is_nowhere_to_be_seen(caplog: pytest.LogCaptureFixture) -> None:
    """R28: neither the model's repr, nor an error, nor a log has the key, even where the service repeats it."""
    caplog.set_level(logging.DEBUG)

    async def ask(model: OpenAiChatModel, _: ReplayServer) -> str:
        with pytest.raises(ModelError) as caught:
            await model.acall(PROMPT)
        return repr(model) + repr(caught.value) + str(caught.value) + repr(caught.value.details)

    reply = Reply.of_json({"error": {"message": f"bad key {KEY}", "key": KEY}}, status=401)
    assert KEY not in against(reply, ask=ask) + caplog.text


def test_nulls_of_strict_tools_are_taken_out_again() -> None:
    """OAI-11, R18: a null for what was optional does not reach the tool; without strict, it does."""

    class Tool(ToolCallback):
        definition = ToolDefinition(
            "f",
            "",
            {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a"]},
        )

        def call(self, tool_input: str, tool_context: object = None) -> str:
            raise AssertionError

    def arguments(strict: bool) -> list[str]:
        options = OpenAiChatOptions(tool_callbacks=[Tool()], strict=strict)

        async def ask(model: OpenAiChatModel, _: ReplayServer) -> list[str]:
            prompt = Prompt("hi", options)
            responses = [await model.acall(prompt), [chunk async for chunk in model.astream(prompt)][-1]]
            return [response.tool_calls[0].arguments for response in responses]

        function = {"name": "f", "arguments": '{"a":"x","b":null}'}
        whole = {"choices": [{"message": {"tool_calls": [{"id": "c", "function": function}]}}]}
        events = Reply.of_events(delta(tool_calls=[{"index": 0, "id": "c", "function": function}]), delta("tool_calls"))
        return against(Reply.of_json(whole), events, ask=ask)

    assert arguments(strict=True) == ['{"a":"x"}'] * 2
    assert arguments(strict=False) == ['{"a":"x","b":null}'] * 2


@pytest.mark.parametrize(
    ("base_url", "path"),
    [
        ("https://h/v1", "https://h/v1/chat/completions"),
        ("https://h/v1/", "https://h/v1/chat/completions"),
        ("https://h", "https://h/chat/completions"),
        ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
        ("https://h/v1?a=b", "https://h/v1/chat/completions?a=b"),
    ],
)
def test_the_base_url_may_be_written_in_many_ways(base_url: str, path: str) -> None:
    """A slash at the end, the whole address, a query: all lead to the completions."""
    assert f"url={path!r}" in repr(OpenAiChatModel(base_url=base_url))


@pytest.mark.parametrize("base_url", ["localhost:8080/v1", "", "ftp://h/v1", "https:///v1"])
def test_a_base_url_that_is_none_is_refused(base_url: str) -> None:
    """It is named when the model is made, with an example of what is wanted."""
    with pytest.raises(ValueError, match=r"base_url is .* an address such as 'https://"):
        OpenAiChatModel(base_url=base_url)


def test_one_model_serves_loop_after_loop() -> None:
    """Connections belong to loops, the model to none."""
    clients = HttpClients()

    async def ask(model: OpenAiChatModel, _: ReplayServer) -> str | None:
        return (await model.acall(PROMPT)).text

    assert [against(Reply.of_json(ANSWER), ask=ask, clients=clients) for _ in range(2)] == ["Hello", "Hello"]
