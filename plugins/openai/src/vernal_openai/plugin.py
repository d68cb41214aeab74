"""What the plugin contributes; the entry point `openai` of the group `vernal` names this module."""

from vernal import Settings, hookimpl
from vernal_openai.autoconfig import OpenAiAutoConfiguration
from vernal_openai.settings import OpenAiSettings


@hookimpl
def vernal_auto_configurations() -> list[type]:
    """The provider of OpenAI's chat models."""
    return [OpenAiAutoConfiguration]


@hookimpl
def vernal_settings() -> list[type[Settings]]:
    """The settings under `openai`."""
    return [OpenAiSettings]
