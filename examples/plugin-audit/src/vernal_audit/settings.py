"""What is set for the audit: `VERNAL_AUDIT__…`."""

from pathlib import Path

from pydantic import Field

from vernal import Settings, ToolCallingAdvisor


class AuditSettings(Settings, prefix="audit"):
    """What is written down, and where."""

    enabled: bool = Field(default=True, description="Whether tool calls are written down.")
    path: Path = Field(default=Path("audit.jsonl"), description="The file, one line of JSON for each call.")
    arguments: bool = Field(default=False, description="Whether arguments are written down; they may be private.")
    offer_tool: bool = Field(default=False, description="Whether clients offer the tool recent_tool_calls.")


class LoopSettings(Settings, prefix="chat.client.tool_calling"):
    """What is set for the loop that this plugin replaces, so that it goes on to hold: classes may share a prefix."""

    advisor_order: int = Field(
        default=ToolCallingAdvisor.advisor_order, description="Where the tool advisor stands among the advisors."
    )
