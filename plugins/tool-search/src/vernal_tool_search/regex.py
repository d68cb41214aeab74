"""Tools by regular expression: needs no dependency and no preparation."""

import re
from collections.abc import Iterable, Sequence

from vernal_tool_search.catalogue import CatalogueToolIndex, Hit
from vernal_tool_search.values import ToolReference
from vernal_tool_search.words import STOP_WORDS

LONGEST_PATTERN = 200
"""Characters of a pattern; of a longer query the words at the end are left out."""
PUNCTUATION = ".,;:?!\"'()"
"""What is taken off the ends of words."""


class RegexToolIndex(CatalogueToolIndex[Sequence[ToolReference]]):
    """Finds the words of a query in names and descriptions, also inside other words; a name counts twice as much."""

    async def prepare(self, tools: Sequence[ToolReference]) -> Sequence[ToolReference]:
        """The tools as they are."""
        return tools

    async def rank(self, prepared: Sequence[ToolReference], query: str) -> Iterable[Hit]:
        """The tools with at least one of the words; of equal scores the order is that of the tools."""
        pattern = re.compile(to_pattern(query))
        scores = ((place, _score(pattern, tool)) for place, tool in enumerate(prepared))
        return sorted((hit for hit in scores if hit[1]), key=lambda hit: -hit[1])


def to_pattern(query: str) -> str:
    """The words of `query`, as a pattern: `"get user data"` becomes `(?i)(get|user|data)` (TSX-04).

    Words that say nothing and single letters are left out, unless nothing else is there.
    """
    words = [word for word in (word.strip(PUNCTUATION) for word in query.lower().split()) if word]
    words = [word for word in words if word not in STOP_WORDS and len(word) > 1] or words
    left, kept = LONGEST_PATTERN - len("(?i)()"), []
    for word in map(re.escape, words):
        left -= len(word) + 1
        if left < 0:
            break
        kept.append(word)
    return f"(?i)({'|'.join(kept)})" if kept else ".*"


def _score(pattern: re.Pattern[str], tool: ToolReference) -> float:
    return _found(pattern, tool.tool_name, 2.0, 1.0) + _found(pattern, tool.summary, 1.0, 0.5)


def _found(pattern: re.Pattern[str], text: str, each: float, first: float) -> float:
    """`each` for every occurrence, and up to `first` more, the earlier the first one stands (TSX-06)."""
    starts = [match.start() for match in pattern.finditer(text)]
    return each * len(starts) + first / (1 + 0.1 * starts[0]) if starts else 0.0
