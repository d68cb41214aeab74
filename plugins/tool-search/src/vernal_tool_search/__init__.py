"""Tool search for vernal: the model sees only a search, and the tools that it has found.

`VERNAL_CHAT__CLIENT__TOOL_SEARCH_ADVISOR__ENABLED=true` puts it in the place of the default tool loop; by hand it is
`ToolSearchToolCallingAdvisor(tool_index=RegexToolIndex())`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vernal_tool_search.advisor import DEFAULT_SYSTEM_MESSAGE_SUFFIX, ToolSearchToolCallingAdvisor
    from vernal_tool_search.autoconfig import EmbeddedModelAutoConfiguration, ToolSearchAutoConfiguration
    from vernal_tool_search.catalogue import CatalogueToolIndex
    from vernal_tool_search.embedded import WordLlamaEmbeddingModel
    from vernal_tool_search.eviction import (
        AlwaysEvict,
        CompositeEviction,
        LruEviction,
        NeverEvict,
        ToolIndexEvictionStrategy,
        TtlEviction,
    )
    from vernal_tool_search.hybrid import HybridToolIndex
    from vernal_tool_search.index import ToolIndex
    from vernal_tool_search.keyword import KeywordToolIndex
    from vernal_tool_search.regex import RegexToolIndex
    from vernal_tool_search.semantic import SemanticToolIndex
    from vernal_tool_search.settings import ToolSearchSettings
    from vernal_tool_search.values import ToolReference, ToolSearchRequest, ToolSearchResponse

_MODULES = {
    "advisor": "DEFAULT_SYSTEM_MESSAGE_SUFFIX ToolSearchToolCallingAdvisor",
    "autoconfig": "EmbeddedModelAutoConfiguration ToolSearchAutoConfiguration",
    "catalogue": "CatalogueToolIndex",
    "embedded": "WordLlamaEmbeddingModel",
    "eviction": "AlwaysEvict CompositeEviction LruEviction NeverEvict ToolIndexEvictionStrategy TtlEviction",
    "hybrid": "HybridToolIndex",
    "index": "ToolIndex",
    "keyword": "KeywordToolIndex",
    "regex": "RegexToolIndex",
    "semantic": "SemanticToolIndex",
    "settings": "ToolSearchSettings",
    "values": "ToolReference ToolSearchRequest ToolSearchResponse",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "DEFAULT_SYSTEM_MESSAGE_SUFFIX",
    "AlwaysEvict",
    "CatalogueToolIndex",
    "CompositeEviction",
    "EmbeddedModelAutoConfiguration",
    "HybridToolIndex",
    "KeywordToolIndex",
    "LruEviction",
    "NeverEvict",
    "RegexToolIndex",
    "SemanticToolIndex",
    "ToolIndex",
    "ToolIndexEvictionStrategy",
    "ToolReference",
    "ToolSearchAutoConfiguration",
    "ToolSearchRequest",
    "ToolSearchResponse",
    "ToolSearchSettings",
    "ToolSearchToolCallingAdvisor",
    "TtlEviction",
    "WordLlamaEmbeddingModel",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Each name is imported when it is first asked for."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"vernal_tool_search.{_HOMES[name]}"), name)
