"""The plugin in an application: settings in, a chat model out."""

import asyncio
from collections.abc import Mapping

import pytest

import vernal_autoconfig.plugin
import vernal_gemini.plugin
from vernal import ChatClient, ChatModel, tool
from vernal.http import AuthenticationError
from vernal.testing import ApplicationContextRunner
from vernal.testing.server import Reply, replaying
from vernal_gemini import GeminiChatModel, GeminiChatModelProvider

PLUGINS = {"vernal-autoconfig": vernal_autoconfig.plugin, "gemini": vernal_gemini.plugin}


def runner(environ: Mapping[str, str]) -> ApplicationContextRunner:
    """An application with the plugin, the defaults and these variables."""
    return ApplicationContextRunner().with_plugins(PLUGINS).with_environ(environ)


@pytest.mark.parametrize(
    ("environ", "configured"),
    [
        ({}, False),
        ({"VERNAL_GEMINI__MODEL": "gemini-3"}, False),
        ({"GEMINI_API_KEY": "k"}, True),
        ({"VERNAL_GEMINI__API_KEY": "k"}, True),
        ({"GOOGLE_API_KEY": "k"}, True),
        ({"VERNAL_GEMINI__BASE_URL": "http://localhost:8080"}, True),
    ],
)
def test_a_key_or_a_base_url_configures_the_provider(environ: dict[str, str], configured: bool) -> None:
    """The provider is always there, and configured by its own variables or those that others use too."""
    with runner(environ).run() as run:
        provider = run.context.get(GeminiChatModelProvider)
        assert (provider.name, provider.configured) == ("gemini", configured)


def test_settings_reach_the_model() -> None:
    """Model and options are those of the settings."""
    environ = {
        "GEMINI_API_KEY": "k",
        "VERNAL_GEMINI__MODEL": "gemini-3-flash",
        "VERNAL_GEMINI__OPTIONS__THINKING_LEVEL": "low",
        "VERNAL_GEMINI__OPTIONS__SAFETY_SETTINGS": '{"HARM_CATEGORY_HARASSMENT": "BLOCK_NONE"}',
    }
    with runner(environ).run() as run:
        model = run.context.get(ChatModel)
        assert isinstance(model, GeminiChatModel)
        options = model.default_options
        assert (options.model, options.thinking_level) == ("gemini-3-flash", "low")
        assert options.safety_settings == {"HARM_CATEGORY_HARASSMENT": "BLOCK_NONE"}


def test_a_model_chosen_without_a_key_fails_at_first_use() -> None:
    """R25: the application starts; the first request names the variables to set."""
    with runner({"VERNAL_CHAT__MODEL": "gemini"}).run() as run:
        client = run.context.get(ChatClient)
        with pytest.raises(AuthenticationError, match="VERNAL_GEMINI__API_KEY or GEMINI_API_KEY"):
            client.prompt("hi").call().content()


@pytest.mark.parametrize(("variable", "sent"), [("GEMINI_API_KEY", False), ("VERNAL_GEMINI__API_KEY", True)])
def test_a_shared_key_does_not_go_to_an_address_of_ours(variable: str, sent: bool) -> None:
    """R28: the variable that all tools share was given for Google."""
    environ = {variable: "k", "VERNAL_GEMINI__BASE_URL": "http://localhost:9"}
    with runner(environ).run() as run:
        model = run.context.get(ChatModel)
        assert isinstance(model, GeminiChatModel)
        assert (model._api_key is not None) == sent


def test_a_turn_with_tools_runs_over_the_api() -> None:
    """Both calls run, though they have no ids, and their results go back in one content, in order."""

    @tool
    def weather(city: str) -> str:
        """Weather of a city."""
        return f"cold in {city}"

    async def main() -> None:
        calls = [{"functionCall": {"name": "weather", "args": {"city": city}}} for city in ("Oslo", "Bergen")]
        replies = [
            Reply.of_json({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]})
            for parts in (calls, [{"text": "Cold."}])
        ]
        async with replaying(*replies) as server:
            environ = {"VERNAL_GEMINI__API_KEY": "k", "VERNAL_GEMINI__BASE_URL": server.url}
            with runner(environ).run() as run:
                client = run.context.get(ChatClient)
                assert await client.prompt("Weather?").tools(weather).acall().content() == "Cold."
            _, _, results = server.asked[1].json["contents"]
            told = [part["functionResponse"]["response"]["result"] for part in results["parts"]]
            assert told == ["cold in Oslo", "cold in Bergen"]

    asyncio.run(main())
