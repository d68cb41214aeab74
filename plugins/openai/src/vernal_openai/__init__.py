"""OpenAI and compatible chat and embedding models for vernal.

`OpenAiChatModel(api_key=…)` by hand; as a plugin, `VERNAL_OPENAI__API_KEY` (or `OPENAI_API_KEY`) is enough.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vernal_openai.autoconfig import OpenAiAutoConfiguration
    from vernal_openai.chat_model import OpenAiChatModel
    from vernal_openai.embedding_model import OpenAiEmbeddingModel
    from vernal_openai.options import OpenAiChatOptions
    from vernal_openai.profiles import PROFILES, Profile
    from vernal_openai.provider import OpenAiChatModelProvider
    from vernal_openai.service import OpenAiService, ServiceArguments
    from vernal_openai.settings import OpenAiSettings

__all__ = [
    "PROFILES",
    "OpenAiAutoConfiguration",
    "OpenAiChatModel",
    "OpenAiChatModelProvider",
    "OpenAiChatOptions",
    "OpenAiEmbeddingModel",
    "OpenAiService",
    "OpenAiSettings",
    "Profile",
    "ServiceArguments",
]

_HOMES = {
    "PROFILES": "profiles",
    "OpenAiAutoConfiguration": "autoconfig",
    "OpenAiChatModel": "chat_model",
    "OpenAiChatModelProvider": "provider",
    "OpenAiChatOptions": "options",
    "OpenAiEmbeddingModel": "embedding_model",
    "OpenAiService": "service",
    "OpenAiSettings": "settings",
    "Profile": "profiles",
    "ServiceArguments": "service",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Each name is imported when it is first asked for."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"vernal_openai.{_HOMES[name]}"), name)
