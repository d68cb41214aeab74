"""What the shipped indexes share: the tools of each session in memory, and one catalogue for each set of tools."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from vernal_tool_search.index import DEFAULT_MAX_RESULTS, ToolIndex
from vernal_tool_search.values import ToolReference, ToolSearchRequest, ToolSearchResponse
from vernal_tool_search.words import words_of

P = TypeVar("P")
Hit = tuple[int, float]
"""The place of a tool in the catalogue, and its score."""


@dataclass(eq=False)
class Catalogue(Generic[P]):
    """A set of tools, and what an index has prepared of it."""

    tools: tuple[ToolReference, ...]
    prepared: P


@dataclass(eq=False)
class _Session(Generic[P]):
    tools: dict[str, ToolReference] = field(default_factory=dict)
    catalogue: Catalogue[P] | None = None


class CatalogueToolIndex(ToolIndex, Generic[P], abstract=True):
    """An index in memory; a subclass says how a set of tools is prepared, and how a query ranks it.

    Preparing waits for the first search. Sessions with the same tools share what was prepared, and sessions that
    nobody searches cost their list of tools. May be used from several threads and event loops at once.
    """

    def __init__(self) -> None:
        self._sessions: dict[str, _Session[P]] = {}
        self._catalogues: WeakValueDictionary[tuple[ToolReference, ...], Catalogue[P]] = WeakValueDictionary()
        self._lock = threading.Lock()

    async def prepare(self, tools: Sequence[ToolReference]) -> P:
        """What is needed to rank `tools`; there is at least one."""
        raise NotImplementedError(f"{type(self).__qualname__} has no method 'prepare'")

    async def rank(self, prepared: P, query: str) -> Iterable[Hit]:
        """The tools that fit `query`, best first, by their places in what was prepared."""
        raise NotImplementedError(f"{type(self).__qualname__} has no method 'rank'")

    def size(self, session_id: str) -> int:
        """How many tools the session has."""
        session = self._sessions.get(session_id)
        return 0 if session is None else len(session.tools)

    async def aindex(self, session_id: str, tools: Sequence[ToolReference]) -> None:
        """Add `tools` to those of the session; nothing is prepared before they are searched."""
        with self._lock:
            session = self._sessions.setdefault(session_id, _Session())
            session.tools.update((tool.tool_name, tool) for tool in tools)
            session.catalogue = None

    async def aclear(self, session_id: str) -> None:
        """Forget the tools of the session."""
        with self._lock:
            self._sessions.pop(session_id, None)

    async def asearch(self, request: ToolSearchRequest) -> ToolSearchResponse:
        """The tools that fit, best first."""
        catalogue = await self._catalogue(request.session_id)
        if catalogue is None:
            return ToolSearchResponse()
        tools = catalogue.tools
        hits = list(await self.rank(catalogue.prepared, request.query))
        if request.category_filter:
            within = _places_of(request.category_filter, tools)
            hits = [hit for hit in hits if hit[0] in within] if within else hits
        best = hits[: request.max_results or DEFAULT_MAX_RESULTS]
        return ToolSearchResponse(
            tuple(replace(tools[place], relevance_score=score) for place, score in best), len(hits)
        )

    async def _catalogue(self, session_id: str) -> Catalogue[P] | None:
        with self._lock:
            session = self._sessions.get(session_id)
            if session is None or not session.tools:
                return None
            catalogue, tools = session.catalogue, tuple(session.tools.values())
        if catalogue is None:
            catalogue = self._catalogues.get(tools)
            if catalogue is None:
                catalogue = self._catalogues[tools] = Catalogue(tools, await self.prepare(tools))
            with self._lock:
                if tuple(session.tools.values()) == tools:  # else more were added meanwhile
                    session.catalogue = catalogue
        return catalogue


def _places_of(category: str, tools: Sequence[ToolReference]) -> set[int]:
    wanted = set(words_of(category))
    return {
        place
        for place, tool in enumerate(tools)
        if wanted and wanted <= {*words_of(tool.tool_name), *words_of(tool.summary)}
    }
