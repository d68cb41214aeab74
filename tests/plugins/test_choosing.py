"""Which model answers, with every provider of the repository installed: each row of the rule (DESIGN)."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

import pytest

import vernal_anthropic.plugin
import vernal_autoconfig.plugin
import vernal_deepseek.plugin
import vernal_gemini.plugin
import vernal_ollama.plugin
import vernal_openai.plugin
from vernal import (
    ChatClient,
    ChatModel,
    ChatModelProvider,
    ChatOptions,
    ConfigurationError,
    Named,
    OfflineChatModel,
    bean,
    configuration,
    primary,
)
from vernal.http import AuthenticationError
from vernal.testing import ApplicationContextRunner
from vernal.testing.server import Reply, replaying
from vernal_deepseek import DeepSeekChatModel, DeepSeekChatModelProvider
from vernal_openai import OpenAiChatModel, OpenAiChatModelProvider

PLUGINS = {
    "vernal-autoconfig": vernal_autoconfig.plugin,
    "anthropic": vernal_anthropic.plugin,
    "deepseek": vernal_deepseek.plugin,
    "gemini": vernal_gemini.plugin,
    "ollama": vernal_ollama.plugin,
    "openai": vernal_openai.plugin,
}
KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "openai": "OPENAI_API_KEY",
}
ANSWER = Reply.of_json({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]})


def runner(environ: Mapping[str, str]) -> ApplicationContextRunner:
    """An application with all providers and these variables."""
    return ApplicationContextRunner().with_plugins(PLUGINS).with_environ(environ)


def chosen(environ: Mapping[str, str]) -> str:
    """The model that answers, as `provider:model`."""
    with runner(environ).run() as run:
        model = run.context.get(ChatModel)
        if isinstance(model, OfflineChatModel):
            return "offline"
        options = model.default_options
        assert options is not None
        return f"{model.service_name}:{options.model}"


@pytest.mark.parametrize("name", KEYS)
def test_the_only_provider_with_a_key_answers(name: str) -> None:
    """All are installed; the key says which is meant, and its own default is the model."""
    assert chosen({KEYS[name]: "k"}).partition(":")[0] == name


@pytest.mark.parametrize(
    ("environ", "answers"),
    [
        ({}, "offline"),
        ({"GROQ_API_KEY": "k"}, "offline"),
        ({"VERNAL_OPENAI__PROFILE": "groq", "GROQ_API_KEY": "k", "VERNAL_OPENAI__MODEL": "m"}, "groq:m"),
        ({"OPENAI_API_KEY": "k"}, "openai:gpt-5-mini"),
        ({"OPENAI_API_KEY": "k", "VERNAL_OPENAI__MODEL": "gpt-5"}, "openai:gpt-5"),
        (
            {"OPENAI_API_KEY": "k", "DEEPSEEK_API_KEY": "k", "VERNAL_CHAT__MODEL": "deepseek"},
            "deepseek:deepseek-v4-flash",
        ),
        ({"OPENAI_API_KEY": "k", "VERNAL_CHAT__MODEL": "deepseek:deepseek-v4-pro"}, "deepseek:deepseek-v4-pro"),
        ({"DEEPSEEK_API_KEY": "k", "VERNAL_DEEPSEEK__ENABLED": "false", "OPENAI_API_KEY": "k"}, "openai:gpt-5-mini"),
        ({"OPENAI_API_KEY": "k", "VERNAL_CHAT__MODEL": "ollama:qwen3:4b"}, "ollama:qwen3:4b"),
        ({"OPENAI_API_KEY": "k", "VERNAL_CHAT__MODEL": "offline"}, "offline"),
    ],
)
def test_a_row_of_the_rule(environ: Mapping[str, str], answers: str) -> None:
    """A setting names provider and model; else the only one with a key or address answers; else the offline model."""
    assert chosen(environ) == answers


def test_two_with_keys_are_an_error_that_names_both() -> None:
    """Which of two is meant is never guessed (R27)."""
    with runner({"OPENAI_API_KEY": "k", "DEEPSEEK_API_KEY": "k"}).run() as run:
        with pytest.raises(ConfigurationError, match=r"deepseek and openai are configured.*VERNAL_CHAT__MODEL"):
            run.context.get(ChatModel)
        assert {provider.name for provider in run.context.get_all(ChatModelProvider)} == {*KEYS, "ollama"}


@pytest.mark.parametrize("name", KEYS)
def test_a_key_is_demanded_at_first_use_by_its_very_name(name: str) -> None:
    """The application starts without (R25); the first request's error names both variables of the key."""
    with runner({"VERNAL_CHAT__MODEL": name}).run() as run:
        client = run.context.get(ChatClient)
        with pytest.raises(AuthenticationError, match=f"VERNAL_{name.upper()}__API_KEY or {KEYS[name]}"):
            client.prompt("hi").call().content()


@configuration
class Models:
    """One model for most, another one by name."""

    @bean
    @primary
    def chat_model(self, provider: DeepSeekChatModelProvider) -> ChatModel:
        """Who answers by default."""
        return provider.create()

    @bean
    def small_model(self, provider: OpenAiChatModelProvider) -> ChatModel:
        """For what needs little thought."""
        return provider.create("gpt-5-nano")

    @bean
    def small_client(self, model: Annotated[ChatModel, Named("small_model")]) -> ChatClient:
        """A client of the small one."""
        return ChatClient(model)


def test_several_models_are_beans_side_by_side() -> None:
    """Two services in one application: the primary bean answers, the other is asked for by its name."""
    environ = {"OPENAI_API_KEY": "k", "DEEPSEEK_API_KEY": "k"}
    with runner(environ).with_sources(Models).run() as run:
        main, small = run.context.get(ChatModel), run.context.get(ChatModel, name="small_model")
        assert isinstance(main, DeepSeekChatModel)
        assert isinstance(small, OpenAiChatModel)
        assert small.default_options.model == "gpt-5-nano"
        assert run.context.get(ChatClient, name="small_client").chat_model is small


def test_a_request_may_name_another_model_of_the_service() -> None:
    """`model` is an option as any other: the request's wins over the client's and the settings', for it alone."""

    async def asked() -> list[Any]:
        async with replaying(ANSWER) as server:
            environ = {"VERNAL_OPENAI__BASE_URL": server.url, "VERNAL_OPENAI__MODEL": "large"}
            with runner(environ).run() as run:
                client = run.context.get(ChatClient)
                await client.prompt("hi").options(ChatOptions(model="small")).acall().content()
                await client.prompt("hi").acall().content()
            return [one.json["model"] for one in server.asked]

    assert asyncio.run(asked()) == ["small", "large"]
