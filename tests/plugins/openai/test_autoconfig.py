"""The plugin in an application: settings in, a chat model out."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

import vernal_autoconfig.plugin
import vernal_openai.plugin
from vernal import ChatClient, ChatModel, tool
from vernal.http import AuthenticationError, HttpClients
from vernal.testing import ApplicationContextRunner
from vernal.testing.server import ReplayServer, Reply, replaying
from vernal_openai import OpenAiChatModel, OpenAiChatModelProvider

PLUGINS = {"vernal-autoconfig": vernal_autoconfig.plugin, "openai": vernal_openai.plugin}


def runner(environ: Mapping[str, str]) -> ApplicationContextRunner:
    """An application with the plugin, the defaults and these variables."""
    return ApplicationContextRunner().with_plugins(PLUGINS).with_environ(environ)


@pytest.mark.parametrize(
    ("environ", "configured"),
    [
        ({}, False),
        ({"OPENAI_API_KEY": ""}, False),
        ({"OPENAI_API_KEY": "k"}, True),
        ({"VERNAL_OPENAI__API_KEY": "k"}, True),
        ({"OPENAI_BASE_URL": "http://localhost:8080/v1"}, True),
        ({"VERNAL_OPENAI__BASE_URL": "http://localhost:8080/v1"}, True),
    ],
)
def test_a_key_or_a_base_url_configures_the_provider(environ: dict[str, str], configured: bool) -> None:
    """The provider is always there, and configured by its own variables or those that others use too."""
    with runner(environ).run() as run:
        provider = run.context.get(OpenAiChatModelProvider)
        assert (provider.name, provider.configured) == ("openai", configured)


def test_the_plugin_can_be_switched_off() -> None:
    """`openai.enabled=false` takes the provider away."""
    with runner({"VERNAL_OPENAI__ENABLED": "false", "OPENAI_API_KEY": "k"}).run() as run:
        assert not run.context.get_all(OpenAiChatModelProvider)


def test_settings_reach_the_model() -> None:
    """Model, options, address, profile and limits are those of the settings, and the clients are the context's."""
    environ = {
        "VERNAL_OPENAI__API_KEY": "k",
        "VERNAL_OPENAI__BASE_URL": "http://localhost:9999/v1",
        "VERNAL_OPENAI__MODEL": "llama",
        "VERNAL_OPENAI__PROFILE": "deepseek",
        "VERNAL_OPENAI__OPTIONS__TEMPERATURE": "0.2",
        "VERNAL_OPENAI__OPTIONS__MAX_TOKENS": "100",
        "VERNAL_OPENAI__FIRST_TOKEN_TIMEOUT": "1m",
        "VERNAL_OPENAI__MAX_ATTEMPTS": "5",
        "VERNAL_HTTP__BETWEEN_CHUNKS_TIMEOUT": "7s",
    }
    with runner(environ).run() as run:
        model = run.context.get(ChatModel)
        assert isinstance(model, OpenAiChatModel)
        options = model.default_options
        assert (options.model, options.temperature, options.max_tokens) == ("llama", 0.2, 100)
        assert repr(model).endswith("url='http://localhost:9999/v1/chat/completions', profile='deepseek')")
        endpoint = model._exchange.endpoint
        assert endpoint.clients is run.context.get(HttpClients)
        assert endpoint.timeouts is not None
        assert (endpoint.timeouts.first_token, endpoint.timeouts.between_chunks) == (60.0, 7.0)
        assert endpoint.retry.max_attempts == 5


def test_a_model_chosen_without_a_key_fails_at_first_use() -> None:
    """R25: the application starts; the first request names the variables to set."""
    with runner({"VERNAL_CHAT__MODEL": "openai:gpt-5-mini"}).run() as run:
        client = run.context.get(ChatClient)
        with pytest.raises(AuthenticationError, match="Set VERNAL_OPENAI__API_KEY or OPENAI_API_KEY"):
            client.prompt("hi").call().content()


class Weather:
    """Tools of the test."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    @tool
    def get_weather(self, city: str) -> str:
        """Current weather of a city."""
        self.asked.append(city)
        return f"sunny in {city}"


def delta(finish: str | None = None, **members: Any) -> dict[str, Any]:
    """A chunk of a streamed answer."""
    return {"choices": [{"index": 0, "delta": members, "finish_reason": finish}]}


def call(number: int, city: str) -> dict[str, Any]:
    """A tool call of the service."""
    function = {"name": "get_weather", "arguments": f'{{"city": "{city}"}}'}
    return {"index": number, "id": f"c{number}", "type": "function", "function": function}


CALLS = [call(0, "Amsterdam"), call(1, "Paris")]
ROUNDS = [
    Reply.of_json({"choices": [{"message": {"tool_calls": CALLS}, "finish_reason": "tool_calls"}]}),
    Reply.of_json({"choices": [{"message": {"content": "Sunny."}, "finish_reason": "stop"}]}),
]
STREAMED_ROUNDS = [
    Reply.of_events(delta(tool_calls=CALLS), delta("tool_calls")),
    Reply.of_events(delta(content="Sun"), delta("stop", content="ny.")),
]


@pytest.mark.parametrize("streamed", [False, True])
def test_an_application_answers_through_the_service_and_its_own_tools(streamed: bool) -> None:
    """Question, tool calls, tool results, answer: the whole loop over HTTP, called and streamed, from plain code."""
    weather = Weather()

    def answer(server: ReplayServer) -> str | None:
        with runner({"OPENAI_BASE_URL": server.url, "VERNAL_OPENAI__MODEL": "m"}).run() as run:
            request = run.context.get(ChatClient).prompt("How is the weather?").tools(weather)
            return "".join(request.stream().content()) if streamed else request.call().content()

    async def main() -> tuple[str | None, list[Any]]:
        async with replaying(*(STREAMED_ROUNDS if streamed else ROUNDS)) as server:
            return await asyncio.to_thread(answer, server), [asked.json for asked in server.asked]

    text, (first, second) = asyncio.run(main())
    assert text == "Sunny."
    assert sorted(weather.asked) == ["Amsterdam", "Paris"]
    assert first["tools"] == second["tools"]
    assert [message["role"] for message in second["messages"]] == ["user", "assistant", "tool", "tool"]
    assert [message["content"] for message in second["messages"][2:]] == ["sunny in Amsterdam", "sunny in Paris"]


def key_sent(environ: Mapping[str, str], url: str) -> str:
    """The authorization header of a request, with the stub's address in the variable `url`."""

    def ask(server: ReplayServer) -> None:
        settings = {**environ, url: server.url, "VERNAL_OPENAI__MODEL": "m"}
        with runner(settings).run() as run:
            run.context.get(ChatClient).prompt("hi").call().content()

    async def main() -> str:
        async with replaying(ROUNDS[1]) as server:
            await asyncio.to_thread(ask, server)
            return {name.lower(): value for name, value in server.asked[0].headers.items()}.get("authorization", "")

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("environ", "url", "sent"),
    [
        ({"OPENAI_API_KEY": "sk-real"}, "VERNAL_OPENAI__BASE_URL", ""),
        ({"OPENAI_API_KEY": "sk-real"}, "OPENAI_BASE_URL", "Bearer sk-real"),
        ({"OPENAI_API_KEY": "sk-real", "VERNAL_OPENAI__API_KEY": "sk-own"}, "VERNAL_OPENAI__BASE_URL", "Bearer sk-own"),
    ],
)
def test_a_key_given_for_openai_does_not_go_elsewhere(
    environ: Mapping[str, str], url: str, sent: str, caplog: pytest.LogCaptureFixture
) -> None:
    """OPENAI_API_KEY goes with OPENAI_BASE_URL or to OpenAI, never to an address of ours, and that is said (R28)."""
    assert key_sent(environ, url) == sent
    assert ("is not sent to" in caplog.text) is not bool(sent)
    assert "sk-real" not in caplog.text


def test_connections_are_closed_once_where_a_context_closes_on_a_running_loop() -> None:
    """A blocking `with` inside asynchronous code leaves no failed task behind."""
    failures: list[dict[str, Any]] = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, failure: failures.append(failure))
        async with replaying(ROUNDS[1]) as server:
            with runner({"OPENAI_BASE_URL": server.url, "VERNAL_OPENAI__MODEL": "m"}).run() as run:
                assert await run.context.get(ChatClient).prompt("hi").acall().content() == "Sunny."
            for _ in range(20):  # steps of the loop, in which what was begun at the close ends
                await asyncio.sleep(0)

    asyncio.run(main())
    assert failures == []
