"""Which service the settings mean: its address, and the key that was given for it."""

from collections.abc import Mapping

import pytest

import vernal_autoconfig.plugin
import vernal_openai.plugin
from vernal import ChatClient, ChatModel
from vernal.http import AuthenticationError
from vernal.testing import ApplicationContextRunner
from vernal_openai import OpenAiChatModel, OpenAiChatModelProvider

PLUGINS = {"vernal-autoconfig": vernal_autoconfig.plugin, "openai": vernal_openai.plugin}
OPENAI, GROQ = "https://api.openai.com/v1", "https://api.groq.com/openai/v1"
OURS, AZURE = "http://localhost:8080/v1", "https://me.openai.azure.com"


def runner(environ: Mapping[str, str]) -> ApplicationContextRunner:
    """An application with the plugin, the defaults and these variables."""
    settings = {"VERNAL_CHAT__MODEL": "openai", "VERNAL_OPENAI__MODEL": "m", **environ}
    return ApplicationContextRunner().with_plugins(PLUGINS).with_environ(settings)


@pytest.mark.parametrize(
    ("environ", "address", "key"),
    [
        ({"OPENAI_API_KEY": "k"}, OPENAI, "k"),
        ({"GROQ_API_KEY": "k"}, OPENAI, None),
        ({"VERNAL_OPENAI__PROFILE": "groq", "GROQ_API_KEY": "k"}, GROQ, "k"),
        ({"VERNAL_OPENAI__PROFILE": "groq", "GROQ_API_KEY": "g", "OPENAI_API_KEY": "k"}, GROQ, "g"),
        ({"VERNAL_OPENAI__PROFILE": "groq", "OPENAI_API_KEY": "k"}, GROQ, None),
        ({"VERNAL_OPENAI__PROFILE": "groq", "GROQ_API_KEY": "g", "VERNAL_OPENAI__API_KEY": "own"}, GROQ, "own"),
        ({"VERNAL_OPENAI__PROFILE": "groq", "GROQ_API_KEY": "g", "OPENAI_BASE_URL": OURS}, GROQ, "g"),
        ({"VERNAL_OPENAI__BASE_URL": GROQ, "GROQ_API_KEY": "g", "OPENAI_API_KEY": "k"}, GROQ, "g"),
        ({"VERNAL_OPENAI__PROFILE": "groq", "VERNAL_OPENAI__BASE_URL": OURS, "GROQ_API_KEY": "g"}, OURS, None),
        ({"OPENAI_BASE_URL": OURS, "OPENAI_API_KEY": "k"}, OURS, "k"),
        ({"OPENAI_BASE_URL": GROQ, "GROQ_API_KEY": "g"}, GROQ, "g"),
        ({"OPENAI_BASE_URL": GROQ, "GROQ_API_KEY": "g", "OPENAI_API_KEY": "k"}, GROQ, "k"),
        ({"VERNAL_OPENAI__PROFILE": "compatible", "OPENAI_BASE_URL": OURS, "OPENAI_API_KEY": "k"}, OURS, "k"),
        ({"VERNAL_OPENAI__BASE_URL": OURS, "OPENAI_API_KEY": "k", "GROQ_API_KEY": "g"}, OURS, None),
        ({"VERNAL_OPENAI__PROFILE": "llamacpp"}, OURS, None),
        (
            {"VERNAL_OPENAI__PROFILE": "azure", "AZURE_OPENAI_ENDPOINT": AZURE, "AZURE_OPENAI_API_KEY": "a"},
            f"{AZURE}/openai/v1",
            "a",
        ),
        (
            {"VERNAL_OPENAI__PROFILE": "azure", "AZURE_OPENAI_ENDPOINT": "https://gate", "AZURE_OPENAI_API_KEY": "a"},
            "https://gate/openai/v1",
            "a",
        ),
        (
            {
                "VERNAL_OPENAI__PROFILE": "azure",
                "VERNAL_OPENAI__BASE_URL": "https://gate",
                "AZURE_OPENAI_ENDPOINT": AZURE,
                "AZURE_OPENAI_API_KEY": "a",
            },
            "https://gate/openai/v1",
            None,
        ),
    ],
)
def test_a_key_goes_to_the_service_that_it_was_given_for(
    environ: Mapping[str, str], address: str, key: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    """A named profile brings its address and its key; a variable that others read too goes nowhere else (R28)."""
    with runner(environ).run() as run:
        model = run.context.get(ChatModel)
        assert isinstance(model, OpenAiChatModel)
        assert model._address.url == f"{address}/chat/completions"
        assert model._api_key == key
    assert ("is not sent to" in caplog.text) == ("OPENAI_API_KEY" in environ and key is None)


@pytest.mark.parametrize(("profile", "variable"), [("groq", "GROQ_API_KEY"), ("xai", "XAI_API_KEY")])
def test_a_missing_key_is_named_by_the_service_that_wants_it(profile: str, variable: str) -> None:
    """Naming a profile configures the provider; at the first request the error names the very variable (R25)."""
    with runner({"VERNAL_OPENAI__PROFILE": profile}).run() as run:
        assert run.context.get(OpenAiChatModelProvider).configured
        with pytest.raises(AuthenticationError, match=f"Set VERNAL_OPENAI__API_KEY or {variable} to a valid key"):
            run.context.get(ChatClient).prompt("hi").call().content()


def test_a_misspelt_profile_keeps_the_application_from_starting() -> None:
    """A setting that names no profile is reported, with the nearest one (R28)."""
    with runner({"VERNAL_OPENAI__PROFILE": "grok"}).run() as run:
        assert "VERNAL_OPENAI__PROFILE" in str(run.failure)
        assert "did you mean 'groq'?" in str(run.failure)


def test_the_version_of_azures_api_makes_its_addresses_by_deployment() -> None:
    """OPENAI_API_VERSION, as Azure's own tools read it, chooses the older scheme."""
    environ = {"OPENAI_API_VERSION": "2024-10-21", "AZURE_OPENAI_API_KEY": "a", "VERNAL_OPENAI__BASE_URL": AZURE}
    with runner(environ).run() as run:
        model = run.context.get(ChatModel)
        assert isinstance(model, OpenAiChatModel)
        assert model._address.url + model._address.path("gpt") == (
            f"{AZURE}/openai/deployments/gpt/chat/completions?api-version=2024-10-21"
        )
        assert model._api_key == "a"
