"""Chat models of Ollama for vernal, over its native API.

`OllamaChatModel(options=OllamaChatOptions(model="qwen3"))` by hand; as a plugin, `VERNAL_OLLAMA__MODEL` is enough.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vernal_ollama.autoconfig import OllamaAutoConfiguration
    from vernal_ollama.chat_model import OllamaChatModel
    from vernal_ollama.options import OllamaChatOptions
    from vernal_ollama.provider import OllamaChatModelProvider
    from vernal_ollama.settings import OllamaSettings

__all__ = [
    "OllamaAutoConfiguration",
    "OllamaChatModel",
    "OllamaChatModelProvider",
    "OllamaChatOptions",
    "OllamaSettings",
]

_HOMES = {
    "OllamaAutoConfiguration": "autoconfig",
    "OllamaChatModel": "chat_model",
    "OllamaChatModelProvider": "provider",
    "OllamaChatOptions": "options",
    "OllamaSettings": "settings",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Each name is imported when it is first asked for."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"vernal_ollama.{_HOMES[name]}"), name)
