"""The defaults come in by the same door as every plugin."""

from vernal.context.plugins import hookimpl


@hookimpl
def vernal_auto_configurations() -> list[type]:
    """The auto-configurations of this package."""
    from vernal_autoconfig.chat_client import ChatClientAutoConfiguration
    from vernal_autoconfig.chat_memory import ChatMemoryAutoConfiguration
    from vernal_autoconfig.chat_model import ChatModelAutoConfiguration
    from vernal_autoconfig.http_client import HttpClientAutoConfiguration
    from vernal_autoconfig.tool_calling import ToolCallingAutoConfiguration

    return [
        ToolCallingAutoConfiguration,
        ChatClientAutoConfiguration,
        ChatMemoryAutoConfiguration,
        HttpClientAutoConfiguration,
        ChatModelAutoConfiguration,
    ]


@hookimpl
def vernal_settings() -> list[type]:
    """The settings classes of this package, read or not: who replaces a default need not remove its settings."""
    from vernal_autoconfig.chat_client import ChatClientSettings
    from vernal_autoconfig.chat_memory import ChatMemorySettings
    from vernal_autoconfig.chat_model import ChatSettings
    from vernal_autoconfig.http_client import HttpClientSettings
    from vernal_autoconfig.tool_calling import ToolCallingSettings

    return [ChatClientSettings, ChatMemorySettings, ChatSettings, HttpClientSettings, ToolCallingSettings]
