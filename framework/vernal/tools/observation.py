"""What is told of a tool call to an observation registry."""

from dataclasses import dataclass

from vernal.observation import ObservationConvention
from vernal.tools.definition import DEFAULT_METADATA, ToolDefinition, ToolMetadata


@dataclass(slots=True, eq=False, kw_only=True)
class ToolCallingObservationContext:
    """The subject of a tool observation: the tool, the call, and what came of it.

    `arguments` is the JSON text, `{}` where there are none (TOB-05); `result` is None until the tool has answered.
    """

    tool_definition: ToolDefinition
    tool_metadata: ToolMetadata = DEFAULT_METADATA
    tool_type: str = "function"
    call_id: str = ""
    arguments: str = "{}"
    result: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.tool_definition, ToolDefinition):
            raise TypeError(f"tool_definition is {self.tool_definition!r}; a ToolDefinition is wanted")
        if not isinstance(self.tool_metadata, ToolMetadata):
            raise TypeError(f"tool_metadata is {self.tool_metadata!r}; ToolMetadata are wanted")
        self.arguments = self.arguments or "{}"
        self.tool_type = self.tool_type or "function"
        self.call_id = self.call_id or ""


class ToolCallingObservationConvention(ObservationConvention[ToolCallingObservationContext]):
    """Names and keys of tool observations; with `include_content` the arguments and the result are among the keys."""

    name = "vernal.tool"
    context_type = ToolCallingObservationContext

    def contextual_name(self, context: ToolCallingObservationContext) -> str:
        """Which tool is executed."""
        return f"execute_tool {context.tool_definition.name}"

    def low_cardinality_keys(self, context: ToolCallingObservationContext) -> dict[str, str]:
        """The operation and the tool (TOB-02)."""
        return {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.provider.name": "vernal",
            "gen_ai.tool.name": context.tool_definition.name,
            "gen_ai.tool.type": context.tool_type,
        }

    def high_cardinality_keys(self, context: ToolCallingObservationContext) -> dict[str, str]:
        """The description and the id of the call (TOB-03)."""
        keys = {
            "gen_ai.tool.description": context.tool_definition.description,
            "gen_ai.tool.call.id": context.call_id,
        }
        if self.include_content:
            keys["gen_ai.tool.call.arguments"] = context.arguments
            if context.result is not None:
                keys["gen_ai.tool.call.result"] = context.result
        return keys


DEFAULT_CONVENTION = ToolCallingObservationConvention()
