"""`ToolSearchToolCallingAdvisor` holds what every advisor that runs the loop must, once the tools are found."""

from vernal import ToolAdvisor, ToolCallingManager
from vernal.testing import ToolAdvisorContract, tool_call
from vernal_tool_search import RegexToolIndex, ToolSearchToolCallingAdvisor


class TestToolSearchToolCallingAdvisor(ToolAdvisorContract):
    opening = (tool_call("toolSearchTool", query="look direct fail stop", call_id="search"),)

    def create_advisor(self, manager: ToolCallingManager) -> ToolAdvisor:
        return ToolSearchToolCallingAdvisor(tool_calling_manager=manager, tool_index=RegexToolIndex())
