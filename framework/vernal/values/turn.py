"""What a turn remembers of itself, whatever is trimmed from or added to what is sent."""

from dataclasses import dataclass, field

from vernal.values.messages import AssistantMessage, Message, ToolCall
from vernal.values.usage import EMPTY_USAGE, Usage


@dataclass(slots=True, eq=False)
class Turn:
    """The own record of one turn: the calls that were answered, the ids in use, the usage of each round.

    Limits and the guard against identical calls count here (R10, R23), so that memory, hooks and advisors may change
    what is sent without changing what counts.
    """

    answered: list[ToolCall] = field(default_factory=list)
    calls_per_tool: dict[str, int] = field(default_factory=dict)
    used_ids: set[str] = field(default_factory=set)
    round_usages: list[Usage] = field(default_factory=list)
    usage: Usage = EMPTY_USAGE

    def record_call(self, call: ToolCall) -> None:
        """Note that `call` was answered (run or refused)."""
        self.answered.append(call)
        self.calls_per_tool[call.name] = self.calls_per_tool.get(call.name, 0) + 1

    def record_usage(self, usage: Usage) -> None:
        """Note what one more round has cost."""
        self.round_usages.append(usage)
        self.usage = self.usage + usage

    def note_ids(self, messages: tuple[Message, ...]) -> None:
        """Note the call ids in `messages`, so that no later call gets one of them again (R8)."""
        for message in messages:
            if isinstance(message, AssistantMessage):
                self.used_ids.update(call.id for call in message.tool_calls)
