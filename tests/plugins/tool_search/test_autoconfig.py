"""The plugin in an application: a setting puts the search in the place of the default tool loop."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

import vernal_autoconfig.plugin
import vernal_openai.plugin
import vernal_tool_search.plugin
from vernal import (
    ChatClient,
    ChatModel,
    ChatResponse,
    EmbeddingModel,
    EmbeddingResponse,
    ToolAdvisor,
    ToolCallingAdvisor,
    ToolCallingManager,
    ToolExecutionEligibilityChecker,
    bean,
    configuration,
    hookimpl,
    tool,
)
from vernal.testing import ApplicationContextRunner, ScriptedChatModel, tool_call
from vernal_autoconfig.chat_client import ChatClientAutoConfiguration
from vernal_autoconfig.tool_calling import ToolCallingAutoConfiguration
from vernal_openai import OpenAiEmbeddingModel
from vernal_tool_search import (
    CompositeEviction,
    HybridToolIndex,
    KeywordToolIndex,
    LruEviction,
    RegexToolIndex,
    SemanticToolIndex,
    ToolIndex,
    ToolIndexEvictionStrategy,
    ToolReference,
    ToolSearchAutoConfiguration,
    ToolSearchRequest,
    ToolSearchToolCallingAdvisor,
    WordLlamaEmbeddingModel,
)

PREFIX = "VERNAL_CHAT__CLIENT__TOOL_SEARCH_ADVISOR__"
PLUGINS = {"vernal-autoconfig": vernal_autoconfig.plugin, "tool-search": vernal_tool_search.plugin}


def runner(enabled: str = "true", **settings: str) -> ApplicationContextRunner:
    """An application with the plugin, the defaults and these settings of the search."""
    environ = {PREFIX + name: value for name, value in {"ENABLED": enabled, **settings}.items()}
    return ApplicationContextRunner().with_plugins(PLUGINS).with_environ({"VERNAL_CHAT__MODEL": "offline", **environ})


def advisor_of(run: Any) -> ToolSearchToolCallingAdvisor:
    """The tool advisor, which is the searching one."""
    advisor = run.context.get(ToolAdvisor)
    assert isinstance(advisor, ToolSearchToolCallingAdvisor)
    return advisor


@pytest.mark.parametrize("enabled", ["", "false"])
def test_it_is_not_there_by_default(enabled: str) -> None:
    """TSC-01, TSC-07: without the setting there is no index, and the tool advisor is the default one."""
    with runner(enabled).run() as run:
        assert not run.context.get_all(ToolIndex)
        assert type(run.context.get(ToolAdvisor)) is ToolCallingAdvisor


def test_a_setting_replaces_the_tool_advisor() -> None:
    """TSC-02, TSC-05: the client's loop is the searching one, with the context's manager; the index is by regex."""
    model = ScriptedChatModel([tool_call("toolSearchTool", query="time"), tool_call("get_time"), "It is noon."])

    @tool
    def get_time() -> str:
        """The time."""
        return "noon"

    with runner().with_bean(ChatModel, model).run() as run:
        advisor = advisor_of(run)
        assert advisor.tool_calling_manager is run.context.get(ToolCallingManager)
        assert isinstance(run.context.get(ToolIndex), RegexToolIndex)
        client = run.context.get(ChatClient)
        assert client.prompt("Time?").tools(get_time).advisors(conversation_id="c").call().content() == "It is noon."


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("regex", RegexToolIndex),
        ("keyword", KeywordToolIndex),
        ("semantic", SemanticToolIndex),
        ("hybrid", HybridToolIndex),
    ],
)
def test_the_index_is_chosen_by_setting(name: str, kind: type) -> None:
    """TSC-02: each type is there by its name, by meaning with the embedded model where there is no other; it finds."""
    with runner(TOOL_INDEX_TYPE=name).run() as run:
        index = run.context.get(ToolIndex)
        assert isinstance(index, kind)
        assert advisor_of(run).tool_index is index
        index.index("s", [ToolReference("weather", "The weather"), ToolReference("refund", "Money back")])
        [best, *_] = index.search(ToolSearchRequest("s", "weather")).tool_references
        assert best.tool_name == "weather"
        embedded = [type(model) for model in run.context.get_all(EmbeddingModel)]
        assert embedded == ([WordLlamaEmbeddingModel] if name in ("semantic", "hybrid") else [])


def test_a_search_by_meaning_needs_an_embedding_model() -> None:
    """TSC-02: without one the start fails, and the report names the type that is missing, who wants it, and a cure."""
    with runner(TOOL_INDEX_TYPE="semantic").without_modules("wordllama").run() as run:
        text = str(run.failure)
    assert "EmbeddingModel" in text
    assert "semantic_tool_index" in text
    assert "Install the package that brings the module 'wordllama' or declare a bean" in text


def test_an_unknown_type_is_refused() -> None:
    """TSC-03, other than there: a wrong setting is an error that names the value, the setting and what is allowed."""
    with runner(TOOL_INDEX_TYPE="lucene").run() as run:
        text = str(run.failure)
    assert "lucene" in text
    assert "tool_index_type" in text.lower()
    assert "wanted 'regex' or 'keyword' or 'semantic' or 'hybrid'" in text


def test_a_users_own_index_wins() -> None:
    """TSC-04: a bean of the type takes the place of the default, whatever the settings say."""
    own = RegexToolIndex()
    with runner(TOOL_INDEX_TYPE="semantic").with_bean(ToolIndex, own).run() as run:
        assert run.context.get(ToolIndex) is own
        assert advisor_of(run).tool_index is own


def test_a_users_own_embedding_model_wins() -> None:
    """What is searched by meaning is searched with the application's embedding model."""

    class Flat(EmbeddingModel):
        def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
            return EmbeddingResponse(((1.0,),) * len(texts))

    own = Flat()
    with runner(TOOL_INDEX_TYPE="semantic").with_bean(EmbeddingModel, own).run() as run:
        assert run.context.get(EmbeddingModel) is own
        index = run.context.get(ToolIndex)
        index.index("s", [ToolReference("a"), ToolReference("b")])
        scores = [tool.relevance_score for tool in index.search(ToolSearchRequest("s", "q")).tool_references]
        assert scores == [1.0, 1.0]


def test_a_providers_embedding_model_wins(caplog: pytest.LogCaptureFixture) -> None:
    """R27: where `openai.embedding.model` is set, that is the embedding model, and nobody is warned of two."""
    plugins = {**PLUGINS, "openai": vernal_openai.plugin}
    environ = {"VERNAL_OPENAI__EMBEDDING__MODEL": "e", "VERNAL_OPENAI__API_KEY": "k"}
    with runner(TOOL_INDEX_TYPE="semantic").with_plugins(plugins).with_environ(environ).run() as run:
        assert isinstance(run.context.get(EmbeddingModel), OpenAiEmbeddingModel)
    assert "embedding_model" not in caplog.text


def test_settings_reach_the_advisor() -> None:
    """TSC-05: order, results, session key, accumulation and suffix are those of the settings, the checker the bean."""

    def never(response: ChatResponse) -> bool:
        return False

    @configuration
    class Beans:
        @bean
        def checker(self) -> ToolExecutionEligibilityChecker:
            return never

    settings = {
        "ADVISOR_ORDER": "5",
        "MAX_RESULTS": "7",
        "SESSION_ID_KEY_NAME": "tenant",
        "REFERENCE_TOOL_NAME_ACCUMULATION": "false",
        "SYSTEM_MESSAGE_SUFFIX": " Search.",
    }
    with runner(**settings).with_sources(Beans).run() as run:
        advisor = advisor_of(run)
        assert (advisor.order, advisor.max_results, advisor.session_id_key_name) == (5, 7, "tenant")
        assert (advisor.reference_tool_name_accumulation, advisor.system_message_suffix) == (False, " Search.")
        assert advisor.tool_execution_eligibility_checker is never


@pytest.mark.parametrize(("least", "expected"), [("0.0", ["refund", "note"]), ("1.0", ["refund"])])
def test_the_least_score_of_keywords_is_a_setting(least: str, expected: list[str]) -> None:
    """TSC-05: `keyword.min_score_threshold` bounds what is found."""
    with runner(TOOL_INDEX_TYPE="keyword", KEYWORD__MIN_SCORE_THRESHOLD=least).run() as run:
        index = run.context.get(ToolIndex)
        index.index("s", [ToolReference("refund", "Money back"), ToolReference("note", "A note on a refund")])
        found = index.search(ToolSearchRequest("s", "refund")).tool_references
    assert [tool.tool_name for tool in found] == expected


def test_eviction_is_by_use_and_by_time() -> None:
    """TSC-06: the last thousand sessions by default; with a ttl also by time; a bean of the type takes its place."""
    with runner().run() as run:
        strategy = run.context.get(ToolIndexEvictionStrategy)
        assert isinstance(strategy, LruEviction)
        assert [gone for number in range(1001) for gone in strategy.on_access(str(number))] == ["0"]
        assert advisor_of(run).eviction_strategy is strategy
    with runner(EVICTION__TTL="10m", EVICTION__CAPACITY="1").run() as run:
        strategy = run.context.get(ToolIndexEvictionStrategy)
        assert isinstance(strategy, CompositeEviction)
        assert [list(strategy.on_access(name)) for name in "ab"] == [[], ["a"]]
    own = LruEviction(3)
    with runner().with_bean(ToolIndexEvictionStrategy, own).run() as run:
        assert advisor_of(run).eviction_strategy is own


@pytest.mark.parametrize("enabled", ["true", "false"])
@pytest.mark.parametrize(
    "order",
    [*itertools.permutations((ChatClientAutoConfiguration, ToolCallingAutoConfiguration, ToolSearchAutoConfiguration))],
)
def test_the_order_of_listing_does_not_matter(order: tuple[type, ...], enabled: str) -> None:
    """TSC-07, R27: however the auto-configurations are listed, the setting alone decides which advisor there is."""

    class Listed:
        @staticmethod
        @hookimpl
        def vernal_auto_configurations() -> list[type]:
            return list(order)

        @staticmethod
        @hookimpl
        def vernal_settings() -> list[type]:
            return [*vernal_autoconfig.plugin.vernal_settings(), *vernal_tool_search.plugin.vernal_settings()]

    with runner(enabled).with_plugins({"listed": Listed}).with_bean(ChatModel, ScriptedChatModel()).run() as run:
        kind = ToolSearchToolCallingAdvisor if enabled == "true" else ToolCallingAdvisor
        assert [type(advisor) for advisor in run.context.get_all(ToolAdvisor)] == [kind]
        assert type(run.context.get(ChatClient).tool_advisor) is kind
