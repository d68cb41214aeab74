"""The plugin in an application: settings in, a chat model out."""

import asyncio
from collections.abc import Mapping

import pytest

import vernal_autoconfig.plugin
import vernal_ollama.plugin
from vernal import ChatClient, ChatModel, tool
from vernal.http import AuthenticationError
from vernal.testing import ApplicationContextRunner
from vernal.testing.server import Reply, replaying
from vernal_ollama import OllamaChatModel, OllamaChatModelProvider
from vernal_ollama.chat_model import address_of

PLUGINS = {"vernal-autoconfig": vernal_autoconfig.plugin, "ollama": vernal_ollama.plugin}


def runner(environ: Mapping[str, str]) -> ApplicationContextRunner:
    """An application with the plugin, the defaults and these variables."""
    return ApplicationContextRunner().with_plugins(PLUGINS).with_environ(environ)


@pytest.mark.parametrize(
    ("environ", "configured"),
    [
        ({}, False),
        ({"OLLAMA_API_KEY": "k"}, False),
        ({"VERNAL_OLLAMA__MODEL": "qwen3"}, True),
        ({"OLLAMA_HOST": "0.0.0.0"}, True),
        ({"VERNAL_OLLAMA__BASE_URL": "http://gpu:11434"}, True),
    ],
)
def test_a_model_or_an_address_configures_the_provider(environ: dict[str, str], configured: bool) -> None:
    """Ollama needs no key, so the name of a model is enough to choose it."""
    with runner(environ).run() as run:
        provider = run.context.get(OllamaChatModelProvider)
        assert (provider.name, provider.configured) == ("ollama", configured)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434"),
        (":8000", "http://localhost:8000"),
        ("gpu:8000", "http://gpu:8000"),
        ("gpu/ollama/", "http://gpu:11434/ollama"),
        ("https://ollama.com/api", "https://ollama.com"),
        ("http://localhost:11434/v1/", "http://localhost:11434"),
    ],
)
def test_the_address_may_have_the_forms_of_ollama_host(given: str, address: str) -> None:
    """What the `ollama` command understands is understood here."""
    assert address_of(given) == address


def test_settings_reach_the_model() -> None:
    """Model and options are those of the settings; the name in `chat.model` wins."""
    environ = {
        "VERNAL_CHAT__MODEL": "ollama:gemma3:1b",
        "VERNAL_OLLAMA__MODEL": "qwen3",
        "VERNAL_OLLAMA__OPTIONS__NUM_CTX": "8192",
        "VERNAL_OLLAMA__OPTIONS__THINK": "false",
        "VERNAL_OLLAMA__OPTIONS__KEEP_ALIVE": "-1",
    }
    with runner(environ).run() as run:
        model = run.context.get(ChatModel)
        assert isinstance(model, OllamaChatModel)
        options = model.default_options
        assert (options.model, options.num_ctx, options.think, options.keep_alive) == ("gemma3:1b", 8192, False, -1)


def test_the_cloud_demands_a_key_at_first_use() -> None:
    """R25: the application starts; the first request names the variables to set."""
    with runner({"VERNAL_OLLAMA__BASE_URL": "https://ollama.com", "VERNAL_OLLAMA__MODEL": "m"}).run() as run:
        client = run.context.get(ChatClient)
        with pytest.raises(AuthenticationError, match="VERNAL_OLLAMA__API_KEY or OLLAMA_API_KEY"):
            client.prompt("hi").call().content()


@pytest.mark.parametrize(
    ("variable", "header"), [("OLLAMA_API_KEY", None), ("VERNAL_OLLAMA__API_KEY", "Bearer sk-secret")]
)
def test_the_key_of_the_cloud_goes_nowhere_else(variable: str, header: str | None) -> None:
    """R28: the variable that all tools share is for ollama.com; vernal's own is for the address beside it."""

    async def asked() -> str | None:
        done = {"message": {"content": "Hello"}, "done": True}
        async with replaying(Reply.of_json(done)) as server:
            environ = {variable: "sk-secret", "VERNAL_OLLAMA__BASE_URL": server.url, "VERNAL_OLLAMA__MODEL": "m"}
            with runner(environ).run() as run:
                await run.context.get(ChatClient).prompt("hi").acall().content()
            return server.asked[0].headers.get("authorization")

    assert asyncio.run(asked()) == header


def test_a_turn_with_a_tool_runs_over_the_native_api() -> None:
    """The tool is called with what the model gave, and its result goes back to the model."""

    @tool
    def weather(city: str) -> str:
        """Weather of a city."""
        return f"cold in {city}"

    async def main() -> None:
        wanted = {"function": {"name": "weather", "arguments": {"city": "Oslo"}}}
        replies = [
            Reply.of_json({"message": {"content": "", "tool_calls": [wanted, wanted]}, "done": True}),
            Reply.of_json({"message": {"content": "It is cold."}, "done": True}),
        ]
        async with replaying(*replies) as server:
            with runner({"OLLAMA_HOST": server.url, "VERNAL_OLLAMA__MODEL": "m"}).run() as run:
                client = run.context.get(ChatClient)
                assert await client.prompt("Weather?").tools(weather).acall().content() == "It is cold."
            results = [m["content"] for m in server.asked[1].json["messages"] if m["role"] == "tool"]
            assert results[0] == "cold in Oslo"
            assert len(results) == 2

    asyncio.run(main())
