"""What a search for tools asks and answers."""

from dataclasses import dataclass

from vernal import check_range


@dataclass(frozen=True, slots=True)
class ToolReference:
    """A tool as an index knows it: its name, and its description as `summary`.

    `relevance_score` is set in answers: greater is better, on a scale that is each index's own.
    """

    tool_name: str
    summary: str = ""
    relevance_score: float | None = None


@dataclass(frozen=True, slots=True)
class ToolSearchRequest:
    """A search in the tools of one session.

    - `query`: in words, what a tool should do.
    - `max_results`: how many tools to give at most; None: the index decides (10).
    - `category_filter`: only tools in whose name or summary this word occurs; ignored where it occurs in none.

    Raises:
        TypeError, ValueError: `max_results` is no positive integer.
    """

    session_id: str
    query: str
    max_results: int | None = None
    category_filter: str | None = None

    def __post_init__(self) -> None:
        check_range("max_results", self.max_results, 1, kind=int)


@dataclass(frozen=True, slots=True)
class ToolSearchResponse:
    """The tools that were found, best first; `total_matches` counts those beyond `max_results` too."""

    tool_references: tuple[ToolReference, ...] = ()
    total_matches: int = 0
