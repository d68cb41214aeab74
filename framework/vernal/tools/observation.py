"""What is told of a tool call to an observation registry."""

from vernal.observation import Observation
from vernal.tools.callback import ToolCallback
from vernal.tools.context import ToolContext
from vernal.values.messages import ToolCall

TOOL_OBSERVATION = "vernal.tool"


def tool_observation(callback: ToolCallback, call: ToolCall, context: ToolContext) -> Observation:
    """The observation of one tool call, with the attribute names of OpenTelemetry's GenAI conventions (TCM-37).

    Arguments and result are not among the keys: they may be private; `subject` and `result` hold them for a registry
    that is told to look.
    """
    definition = callback.definition
    return Observation(
        TOOL_OBSERVATION,
        f"execute_tool {definition.name}",
        low_cardinality_keys={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.provider.name": "vernal",
            "gen_ai.tool.name": definition.name,
            "gen_ai.tool.type": call.type,
        },
        high_cardinality_keys={
            "gen_ai.tool.description": definition.description,
            "gen_ai.tool.call.id": call.id,
        },
        subject=call,
    )
