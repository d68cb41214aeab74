"""Tools by their words, weighed by how rare they are (BM25)."""

from collections.abc import Iterable, Sequence
from typing import Any

from vernal import check_range
from vernal_tool_search.catalogue import CatalogueToolIndex, Hit
from vernal_tool_search.values import ToolReference
from vernal_tool_search.words import telling_words_of

NAME_BOOST = 4
MIN_SCORE = 0.25


class KeywordToolIndex(CatalogueToolIndex[tuple[Any, Any]]):
    """Finds tools by the words that name and description share with a query; those of the name count four times.

    Words are compared by their stems, so that "refunds" finds "refund". `min_score` is the least score of a result as a
    share of the best one's: scores as such depend on how many tools there are (TSX-07).

    Raises:
        TypeError, ValueError: `min_score` is no number from 0 to 1.
    """

    def __init__(self, *, min_score: float = MIN_SCORE) -> None:
        super().__init__()
        check_range("min_score", min_score, 0, 1)
        self._min_score = min_score

    async def prepare(self, tools: Sequence[ToolReference]) -> tuple[Any, Any]:
        """The words of the names, and those of the descriptions."""
        return _weighed([tool.tool_name for tool in tools]), _weighed([tool.summary for tool in tools])

    async def rank(self, prepared: tuple[Any, Any], query: str) -> Iterable[Hit]:
        """The tools that share a word, down to the least score."""
        words = list(dict.fromkeys(_stems_of(query)))
        if not words:
            return []
        names, summaries = prepared
        scores = NAME_BOOST * names.get_scores(words) + summaries.get_scores(words)
        order = (-scores).argsort(kind="stable")
        least = self._min_score * scores[order[0]]
        return [(int(place), float(scores[place])) for place in order if scores[place] > 0 and scores[place] >= least]


def _stems_of(text: str) -> list[str]:
    import Stemmer  # type: ignore[import-not-found]  # it has no stubs

    stemmer: Any = Stemmer.Stemmer("english")
    return list(stemmer.stemWords(telling_words_of(text)))


def _weighed(texts: Sequence[str]) -> Any:
    from bm25s import BM25  # type: ignore[import-untyped]  # it has no stubs

    weighed = BM25()
    weighed.index([_stems_of(text) or [""] for text in texts], show_progress=False)
    return weighed
