"""The plugin in an application: settings in, a chat model out."""

from collections.abc import Mapping

import pytest

import vernal_autoconfig.plugin
import vernal_deepseek.plugin
import vernal_openai.plugin
from vernal import ChatClient, ChatModel
from vernal.http import AuthenticationError
from vernal.testing import ApplicationContextRunner
from vernal_deepseek import DeepSeekChatModel, DeepSeekChatModelProvider
from vernal_openai import OpenAiChatModelProvider

PLUGINS = {
    "vernal-autoconfig": vernal_autoconfig.plugin,
    "openai": vernal_openai.plugin,
    "deepseek": vernal_deepseek.plugin,
}


def runner(environ: Mapping[str, str]) -> ApplicationContextRunner:
    """An application with the plugin, the one it builds on, the defaults and these variables."""
    return ApplicationContextRunner().with_plugins(PLUGINS).with_environ(environ)


@pytest.mark.parametrize(
    ("environ", "configured"),
    [
        ({}, False),
        ({"OPENAI_API_KEY": "k"}, False),
        ({"VERNAL_DEEPSEEK__MODEL": "deepseek-v4-pro"}, False),
        ({"DEEPSEEK_API_KEY": "k"}, True),
        ({"VERNAL_DEEPSEEK__API_KEY": "k"}, True),
        ({"VERNAL_DEEPSEEK__BASE_URL": "http://localhost:8080"}, True),
    ],
)
def test_a_key_or_a_base_url_configures_the_provider(environ: dict[str, str], configured: bool) -> None:
    """DeepSeek has a key of its own, and stands beside OpenAI."""
    with runner(environ).run() as run:
        provider = run.context.get(DeepSeekChatModelProvider)
        assert (provider.name, provider.configured) == ("deepseek", configured)
        assert run.context.get(OpenAiChatModelProvider).configured == ("OPENAI_API_KEY" in environ)


def test_settings_reach_the_model() -> None:
    """Model, options and limits are those of the settings."""
    environ = {
        "DEEPSEEK_API_KEY": "k",
        "VERNAL_DEEPSEEK__MODEL": "deepseek-v4-pro",
        "VERNAL_DEEPSEEK__OPTIONS__THINKING": "false",
        "VERNAL_DEEPSEEK__FIRST_TOKEN_TIMEOUT": "3m",
    }
    with runner(environ).run() as run:
        model = run.context.get(ChatModel)
        assert isinstance(model, DeepSeekChatModel)
        options = model.default_options
        assert (options.model, options.thinking) == ("deepseek-v4-pro", False)
        assert "https://api.deepseek.com/chat/completions" in repr(model)
        assert model._exchange.endpoint.limits.first_token == 180.0


def test_a_model_chosen_without_a_key_fails_at_first_use() -> None:
    """R25: the application starts; the first request names the variables to set."""
    with runner({"VERNAL_CHAT__MODEL": "deepseek", "OPENAI_API_KEY": "k"}).run() as run:
        client = run.context.get(ChatClient)
        with pytest.raises(AuthenticationError, match="VERNAL_DEEPSEEK__API_KEY or DEEPSEEK_API_KEY"):
            client.prompt("hi").call().content()


@pytest.mark.parametrize(("variable", "sent"), [("DEEPSEEK_API_KEY", False), ("VERNAL_DEEPSEEK__API_KEY", True)])
def test_a_shared_key_does_not_go_to_an_address_of_ours(variable: str, sent: bool) -> None:
    """R28: the variable that all tools share was given for DeepSeek."""
    with runner({variable: "k", "VERNAL_DEEPSEEK__BASE_URL": "http://localhost:9"}).run() as run:
        model = run.context.get(ChatModel)
        assert isinstance(model, DeepSeekChatModel)
        assert (model._api_key is not None) == sent
