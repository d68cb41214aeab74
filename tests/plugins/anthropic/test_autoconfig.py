"""The plugin in an application: settings in, a chat model out."""

import asyncio
from collections.abc import Mapping

import pytest

import vernal_anthropic.plugin
import vernal_autoconfig.plugin
from vernal import ChatClient, ChatModel, tool
from vernal.http import AuthenticationError
from vernal.testing import ApplicationContextRunner
from vernal.testing.server import Reply, replaying
from vernal_anthropic import AnthropicChatModel, AnthropicChatModelProvider

PLUGINS = {"vernal-autoconfig": vernal_autoconfig.plugin, "anthropic": vernal_anthropic.plugin}


def runner(environ: Mapping[str, str]) -> ApplicationContextRunner:
    """An application with the plugin, the defaults and these variables."""
    return ApplicationContextRunner().with_plugins(PLUGINS).with_environ(environ)


@pytest.mark.parametrize(
    ("environ", "configured"),
    [
        ({}, False),
        ({"VERNAL_ANTHROPIC__MODEL": "claude"}, False),
        ({"ANTHROPIC_API_KEY": "k"}, True),
        ({"VERNAL_ANTHROPIC__API_KEY": "k"}, True),
        ({"ANTHROPIC_BASE_URL": "http://localhost:8080"}, True),
    ],
)
def test_a_key_or_a_base_url_configures_the_provider(environ: dict[str, str], configured: bool) -> None:
    """The provider is always there, and configured by its own variables or those that others use too."""
    with runner(environ).run() as run:
        provider = run.context.get(AnthropicChatModelProvider)
        assert (provider.name, provider.configured) == ("anthropic", configured)


def test_settings_reach_the_model() -> None:
    """Model and options are those of the settings; lists come from JSON or commas."""
    environ = {
        "ANTHROPIC_API_KEY": "k",
        "VERNAL_ANTHROPIC__MODEL": "claude-haiku-4-5",
        "VERNAL_ANTHROPIC__OPTIONS__CACHE": "system,messages",
        "VERNAL_ANTHROPIC__OPTIONS__THINKING_BUDGET": "2048",
        "VERNAL_ANTHROPIC__BETAS": '["a"]',
        "VERNAL_ANTHROPIC__NATIVE_STRUCTURED_OUTPUT": "false",
    }
    with runner(environ).run() as run:
        model = run.context.get(ChatModel)
        assert isinstance(model, AnthropicChatModel)
        options = model.default_options
        assert (options.model, options.thinking_budget) == ("claude-haiku-4-5", 2048)
        assert options.cache == ("system", "messages")
        assert model.native_structured_output is False


def test_a_model_chosen_without_a_key_fails_at_first_use() -> None:
    """R25: the application starts; the first request names the variables to set."""
    with runner({"VERNAL_CHAT__MODEL": "anthropic"}).run() as run:
        client = run.context.get(ChatClient)
        with pytest.raises(AuthenticationError, match="VERNAL_ANTHROPIC__API_KEY or ANTHROPIC_API_KEY"):
            client.prompt("hi").call().content()


@pytest.mark.parametrize(("variable", "sent"), [("ANTHROPIC_API_KEY", False), ("VERNAL_ANTHROPIC__API_KEY", True)])
def test_a_shared_key_does_not_go_to_an_address_of_ours(variable: str, sent: bool) -> None:
    """R28: the variable that all tools share was given for Anthropic."""
    environ = {variable: "k", "VERNAL_ANTHROPIC__BASE_URL": "http://localhost:9"}
    with runner(environ).run() as run:
        model = run.context.get(ChatModel)
        assert isinstance(model, AnthropicChatModel)
        assert (model._api_key is not None) == sent


def test_a_turn_with_tools_runs_over_the_messages_api() -> None:
    """Both calls run, and their results go back in one message."""

    @tool
    def weather(city: str) -> str:
        """Weather of a city."""
        return f"cold in {city}"

    async def main() -> None:
        calls = [
            {"type": "tool_use", "id": f"toolu_{city}", "name": "weather", "input": {"city": city}}
            for city in ("Oslo", "Bergen")
        ]
        replies = [
            Reply.of_json({"content": calls, "stop_reason": "tool_use"}),
            Reply.of_json({"content": [{"type": "text", "text": "Cold."}], "stop_reason": "end_turn"}),
        ]
        async with replaying(*replies) as server:
            with runner({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}).run() as run:
                client = run.context.get(ChatClient)
                assert await client.prompt("Weather?").tools(weather).acall().content() == "Cold."
            _, asked, results = server.asked[1].json["messages"]
            assert asked == {"role": "assistant", "content": calls}
            assert [(r["tool_use_id"], r["content"]) for r in results["content"]] == [
                ("toolu_Oslo", "cold in Oslo"),
                ("toolu_Bergen", "cold in Bergen"),
            ]

    asyncio.run(main())
