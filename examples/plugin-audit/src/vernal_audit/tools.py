"""A tool of the plugin, and how clients come to offer it."""

from typing import Annotated

from vernal import ChatClientBuilder, Inject, tool
from vernal_audit.journal import Journal


@tool(effects="read")
def recent_tool_calls(journal: Annotated[Journal | None, Inject], count: int = 10) -> str:
    """Tell which tools were called lately.

    Args:
        count: How many calls to tell of.
    """
    if journal is None:
        return "Tool calls are not written down here."
    return "\n".join(map(str, journal.last(count))) or "No tool has been called."


def offer_recent_tool_calls(builder: ChatClientBuilder) -> None:
    """Offer the tool in every client that is built."""
    builder.default_tools(recent_tool_calls)
