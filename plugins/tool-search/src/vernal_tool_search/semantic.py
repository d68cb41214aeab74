"""Tools by what they mean."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from vernal import EmbeddingModel, check_range
from vernal_tool_search.catalogue import CatalogueToolIndex, Hit
from vernal_tool_search.values import ToolReference
from vernal_tool_search.words import words_of

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


class SemanticToolIndex(CatalogueToolIndex["NDArray[float32]"]):
    """Finds the tools whose name and description lie closest to the query, as an embedding model sees it.

    The tools of a catalogue are embedded in one go, at their first search; each search embeds its query. `min_score`
    is the least cosine of a result, from -1 to 1.

    Raises:
        TypeError, ValueError: `min_score` is no number from -1 to 1.
    """

    def __init__(self, embedding_model: EmbeddingModel, *, min_score: float = 0.0) -> None:
        super().__init__()
        check_range("min_score", min_score, -1, 1)
        self._model = embedding_model
        self._min_score = min_score

    async def prepare(self, tools: Sequence[ToolReference]) -> "NDArray[float32]":
        """A matrix with a row of length 1 for each tool."""
        return await self._directions([f"{' '.join(words_of(tool.tool_name))}: {tool.summary}" for tool in tools])

    async def rank(self, prepared: "NDArray[float32]", query: str) -> Iterable[Hit]:
        """All tools above the least score, by the cosine of the angle to the query."""
        if not query.strip():
            return []
        scores = prepared @ (await self._directions([query]))[0]
        order = (-scores).argsort(kind="stable")
        return [(int(place), float(scores[place])) for place in order if scores[place] >= self._min_score]

    async def _directions(self, texts: Sequence[str]) -> "NDArray[float32]":
        import numpy as np

        vectors = np.asarray((await self._model.aembed(texts)).vectors, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        directions: NDArray[float32] = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
        return directions
