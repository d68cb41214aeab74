"""Several indexes as one."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from vernal_tool_search.index import DEFAULT_MAX_RESULTS, ToolIndex
from vernal_tool_search.values import ToolReference, ToolSearchRequest, ToolSearchResponse

_log = logging.getLogger("vernal.tool_search")

SMOOTHING = 60
"""The constant of reciprocal rank fusion: how little the first few ranks differ."""
DEPTH = 5
"""How many times as many results as are wanted each index is asked for."""


class HybridToolIndex(ToolIndex):
    """Asks several indexes, and ranks what they find by reciprocal rank fusion: what several rank high comes first.

    Where an index fails, the others answer, and the log `vernal.tool_search` tells; where all fail, the last failure is
    raised. Scores are sums of `1 / (60 + rank)`.

    Raises:
        ValueError: no index is given.
    """

    def __init__(self, *indexes: ToolIndex) -> None:
        if not indexes:
            raise ValueError("a HybridToolIndex was given no index; at least one is wanted")
        self._indexes = indexes

    async def aindex(self, session_id: str, tools: Sequence[ToolReference]) -> None:
        """Add `tools` to the session in each index."""
        for index in self._indexes:
            await index.aindex(session_id, tools)

    async def aclear(self, session_id: str) -> None:
        """Forget the tools of the session in each index."""
        for index in self._indexes:
            await index.aclear(session_id)

    async def asearch(self, request: ToolSearchRequest) -> ToolSearchResponse:
        """The tools that any index finds, best first."""
        wanted = request.max_results or DEFAULT_MAX_RESULTS
        deeper = replace(request, max_results=wanted * DEPTH)
        found: dict[str, ToolReference] = {}
        scores: dict[str, float] = {}
        failure: Exception | None = None
        answered = 0
        for index in self._indexes:
            try:
                response = await index.asearch(deeper)
            except Exception as error:  # noqa: BLE001 - the others may answer
                _log.warning("a search for tools in %s failed: %s", type(index).__name__, error, exc_info=error)
                failure = error
                continue
            answered += 1
            for rank, tool in enumerate(response.tool_references, start=1):
                found.setdefault(tool.tool_name, tool)
                scores[tool.tool_name] = scores.get(tool.tool_name, 0.0) + 1 / (SMOOTHING + rank)
        if failure is not None and not answered:
            raise failure
        best = sorted(scores, key=lambda name: -scores[name])[:wanted]
        return ToolSearchResponse(
            tuple(replace(found[name], relevance_score=scores[name]) for name in best), len(scores)
        )
