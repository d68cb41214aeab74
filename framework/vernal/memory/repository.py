"""Where conversations are stored."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from vernal.runtime.faces import Face, TwoFaced
from vernal.values.messages import Message


class ChatMemoryRepository(TwoFaced, abstract=True):
    """Stores the messages of conversations, exactly as they are (R3). Implement either face of each operation."""

    __faces__: ClassVar = (
        Face("find_conversation_ids", "afind_conversation_ids"),
        Face("find_by_conversation_id", "afind_by_conversation_id"),
        Face("save_all", "asave_all"),
        Face("delete_by_conversation_id", "adelete_by_conversation_id"),
    )

    def find_conversation_ids(self) -> list[str]:
        """The ids of all conversations."""
        raise NotImplementedError

    async def afind_conversation_ids(self) -> list[str]:
        """The ids of all conversations."""
        raise NotImplementedError

    def find_by_conversation_id(self, conversation_id: str) -> list[Message]:
        """The messages of a conversation in order; none for an unknown one."""
        raise NotImplementedError

    async def afind_by_conversation_id(self, conversation_id: str) -> list[Message]:
        """The messages of a conversation in order; none for an unknown one."""
        raise NotImplementedError

    def save_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
        """Replace the messages of a conversation (REP-01)."""
        raise NotImplementedError

    async def asave_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
        """Replace the messages of a conversation (REP-01)."""
        raise NotImplementedError

    def delete_by_conversation_id(self, conversation_id: str) -> None:
        """Forget a conversation; an unknown one is no error."""
        raise NotImplementedError

    async def adelete_by_conversation_id(self, conversation_id: str) -> None:
        """Forget a conversation; an unknown one is no error."""
        raise NotImplementedError


class InMemoryChatMemoryRepository(ChatMemoryRepository):
    """Keeps conversations in this process, as long as it lives."""

    # The asynchronous faces call the blocking ones of this very class: those of a subclass may be made of its own
    # asynchronous ones.

    def __init__(self) -> None:
        self._conversations: dict[str, tuple[Message, ...]] = {}

    def find_conversation_ids(self) -> list[str]:
        """The ids of all conversations."""
        return list(self._conversations)

    async def afind_conversation_ids(self) -> list[str]:
        """The ids of all conversations."""
        return InMemoryChatMemoryRepository.find_conversation_ids(self)

    def find_by_conversation_id(self, conversation_id: str) -> list[Message]:
        """The messages of a conversation in order; none for an unknown one."""
        return list(self._conversations.get(checked_id(conversation_id), ()))

    async def afind_by_conversation_id(self, conversation_id: str) -> list[Message]:
        """The messages of a conversation in order; none for an unknown one."""
        return InMemoryChatMemoryRepository.find_by_conversation_id(self, conversation_id)

    def save_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
        """Replace the messages of a conversation."""
        self._conversations[checked_id(conversation_id)] = checked_messages(messages)

    async def asave_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
        """Replace the messages of a conversation."""
        InMemoryChatMemoryRepository.save_all(self, conversation_id, messages)

    def delete_by_conversation_id(self, conversation_id: str) -> None:
        """Forget a conversation; an unknown one is no error."""
        self._conversations.pop(checked_id(conversation_id), None)

    async def adelete_by_conversation_id(self, conversation_id: str) -> None:
        """Forget a conversation; an unknown one is no error."""
        InMemoryChatMemoryRepository.delete_by_conversation_id(self, conversation_id)


def checked_id(conversation_id: str) -> str:
    """Refuse a conversation id that is no non-blank string (WIN-02, REP-01)."""
    if not isinstance(conversation_id, str) or not conversation_id.strip():
        raise ValueError(f"conversation_id is {conversation_id!r}; a non-blank string is wanted")
    return conversation_id


def checked_messages(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Refuse anything among `messages` that is no message (WIN-02, REP-01)."""
    if isinstance(messages, Message | str) or not isinstance(messages, Iterable):
        raise TypeError(f"messages is {messages!r}; a sequence of Message objects is wanted")
    checked = tuple(messages)
    for message in checked:
        if not isinstance(message, Message):
            raise TypeError(f"among the messages is {message!r}; only Message objects are wanted")
    return checked
