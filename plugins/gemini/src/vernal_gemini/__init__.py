"""Chat models of Gemini for vernal.

`GeminiChatModel(api_key=…)` by hand; as a plugin, `VERNAL_GEMINI__API_KEY` (or `GEMINI_API_KEY`) is enough.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vernal_gemini.autoconfig import GeminiAutoConfiguration
    from vernal_gemini.chat_model import GeminiChatModel
    from vernal_gemini.options import GeminiChatOptions
    from vernal_gemini.provider import GeminiChatModelProvider
    from vernal_gemini.settings import GeminiSettings

__all__ = [
    "GeminiAutoConfiguration",
    "GeminiChatModel",
    "GeminiChatModelProvider",
    "GeminiChatOptions",
    "GeminiSettings",
]

_HOMES = {
    "GeminiAutoConfiguration": "autoconfig",
    "GeminiChatModel": "chat_model",
    "GeminiChatModelProvider": "provider",
    "GeminiChatOptions": "options",
    "GeminiSettings": "settings",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Each name is imported when it is first asked for."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"vernal_gemini.{_HOMES[name]}"), name)
