"""What can go wrong around a tool, and for whose eyes each error is.

VernalError
├── ToolExecutionException        a call failed; carries the tool's definition and the cause
├── ToolFailure                   raised by a tool: its message is meant for the model
├── ToolArgumentsError            the model's arguments do not fit: its message is meant for the model
└── ConfigurationError
    ├── InvalidToolError          what was given cannot be a tool
    └── DuplicateToolError        two tools of one name
"""

from typing import Any

from vernal.errors import ConfigurationError, VernalError
from vernal.tools.definition import ToolDefinition


class ToolExecutionException(VernalError, RuntimeError):
    """A tool call failed: the message is the cause's (EXC-11), `__cause__` the cause itself.

    `tool_definition` is the definition of the tool. `partial_result` is None, or what had already run in the same
    round when the policy is to raise (R12). `has_run` says that the tool itself had come to its end, and only its
    result could not be told: it took effect, and does not run again (R10).
    """

    def __init__(self, tool_definition: ToolDefinition, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.tool_definition = tool_definition
        self.partial_result: Any = None
        self.has_run = False
        self.__cause__ = cause

    def __reduce__(self) -> tuple[Any, ...]:
        return (
            type(self),
            (self.tool_definition, self.__cause__),
            {"partial_result": self.partial_result, "has_run": self.has_run},
        )


class ToolFailure(VernalError):
    """Raise it in a tool to tell the model why the tool cannot do what was asked; the message reaches it as it is.

    It does so under each text policy of the exception processor (R11).
    """


class ToolArgumentsError(VernalError):
    """The model's arguments do not fit the tool, which therefore was not called (R5).

    The message is written for the model: which argument, why, and what is allowed.
    """


class InvalidToolError(ConfigurationError, ValueError):
    """What was given cannot be a tool; the text names the tool, the part, and the cure."""


class DuplicateToolError(ConfigurationError, ValueError):
    """Two tools of one name meet (R29); `name` is the name, `origins` say where each comes from."""

    def __init__(self, name: str, origins: tuple[str, ...]) -> None:
        twice = len(set(origins)) == 1
        super().__init__(
            f"Multiple tools with the same name ({name}) found in sources: {', '.join(origins)}; "
            + ("the same tool is given twice, " if twice else "give one of them another name with @tool(name=…), or ")
            + "leave one out"
        )
        self.name = name
        self.origins = origins

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.origins)
