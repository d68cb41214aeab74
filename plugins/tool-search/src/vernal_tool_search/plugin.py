"""What the plugin contributes; the entry point `tool-search` of the group `vernal` names this module."""

from vernal import Settings, hookimpl
from vernal_tool_search.autoconfig import EmbeddedModelAutoConfiguration, ToolSearchAutoConfiguration
from vernal_tool_search.settings import ToolSearchSettings


@hookimpl
def vernal_auto_configurations() -> list[type]:
    """The tool search, where it is switched on, and the embedding model that it falls back to."""
    return [ToolSearchAutoConfiguration, EmbeddedModelAutoConfiguration]


@hookimpl
def vernal_settings() -> list[type[Settings]]:
    """The settings under `chat.client.tool_search_advisor`."""
    return [ToolSearchSettings]
