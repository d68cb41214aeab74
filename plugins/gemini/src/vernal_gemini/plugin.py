"""What the plugin contributes; the entry point `gemini` of the group `vernal` names this module."""

from vernal import Settings, hookimpl
from vernal_gemini.autoconfig import GeminiAutoConfiguration
from vernal_gemini.settings import GeminiSettings


@hookimpl
def vernal_auto_configurations() -> list[type]:
    """The provider of Gemini's chat models."""
    return [GeminiAutoConfiguration]


@hookimpl
def vernal_settings() -> list[type[Settings]]:
    """The settings under `gemini`."""
    return [GeminiSettings]
