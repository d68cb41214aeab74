"""Chat models of Anthropic for vernal.

`AnthropicChatModel(api_key=…)` by hand; as a plugin, `VERNAL_ANTHROPIC__API_KEY` (or `ANTHROPIC_API_KEY`) is enough.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vernal_anthropic.autoconfig import AnthropicAutoConfiguration
    from vernal_anthropic.chat_model import AnthropicChatModel
    from vernal_anthropic.options import AnthropicChatOptions
    from vernal_anthropic.provider import AnthropicChatModelProvider
    from vernal_anthropic.settings import AnthropicSettings

__all__ = [
    "AnthropicAutoConfiguration",
    "AnthropicChatModel",
    "AnthropicChatModelProvider",
    "AnthropicChatOptions",
    "AnthropicSettings",
]

_HOMES = {
    "AnthropicAutoConfiguration": "autoconfig",
    "AnthropicChatModel": "chat_model",
    "AnthropicChatModelProvider": "provider",
    "AnthropicChatOptions": "options",
    "AnthropicSettings": "settings",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Each name is imported when it is first asked for."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"vernal_anthropic.{_HOMES[name]}"), name)
