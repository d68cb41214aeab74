"""The record of a turn, rebuilt from a prompt where a loop is driven by hand."""

from collections.abc import Sequence

from vernal.values.arguments import comparable_arguments
from vernal.values.messages import AssistantMessage, Message, ToolCall, ToolResponseMessage, UserMessage
from vernal.values.prompt import Prompt
from vernal.values.turn import Turn

OUTCOME_UNKNOWN = "outcomeUnknown"
"""Metadata of the response to a call that ran into its timeout: whether it took effect is unknown (R16)."""


def turn_of(prompt: Prompt) -> Turn:
    """The turn that `prompt` stands in: the last user message and what follows, or all messages without one (LIM-12).

    Calls are counted by the tool responses found there, by name (LIM-13).
    """
    turn = Turn()
    calls: dict[str, ToolCall] = {}
    for message in _current_turn(prompt.messages):
        if isinstance(message, AssistantMessage):
            calls.update((call.id, call) for call in message.tool_calls)
        elif isinstance(message, ToolResponseMessage):
            for response in message.responses:
                call = calls.get(response.id)
                arguments = comparable_arguments(call) if call is not None else None
                record = turn.record_call(ToolCall(response.id, response.name), arguments)
                record.took_effect = not response.is_error or bool(response.metadata.get(OUTCOME_UNKNOWN))
    return turn


def _current_turn(messages: Sequence[Message]) -> Sequence[Message]:
    for index in range(len(messages) - 1, -1, -1):
        if isinstance(messages[index], UserMessage):
            return messages[index:]
    return messages
