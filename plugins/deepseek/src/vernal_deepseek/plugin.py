"""What the plugin contributes; the entry point `deepseek` of the group `vernal` names this module."""

from vernal import Settings, hookimpl
from vernal_deepseek.autoconfig import DeepSeekAutoConfiguration
from vernal_deepseek.settings import DeepSeekSettings


@hookimpl
def vernal_auto_configurations() -> list[type]:
    """The provider of DeepSeek's chat models."""
    return [DeepSeekAutoConfiguration]


@hookimpl
def vernal_settings() -> list[type[Settings]]:
    """The settings under `deepseek`."""
    return [DeepSeekSettings]
