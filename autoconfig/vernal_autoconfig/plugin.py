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
