"""Profiles: how services differ, and how they are recognised."""

import json
from typing import Any

import pytest

from vernal import Prompt, UsageError
from vernal_openai import OpenAiChatOptions
from vernal_openai.profiles import PROFILES, profile_for
from vernal_openai.requests import RequestWriter


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://api.deepseek.com", "deepseek"),
        ("https://api.mistral.ai/v1", "mistral"),
        ("https://api.groq.com/openai/v1", "groq"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://api.x.ai/v1", "xai"),
        ("https://eu.api.openai.com/v1", "openai"),
        ("https://router.huggingface.co/v1", "huggingface"),
        ("https://api.together.xyz/v1", "together"),
        ("https://api.perplexity.ai", "perplexity"),
        ("https://api.fireworks.ai/inference/v1", "fireworks"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini"),
        ("http://localhost:1234/v1", "lmstudio"),
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
    with pytest.raises(ValueError, match=r"profile is 'deepsek'.*did you mean 'deepseek'\?"):
        profile_for("http://localhost:8080/v1", "deepsek")


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_a_profile_is_recognised_by_its_own_address(profile: Any) -> None:
    """The address that a named profile brings is one that its key may go to (R28)."""
    if profile.base_url is not None and profile.hosts:
        assert any(host in profile.base_url for host in profile.hosts)
        assert profile_for(profile.base_url) is profile
    assert profile.base_url is not None or profile.name in ("azure", "compatible")


def body(profile: str, **options: Any) -> dict[str, Any]:
    """The request as a service is asked."""
    writer = RequestWriter(PROFILES[profile], OpenAiChatOptions(model="m", **options))
    written: dict[str, Any] = json.loads(writer.body(Prompt("hi")))
    return written


@pytest.mark.parametrize(
    ("profile", "on", "members"),
    [
        ("deepseek", False, {"thinking": {"type": "disabled"}}),
        ("vllm", True, {"chat_template_kwargs": {"enable_thinking": True}}),
        ("llamacpp", False, {"chat_template_kwargs": {"enable_thinking": False}}),
        ("ollama", False, {"reasoning_effort": "none"}),
        ("ollama", True, {}),
    ],
)
def test_one_option_switches_thinking_at_every_service(profile: str, on: bool, members: dict[str, Any]) -> None:
    """`thinking` is written as the service has it."""
    plain = body(profile)
    assert {name: value for name, value in body(profile, thinking=on).items() if name not in plain} == members


def test_thinking_is_refused_where_there_is_no_switch() -> None:
    """An option that cannot be followed is not dropped in silence."""
    with pytest.raises(UsageError, match=r"'openai' has no switch.*reasoning_effort"):
        body("openai", thinking=False)


@pytest.mark.parametrize(
    ("profile", "members"),
    [
        ("openai", {"max_completion_tokens": 5, "seed": 1}),
        ("groq", {"max_completion_tokens": 5, "seed": 1}),
        ("mistral", {"max_tokens": 5, "random_seed": 1}),
        ("compatible", {"max_tokens": 5, "seed": 1}),
    ],
)
def test_options_go_under_the_names_of_the_service(profile: str, members: dict[str, Any]) -> None:
    """What a service calls otherwise is sent as it calls it."""
    written = body(profile, max_tokens=5, seed=1)
    names = ("max_tokens", "max_completion_tokens", "seed", "random_seed")
    assert {name: value for name, value in written.items() if name in names} == members
