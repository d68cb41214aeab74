"""The tool with which a model looks for tools."""

import logging
from typing import Annotated

from pydantic import Field

from vernal import ToolContext, ToolResult, tool
from vernal_tool_search.index import ToolIndex
from vernal_tool_search.values import ToolSearchRequest

_log = logging.getLogger("vernal.tool_search")

TOOL_NAME = "toolSearchTool"
SESSION_ID = "toolSearchToolSessionId"
"""The entry of the tool context that names the session (TSA-17)."""


class ToolSearchTool:
    """Searches the tools of the session that the tool context names. Its parameters are named as models see them."""

    def __init__(self, tool_index: ToolIndex, max_results: int | None) -> None:
        self._index = tool_index
        self._max_results = max_results

    @tool(name=TOOL_NAME, effects="read")
    async def search(
        self,
        query: str,
        context: ToolContext,
        maxResults: Annotated[int, Field(ge=1)] | None = None,  # noqa: N803
        categoryFilter: str | None = None,  # noqa: N803
    ) -> list[str] | str:
        """Find tools by what they do. The names that it gives are tools that can be called from then on.

        Args:
            query: In a few words, what the tool should do, such as "refund an order".
            maxResults: How many tools to name at most.
            categoryFilter: One word that the name or description of each tool must have, such as "calendar".
        """
        request = ToolSearchRequest(context[SESSION_ID], query, maxResults or self._max_results, categoryFilter)
        try:
            response = await self._index.asearch(request)
        except Exception as error:  # noqa: BLE001 - a failed search does not end the turn; the model may try again
            _log.warning("a search for tools failed: %s", error, exc_info=error)
            return ToolResult("The search failed. Try again, or go on without.", is_error=True)
        return [reference.tool_name for reference in response.tool_references]
