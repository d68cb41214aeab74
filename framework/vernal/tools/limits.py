"""How often tools may be called in one turn, and what happens beyond."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from vernal.errors import VernalError
from vernal.tools.execution import PARTIAL_TOOL_RESPONSES, ToolExecutionResult
from vernal.values.mappings import frozen
from vernal.values.messages import AssistantMessage, ToolResponseMessage
from vernal.values.responses import ChatGenerationMetadata, FinishReason, Generation
from vernal.values.turn import Turn

UNLIMITED = -1
"""What settings write for no limit (TAC-13)."""


class OnLimitExceeded(StrEnum):
    """What a breached limit does: end the turn, or tell the model."""

    THROW = "throw"
    RETURN_ERROR_RESPONSE = "return_error_response"


@dataclass(frozen=True, slots=True)
class LimitBreach:
    """A limit that one more call would exceed; `tool_name` is None for the total of the turn."""

    tool_name: str | None
    limit: int

    @property
    def message(self) -> str:
        """For the developer (LIM-18)."""
        if self.tool_name is None:
            return f"Total tool call limit ({self.limit}) exceeded for this turn"
        return f"Tool call limit ({self.limit}) exceeded for tool {self.tool_name!r}"

    @property
    def text_for_model(self) -> str:
        """For the model (LIM-18)."""
        if self.tool_name is None:
            return f"{self.message}. No further tool calls are allowed."
        return f"{self.message}. No further calls to this tool are allowed in this turn."


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallLimits:
    """Limits per turn; a limit of N lets N calls be answered, None (or -1) means unlimited (LIM-14).

    `max_calls_per_tool` overrides the default for the named tools; `excluded_tools` have no limit of their own but
    count to the total (LIM-15). `max_identical_calls` is how many identical calls in a row run before the next is
    answered with a hint instead (R10).

    Raises:
        ValueError: a limit is not greater than 0, or a tool name is blank (LIM-21).
    """

    max_calls_per_tool_default: int | None = 40
    max_calls_per_tool: Mapping[str, int | None] = field(default_factory=dict)
    max_total_tool_calls: int | None = 150
    excluded_tools: frozenset[str] = frozenset()
    on_limit_exceeded: OnLimitExceeded = OnLimitExceeded.THROW
    max_identical_calls: int | None = 2

    def __post_init__(self) -> None:
        if isinstance(self.max_calls_per_tool, dict):  # another mapping may match names in a way of its own
            object.__setattr__(self, "max_calls_per_tool", frozen(self.max_calls_per_tool))
        object.__setattr__(self, "excluded_tools", frozenset(self.excluded_tools))
        object.__setattr__(self, "on_limit_exceeded", OnLimitExceeded(self.on_limit_exceeded))
        _refuse_low("max_calls_per_tool_default", self.max_calls_per_tool_default)
        _refuse_low("max_total_tool_calls", self.max_total_tool_calls)
        _refuse_low("max_identical_calls", self.max_identical_calls)
        for name, limit in self.max_calls_per_tool.items():
            _refuse_low(f"max_calls_per_tool of {name!r}", limit)
        for name in (*self.max_calls_per_tool, *self.excluded_tools):
            if not name.strip():
                raise ValueError(f"a tool call limit names the tool {name!r}; a non-blank tool name is wanted")

    def breach(self, tool_name: str, turn: Turn) -> LimitBreach | None:
        """The limit that one more call of the tool would exceed in `turn`; the tool's own comes first (LIM-15)."""
        limit = self._limit_of(tool_name)
        if limit is not None and turn.count(tool_name) >= limit:
            return LimitBreach(tool_name, limit)
        total = self.max_total_tool_calls
        if total is not None and total != UNLIMITED and turn.total >= total:
            return LimitBreach(None, total)
        return None

    def _limit_of(self, tool_name: str) -> int | None:
        if tool_name in self.excluded_tools:
            return None
        limit = self.max_calls_per_tool.get(tool_name, self.max_calls_per_tool_default)
        return None if limit == UNLIMITED else limit


class ToolCallLimitExceeded(VernalError):
    """A tool call limit ended the turn.

    `tool_name` is None where the total was exceeded; `partial_result` is the replayable history with what had run and
    the refusals (R12, LIM-19); `refused_id` is the id of the first call that was refused.
    """

    def __init__(self, breach: LimitBreach, partial_result: ToolExecutionResult, refused_id: str) -> None:
        super().__init__(
            f"{breach.message}; raise the limit (tools.max_calls_per_tool, tools.max_total_tool_calls), or set "
            f"tools.on_limit_exceeded=return_error_response to let the model answer with what it has"
        )
        self.breach = breach
        self.partial_result = partial_result
        self.refused_id = refused_id

    @property
    def tool_name(self) -> str | None:
        """The tool whose limit was exceeded, None for the total."""
        return self.breach.tool_name

    @property
    def limit(self) -> int:
        """The limit that was exceeded."""
        return self.breach.limit

    def build_generation(self) -> Generation:
        """The answer for the caller: the refusal as text, the other responses under `partialToolResponses` (LIM-20).

        Those of failed calls are among them: one that ran into its timeout may have taken effect (R12).
        """
        history = self.partial_result.conversation_history
        last = history[-1] if history else None
        text, partial = self.breach.text_for_model, []
        if isinstance(last, ToolResponseMessage):
            partial = [response for response in last.responses if response.id != self.refused_id]
            text = next((r.data for r in last.responses if r.id == self.refused_id), text)
        metadata = ChatGenerationMetadata(
            FinishReason.TOOL_CALL_LIMIT_EXCEEDED, properties={PARTIAL_TOOL_RESPONSES: tuple(partial)}
        )
        return Generation(AssistantMessage(text), metadata)


def _refuse_low(name: str, limit: int | None) -> None:
    if limit is None or limit == UNLIMITED:
        return
    if isinstance(limit, bool) or not isinstance(limit, int) or limit <= 0:
        raise ValueError(f"{name} is {limit!r}; it must be an integer greater than 0, or None for no limit")
