"""What a turn remembers of itself, whatever is trimmed from or added to what is sent."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vernal.values.events import ChatEvent
from vernal.values.messages import AssistantMessage, Message, ToolCall
from vernal.values.usage import EMPTY_USAGE, Usage

if TYPE_CHECKING:
    from vernal.tools.interception import Resumption
    from vernal.values.options import ChatOptions
    from vernal.values.responses import Generation


@dataclass(slots=True, eq=False)
class AnsweredCall:
    """A call of the turn that has got its answer: `arguments` are what is compared of them (None where unknown).

    `took_effect` says whether the tool runs, has run, or may have run (a timeout), as against a refusal or a failure.
    """

    call: ToolCall
    arguments: Mapping[str, Any] | None
    took_effect: bool


@dataclass(slots=True, eq=False)
class Turn:
    """The own record of one turn: the calls that were answered, the ids in use, the usage and the model of each round,
    the options and the messages that went to the model last, the generations of its answer whose calls have been
    repaired and not yet executed, who hears of events, how it was resumed, if it was, and whether the model was told
    that no further call is allowed.

    Limits and the guard against identical calls count here (R10, R23), so that memory, hooks and advisors may change
    what is sent without changing what counts.
    """

    answered: list[AnsweredCall] = field(default_factory=list)
    by_tool: dict[str, list[AnsweredCall]] = field(default_factory=dict)
    used_ids: set[str] = field(default_factory=set)
    round_usages: list[Usage] = field(default_factory=list)
    round_models: list[str | None] = field(default_factory=list)
    usage: Usage = EMPTY_USAGE
    offered: "ChatOptions | None" = None
    repaired: "tuple[Generation, ...]" = ()
    replayable: "tuple[Message, ...]" = ()
    listener: Callable[[ChatEvent], None] | None = None
    resumption: "Resumption | None" = None
    exhausted: bool = False

    @property
    def total(self) -> int:
        """How many calls have been answered in this turn; refused ones count (LIM-17)."""
        return len(self.answered)

    def count(self, tool_name: str) -> int:
        """How many calls of one tool have been answered in this turn."""
        return len(self.by_tool.get(tool_name, ()))

    def record_call(self, call: ToolCall, arguments: Mapping[str, Any] | None) -> AnsweredCall:
        """Note that `call` is being answered; whether it takes effect is set later."""
        answered = AnsweredCall(call, arguments, took_effect=False)
        self.answered.append(answered)
        self.by_tool.setdefault(call.name, []).append(answered)
        self.used_ids.add(call.id)
        return answered

    def record_usage(self, usage: Usage, model: str | None = None) -> None:
        """Note what one more round has used, and of which model."""
        self.round_usages.append(usage)
        self.round_models.append(model)
        self.usage = self.usage + usage

    def note_ids(self, messages: Iterable[Message]) -> None:
        """Note the call ids in `messages`, so that no later call gets one of them again (R8)."""
        self.used_ids |= call_ids(messages)


def call_ids(messages: Iterable[Message]) -> set[str]:
    """The ids of all tool calls in `messages`."""
    return {call.id for message in messages if isinstance(message, AssistantMessage) for call in message.tool_calls}
