"""What happens in a turn, as typed events in the order in which it happens."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from vernal.values.messages import Message, ToolResponse
from vernal.values.records import dataclass
from vernal.values.responses import ChatResponse
from vernal.values.usage import EMPTY_USAGE, Usage

EVENTS = "vernal.events"
"""The context entry that asks the tool loop to tell its events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatEvent:
    """Something that happened in a turn; one of the kinds below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEvent(ChatEvent):
    """A piece of the model's text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningEvent(ChatEvent):
    """A piece of the reasoning that the provider shows."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStarted(ChatEvent):
    """A tool call is taken up; `arguments` are parsed, None where the model wrote none that can be."""

    call_id: str
    name: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallProgress(ChatEvent):
    """What a running tool reports: a message, and how much is done from 0 to 1 where it knows."""

    call_id: str
    name: str
    message: str
    fraction: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallFinished(ChatEvent):
    """A tool call is answered; `response.is_error` says whether it failed or was refused. `duration` is in seconds."""

    call_id: str
    name: str
    response: ToolResponse
    duration: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFinished(ChatEvent):
    """One request to the model and its tools are done; rounds are numbered from 1, `usage` is that of the round."""

    number: int
    usage: Usage = EMPTY_USAGE
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFinished(ChatEvent):
    """The turn has ended; `response` is the aggregate of all that went out, with the usage of all rounds.

    `conversation_history` are all messages of the turn, with each tool call and its result, where a tool advisor ran.
    """

    response: ChatResponse
    context: Mapping[str, Any] = field(default_factory=dict, repr=False)
    conversation_history: tuple[Message, ...] = field(default=(), repr=False)
