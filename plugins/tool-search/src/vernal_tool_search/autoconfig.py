"""The default beans of the plugin."""

from vernal import (
    LOWEST_PRECEDENCE,
    EmbeddingModel,
    ObjectProvider,
    ToolAdvisor,
    ToolCallingManager,
    ToolExecutionEligibilityChecker,
    auto_configuration,
    bean,
    has_tool_calls,
    on_bean,
    on_missing_bean,
    on_module,
    on_setting,
)
from vernal_tool_search.advisor import ToolSearchToolCallingAdvisor
from vernal_tool_search.embedded import PACKAGE, WordLlamaEmbeddingModel
from vernal_tool_search.eviction import CompositeEviction, LruEviction, ToolIndexEvictionStrategy, TtlEviction
from vernal_tool_search.hybrid import HybridToolIndex
from vernal_tool_search.index import ToolIndex
from vernal_tool_search.keyword import KeywordToolIndex
from vernal_tool_search.regex import RegexToolIndex
from vernal_tool_search.semantic import SemanticToolIndex
from vernal_tool_search.settings import ToolSearchSettings

ENABLED = "chat.client.tool_search_advisor.enabled"
INDEX_TYPE = "chat.client.tool_search_advisor.tool_index_type"


@auto_configuration(after="ToolCallingAutoConfiguration", before="ChatClientAutoConfiguration")
@on_setting(ENABLED)
class ToolSearchAutoConfiguration:
    """The tool loop that searches takes the place of the default one; clients find it as they found that (TSC-07)."""

    @bean
    @on_setting(INDEX_TYPE, having="regex", match_if_missing=True)
    @on_missing_bean
    def regex_tool_index(self) -> ToolIndex:
        """Searches by regular expression."""
        return RegexToolIndex()

    @bean
    @on_setting(INDEX_TYPE, having="keyword")
    @on_missing_bean
    def keyword_tool_index(self, settings: ToolSearchSettings) -> ToolIndex:
        """Searches by words."""
        return KeywordToolIndex(min_score=settings.keyword.min_score_threshold)

    @bean
    @on_setting(INDEX_TYPE, having="semantic")
    @on_missing_bean
    def semantic_tool_index(self, model: EmbeddingModel, settings: ToolSearchSettings) -> ToolIndex:
        """Searches by meaning, with the application's embedding model."""
        return SemanticToolIndex(model, min_score=settings.semantic.min_score_threshold)

    @bean
    @on_setting(INDEX_TYPE, having="hybrid")
    @on_missing_bean
    def hybrid_tool_index(self, model: EmbeddingModel, settings: ToolSearchSettings) -> ToolIndex:
        """Searches by words and by meaning."""
        return HybridToolIndex(self.keyword_tool_index(settings), self.semantic_tool_index(model, settings))

    @bean
    @on_missing_bean
    def tool_index_eviction_strategy(self, settings: ToolSearchSettings) -> ToolIndexEvictionStrategy:
        """Keeps the sessions used last, and those not too long ago where the settings say how long (TSC-06)."""
        latest = LruEviction(settings.eviction.capacity)
        if settings.eviction.ttl is None:
            return latest
        return CompositeEviction(latest, TtlEviction(settings.eviction.ttl.total_seconds()))

    @bean
    @on_bean(ToolCallingManager)
    @on_missing_bean
    def tool_advisor(
        self,
        manager: ToolCallingManager,
        index: ToolIndex,
        eviction_strategy: ToolIndexEvictionStrategy,
        settings: ToolSearchSettings,
        checker: ObjectProvider[ToolExecutionEligibilityChecker],
    ) -> ToolAdvisor:
        """The loop that clients register."""
        return ToolSearchToolCallingAdvisor(
            tool_calling_manager=manager,
            tool_execution_eligibility_checker=checker.get_if_unique(has_tool_calls),
            tool_index=index,
            eviction_strategy=eviction_strategy,
            advisor_order=settings.advisor_order,
            max_results=settings.max_results,
            session_id_key_name=settings.session_id_key_name,
            reference_tool_name_accumulation=settings.reference_tool_name_accumulation,
            system_message_suffix=settings.system_message_suffix,
        )


@auto_configuration(order=LOWEST_PRECEDENCE, after=("OpenAiAutoConfiguration", "OllamaAutoConfiguration"))
@on_setting(ENABLED)
@on_setting(INDEX_TYPE, having=("semantic", "hybrid"))
class EmbeddedModelAutoConfiguration:
    """Where tools are searched by meaning and nobody else has an embedding model, the embedded one is there."""

    @bean
    @on_module(PACKAGE)
    @on_missing_bean
    def embedding_model(self) -> EmbeddingModel:
        """The embedded embedding model."""
        return WordLlamaEmbeddingModel()
