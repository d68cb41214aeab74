"""One way to ask in all four forms, and an index that keeps what it was told."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from vernal import ChatClientRequestSpec
from vernal_tool_search import RegexToolIndex, ToolReference, ToolSearchRequest, ToolSearchResponse

Ask = Callable[[ChatClientRequestSpec], str]


async def _awaited(spec: ChatClientRequestSpec, form: str) -> str:
    if form == "acall":
        return await spec.acall().content() or ""
    async with spec.astream().content() as texts:
        return "".join([text async for text in texts])


@pytest.fixture(params=["call", "stream", "acall", "astream"])
def ask(request: pytest.FixtureRequest) -> Ask:
    """Run a request to its end in one of the four forms; gives the text."""
    form: str = request.param

    def text_of(spec: ChatClientRequestSpec) -> str:
        if form.startswith("a"):
            return asyncio.run(_awaited(spec, form))
        return spec.call().content() or "" if form == "call" else "".join(spec.stream().content())

    return text_of


class KeepingIndex(RegexToolIndex):
    """A regex index that keeps what was asked of it, and fails where `failure` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.cleared: list[str] = []
        self.indexed: list[tuple[str, list[ToolReference]]] = []
        self.searched: list[ToolSearchRequest] = []
        self.failure: Exception | None = None

    async def aindex(self, session_id: str, tools: Sequence[ToolReference]) -> None:
        self.indexed.append((session_id, list(tools)))
        await super().aindex(session_id, tools)

    async def aclear(self, session_id: str) -> None:
        self.cleared.append(session_id)
        await super().aclear(session_id)

    async def asearch(self, request: ToolSearchRequest) -> ToolSearchResponse:
        self.searched.append(request)
        if self.failure is not None:
            raise self.failure
        return await super().asearch(request)


@pytest.fixture
def index() -> KeepingIndex:
    """A fresh index."""
    return KeepingIndex()
