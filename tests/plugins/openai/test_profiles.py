"""Profiles: how services differ, and how they are recognised."""

import pytest

from vernal_openai.profiles import profile_for


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://api.deepseek.com", "deepseek"),
        ("https://api.mistral.ai/v1", "mistral"),
        ("https://api.groq.com/openai/v1", "groq"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://api.x.ai/v1", "xai"),
        ("https://me.openai.azure.com/openai/v1", "azure"),
        ("http://localhost:11434/v1", "ollama"),
        ("http://localhost:8080/v1", "compatible"),
        ("https://api.openai.com.evil.example/v1", "compatible"),
    ],
)
def test_a_service_is_recognised_by_its_host(base_url: str, name: str) -> None:
    """The host of the base URL tells the service; any other is taken as merely compatible."""
    assert profile_for(base_url).name == name


def test_a_named_profile_wins_and_an_unknown_one_is_refused() -> None:
    """A setting overrules the address; a name that is none is answered with those that are."""
    assert profile_for("http://localhost:8080/v1", "deepseek").name == "deepseek"
    with pytest.raises(ValueError, match=r"profile is 'deepsek'.*'deepseek'"):
        profile_for("http://localhost:8080/v1", "deepsek")
