"""A prompt: the messages for a model, and the options for this request."""

from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Self

from vernal.values.messages import Message, SystemMessage, ToolResponseMessage, UserMessage
from vernal.values.options import ChatOptions
from vernal.values.records import dataclass

if TYPE_CHECKING:
    from vernal.values.turn import Turn


@dataclass(frozen=True, slots=True, weakref_slot=True, init=False)
class Prompt:
    """What goes to a model: `Prompt("text")`, `Prompt(message)` or `Prompt([message, …], options)`.

    `turn` is the turn that the prompt belongs to, None when a loop is driven by hand; it is no part of equality.

    Raises:
        TypeError: something among the messages is no `Message` (PRM-07).
    """

    messages: tuple[Message, ...]
    options: ChatOptions | None
    turn: "Turn | None" = field(compare=False, repr=False)

    def __init__(
        self,
        messages: str | Message | Iterable[Message] = (),
        options: ChatOptions | None = None,
        turn: "Turn | None" = None,
    ) -> None:
        object.__setattr__(self, "messages", _messages(messages))
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "turn", turn)

    def with_messages(self, messages: Iterable[Message]) -> Self:
        """The same prompt with other messages."""
        return type(self)(messages, self.options, self.turn)

    def with_options(self, options: ChatOptions | None) -> Self:
        """The same prompt with other options."""
        return type(self)(self.messages, options, self.turn)

    @property
    def system_message(self) -> SystemMessage:
        """The first system message, or an empty one (PRM-04)."""
        return next((m for m in self.messages if isinstance(m, SystemMessage)), SystemMessage(""))

    @property
    def user_message(self) -> UserMessage:
        """The last user message, or an empty one (PRM-04)."""
        return next((m for m in reversed(self.messages) if isinstance(m, UserMessage)), UserMessage(""))

    @property
    def last_user_or_tool_response_message(self) -> UserMessage | ToolResponseMessage:
        """The last message of either kind, or an empty user message (PRM-06)."""
        for message in reversed(self.messages):
            if isinstance(message, UserMessage | ToolResponseMessage):
                return message
        return UserMessage("")

    def augment_user_message(self, text: str) -> Self:
        """A copy whose last user message has `text` instead; without one, such a message is appended (PRM-05)."""
        for index in range(len(self.messages) - 1, -1, -1):
            message = self.messages[index]
            if isinstance(message, UserMessage):
                return self._replaced(index, UserMessage(text, message.media, message.metadata))
        return self.with_messages((*self.messages, UserMessage(text)))

    def augment_system_message(self, text: str) -> Self:
        """A copy whose first system message has `text` instead; without one, such a message comes first (PRM-05)."""
        for index, message in enumerate(self.messages):
            if isinstance(message, SystemMessage):
                return self._replaced(index, SystemMessage(text, message.metadata))
        return self.with_messages((SystemMessage(text), *self.messages))

    def _replaced(self, index: int, message: Message) -> Self:
        return self.with_messages((*self.messages[:index], message, *self.messages[index + 1 :]))


def _messages(given: str | Message | Iterable[Message]) -> tuple[Message, ...]:
    if isinstance(given, str):
        return (UserMessage(given),)
    if isinstance(given, Message):
        return (given,)
    if type(given) is not tuple and not isinstance(given, Iterable):
        raise TypeError(
            f"the messages of a prompt are {given!r}; a text, a Message or a sequence of Message objects is wanted"
        )
    messages = given if type(given) is tuple else tuple(given)
    for message in messages:
        if not isinstance(message, Message):
            raise TypeError(
                f"among the messages of a prompt is {message!r}; Message objects are wanted, such as UserMessage(text)"
            )
    return messages
