"""What travels through the advisor chain: a request with its context on the way in, a response on the way out."""

from dataclasses import field
from typing import Any, Self

from vernal.values.events import ChatEvent
from vernal.values.messages import Message, ToolCall
from vernal.values.prompt import Prompt
from vernal.values.records import dataclass
from vernal.values.responses import ChatResponse
from vernal.values.usage import EMPTY_USAGE, Usage


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ChatClientRequest:
    """A prompt and the context of its turn, a mutable mapping made anew for each turn (CCU-10).

    What an advisor writes into the context in one round is there in the next, and on the response (R23).
    """

    prompt: Prompt
    context: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.prompt, Prompt):
            raise TypeError(f"prompt is {self.prompt!r}; a Prompt is wanted")
        if not isinstance(self.context, dict):
            raise TypeError(f"context is {self.context!r}; a dict with string keys is wanted")

    def copy(self, *, prompt: Prompt | None = None, context: dict[str, Any] | None = None) -> Self:
        """A copy with its own context: `prompt` replaces, `context` is merged over the present entries (ADV-05)."""
        return type(self)(self.prompt if prompt is None else prompt, {**self.context, **(context or {})})

    def with_prompt(self, prompt: Prompt) -> Self:
        """The same request, sharing its context, with another prompt."""
        return type(self)(prompt, self.context)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ChatClientResponse:
    """A model's response, or a streamed chunk of it, and the context of the turn."""

    chat_response: ChatResponse | None = None
    context: dict[str, Any] = field(default_factory=dict)
    event: ChatEvent | None = None
    """In a stream that was asked for events: what happened, in a chunk of its own without a chat response."""
    conversation_history: tuple[Message, ...] = field(default=(), compare=False, repr=False)
    """All messages of a called turn that a tool advisor has run: what was sent, each tool call with its result, and the
    answer. It can be given to `.messages(…)` of a further request. In a stream the event `TurnFinished` has it."""

    @property
    def text(self) -> str | None:
        """The text of the first generation, None where there is none."""
        return self.chat_response.text if self.chat_response is not None else None

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls that the model asks for."""
        return self.chat_response.tool_calls if self.chat_response is not None else ()

    @property
    def has_tool_calls(self) -> bool:
        """Whether the model asks for at least one tool."""
        return self.chat_response is not None and self.chat_response.has_tool_calls

    @property
    def usage(self) -> Usage:
        """The tokens used, over all rounds of the turn."""
        return self.chat_response.metadata.usage if self.chat_response is not None else EMPTY_USAGE

    def copy(self, *, chat_response: ChatResponse | None = None, context: dict[str, Any] | None = None) -> Self:
        """A copy with its own context: `chat_response` replaces, `context` is merged over the present entries."""
        response = self.chat_response if chat_response is None else chat_response
        return type(self)(response, {**self.context, **(context or {})}, self.event, self.conversation_history)

    def with_chat_response(self, chat_response: ChatResponse | None) -> Self:
        """The same response, sharing its context, with another chat response."""
        return type(self)(chat_response, self.context, self.event, self.conversation_history)
