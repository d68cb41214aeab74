"""Which model answers: each row of the rule."""

import logging

import pytest

import vernal_autoconfig.plugin
from vernal import (
    ChatClient,
    ChatModel,
    ChatModelProvider,
    ChatResponse,
    ConfigurationError,
    Observation,
    ObservationRegistry,
    OfflineChatModel,
    Prompt,
)
from vernal.testing import ApplicationContextRunner, ScriptedChatModel
from vernal_autoconfig.chat_model import ChatModelAutoConfiguration


class Model(ChatModel):
    def __init__(self, name: str) -> None:
        self.name = name

    async def acall(self, prompt: Prompt) -> ChatResponse:
        return ChatResponse.of(self.name)


class Provider(ChatModelProvider):
    def __init__(self, name: str, configured: bool) -> None:
        self._name, self._configured = name, configured

    @property
    def name(self) -> str:
        return self._name

    @property
    def configured(self) -> bool:
        return self._configured

    def create(self, model: str | None = None) -> ChatModel:
        return Model(f"{self._name}/{model}")


def runner(*providers: tuple[str, bool], **chat: object) -> ApplicationContextRunner:
    runner = ApplicationContextRunner().with_auto_configurations(ChatModelAutoConfiguration)
    for name, configured in providers:
        runner = runner.with_bean(ChatModelProvider, Provider(name, configured), name=f"{name}_provider")
    return runner.with_settings({"chat": chat}) if chat else runner


def chosen(runner: ApplicationContextRunner) -> str:
    with runner.run() as run:
        model = run.context.get(ChatModel)
        return model.name if isinstance(model, Model) else type(model).__name__


def refused(runner: ApplicationContextRunner) -> str:
    with runner.run() as run, pytest.raises(ConfigurationError) as raised:
        run.context.get(ChatModel)
    return str(raised.value)


def test_a_users_bean_wins() -> None:
    """A ChatModel bean answers, whatever the settings say."""
    own = ScriptedChatModel(["mine"])
    named = runner(("openai", True)).with_environ({"VERNAL_CHAT__MODEL": "openai"})
    with named.with_bean(ChatModel, own).run() as run:
        assert run.context.get(ChatModel) is own


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("openai:gpt-5-mini", "openai/gpt-5-mini"),
        ("openai", "openai/None"),
        ("ollama:llama3.2:3b", "ollama/llama3.2:3b"),
        (" openai:gpt-5-mini ", "openai/gpt-5-mini"),
        ("offline", "OfflineChatModel"),
    ],
)
def test_the_setting_names_provider_and_model(name: str, model: str) -> None:
    """`chat.model` is provider:model, a provider, or offline; it wins over what is configured."""
    assert chosen(runner(("openai", False), ("ollama", True), model=name)) == model


def test_the_setting_comes_from_the_environment() -> None:
    """VERNAL_CHAT__MODEL is `chat.model`."""
    named = runner(("openai", True), ("ollama", True)).with_environ({"VERNAL_CHAT__MODEL": "ollama:phi4"})
    assert chosen(named) == "ollama/phi4"


def test_an_unknown_provider_is_refused_with_the_nearest() -> None:
    """A misspelt provider is an error that lists the installed ones and what was meant."""
    text = refused(runner(("openai", True), model="opnai:gpt-5-mini"))
    assert "opnai" in text
    assert "did you mean 'openai'" in text
    assert "offline" in text


def test_the_only_configured_provider_answers() -> None:
    """Without a setting it is the provider that has a key or a base URL."""
    assert chosen(runner(("openai", True), ("ollama", False))) == "openai/None"


def test_two_configured_providers_are_an_error_that_names_both() -> None:
    """With two, the error names both and the setting that chooses (R27)."""
    text = refused(runner(("openai", True), ("ollama", True)))
    assert "ollama and openai" in text
    assert "VERNAL_CHAT__MODEL" in text


@pytest.mark.parametrize("providers", [(), (("openai", False),)])
def test_the_offline_model_is_the_end_of_the_rule(
    providers: tuple[tuple[str, bool], ...], caplog: pytest.LogCaptureFixture
) -> None:
    """With nothing configured the offline model answers, and one warning says so."""
    with caplog.at_level(logging.WARNING):
        assert chosen(runner(*providers)) == OfflineChatModel.__name__
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "OPENAI_API_KEY" in warnings[0].getMessage()


def test_the_offline_model_by_choice_is_silent(caplog: pytest.LogCaptureFixture) -> None:
    """`chat.model=offline` gives no warning."""
    with caplog.at_level(logging.WARNING):
        assert chosen(runner(model="offline")) == OfflineChatModel.__name__
    assert not caplog.records


def test_the_offline_model_can_be_forbidden() -> None:
    """`chat.offline_fallback=false` makes it an error that says what to configure."""
    assert "OPENAI_API_KEY" in refused(runner(offline_fallback=False))


@pytest.mark.parametrize(
    ("setting", "content"), [({}, False), ({"VERNAL_CHAT__OBSERVATIONS__INCLUDE_CONTENT": "1"}, True)]
)
def test_content_is_observed_only_where_the_settings_ask_for_it(
    setting: dict[str, str], content: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Requests to the model are told to the application's registry; content comes with a warning."""
    stopped: list[Observation] = []

    class Recorded(ObservationRegistry):
        def on_stop(self, observation: Observation) -> None:
            stopped.append(observation)

    runner = ApplicationContextRunner().with_plugins({"vernal-autoconfig": vernal_autoconfig.plugin})
    runner = runner.with_environ({"VERNAL_CHAT__MODEL": "offline", **setting})
    with runner.with_bean(ObservationRegistry, Recorded()).run() as run:
        run.context.get(ChatClient).prompt("hi").call().content()
    (request,) = (observation for observation in stopped if observation.name == "vernal.chat_model")
    assert request.low_cardinality_keys["gen_ai.provider.name"] == "offline"
    assert ("gen_ai.input.messages" in request.high_cardinality_keys) == content
    assert any("may be private" in record.message for record in caplog.records) == content
