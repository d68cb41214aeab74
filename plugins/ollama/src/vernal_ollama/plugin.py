"""What the plugin contributes; the entry point `ollama` of the group `vernal` names this module."""

from vernal import Settings, hookimpl
from vernal_ollama.autoconfig import OllamaAutoConfiguration
from vernal_ollama.settings import OllamaSettings


@hookimpl
def vernal_auto_configurations() -> list[type]:
    """The provider of Ollama's chat models."""
    return [OllamaAutoConfiguration]


@hookimpl
def vernal_settings() -> list[type[Settings]]:
    """The settings under `ollama`."""
    return [OllamaSettings]
