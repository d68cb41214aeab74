"""The interface of everything in which tools can be searched."""

from collections.abc import Sequence
from typing import ClassVar

from vernal import Face, TwoFaced
from vernal_tool_search.values import ToolReference, ToolSearchRequest, ToolSearchResponse

DEFAULT_MAX_RESULTS = 10


class ToolIndex(TwoFaced, abstract=True):
    """The tools of sessions, kept apart, to be searched.

    Of each of the pairs `index` and `aindex`, `search` and `asearch`, `clear` and `aclear` implement one; the other
    follows.
    """

    __faces__: ClassVar = (Face("index", "aindex"), Face("search", "asearch"), Face("clear", "aclear"))

    def index(self, session_id: str, tools: Sequence[ToolReference]) -> None:
        """Add `tools` to those of the session; one of a known name takes the place of that one."""
        raise NotImplementedError

    async def aindex(self, session_id: str, tools: Sequence[ToolReference]) -> None:
        """Add `tools` to those of the session; one of a known name takes the place of that one."""
        raise NotImplementedError

    def search(self, request: ToolSearchRequest) -> ToolSearchResponse:
        """The tools of the request's session that fit its query, best first; of an unknown session none."""
        raise NotImplementedError

    async def asearch(self, request: ToolSearchRequest) -> ToolSearchResponse:
        """The tools of the request's session that fit its query, best first; of an unknown session none."""
        raise NotImplementedError

    def clear(self, session_id: str) -> None:
        """Forget the tools of the session, if there are any."""
        raise NotImplementedError

    async def aclear(self, session_id: str) -> None:
        """Forget the tools of the session, if there are any."""
        raise NotImplementedError
