"""What the plugin contributes; the entry point `anthropic` of the group `vernal` names this module."""

from vernal import Settings, hookimpl
from vernal_anthropic.autoconfig import AnthropicAutoConfiguration
from vernal_anthropic.settings import AnthropicSettings


@hookimpl
def vernal_auto_configurations() -> list[type]:
    """The provider of Anthropic's chat models."""
    return [AnthropicAutoConfiguration]


@hookimpl
def vernal_settings() -> list[type[Settings]]:
    """The settings under `anthropic`."""
    return [AnthropicSettings]
