"""Chat models of DeepSeek for vernal.

`DeepSeekChatModel(api_key=…)` by hand; as a plugin, `VERNAL_DEEPSEEK__API_KEY` (or `DEEPSEEK_API_KEY`) is enough.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vernal_deepseek.autoconfig import DeepSeekAutoConfiguration
    from vernal_deepseek.chat_model import DeepSeekChatModel, DeepSeekChatOptions
    from vernal_deepseek.provider import DeepSeekChatModelProvider
    from vernal_deepseek.settings import DeepSeekSettings

__all__ = [
    "DeepSeekAutoConfiguration",
    "DeepSeekChatModel",
    "DeepSeekChatModelProvider",
    "DeepSeekChatOptions",
    "DeepSeekSettings",
]

_HOMES = {
    "DeepSeekAutoConfiguration": "autoconfig",
    "DeepSeekChatModel": "chat_model",
    "DeepSeekChatModelProvider": "provider",
    "DeepSeekChatOptions": "chat_model",
    "DeepSeekSettings": "settings",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Each name is imported when it is first asked for."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"vernal_deepseek.{_HOMES[name]}"), name)
