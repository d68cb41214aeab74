"""What a conversation remembers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from vernal.memory.repository import ChatMemoryRepository, InMemoryChatMemoryRepository, checked_id, checked_messages
from vernal.runtime.faces import Face, TwoFaced
from vernal.runtime.locks import KeyedLock
from vernal.values.messages import Message, SystemMessage, UserMessage


class ChatMemory(TwoFaced, abstract=True):
    """Decides what of a conversation is remembered. Implement either face of each operation."""

    __faces__: ClassVar = (Face("add", "aadd"), Face("get", "aget"), Face("clear", "aclear"))

    def add(self, conversation_id: str, messages: Sequence[Message]) -> None:
        """Remember `messages`, after what is remembered already."""
        raise NotImplementedError

    async def aadd(self, conversation_id: str, messages: Sequence[Message]) -> None:
        """Remember `messages`, after what is remembered already."""
        raise NotImplementedError

    def get(self, conversation_id: str) -> list[Message]:
        """What is remembered, in order; nothing for an unknown conversation."""
        raise NotImplementedError

    async def aget(self, conversation_id: str) -> list[Message]:
        """What is remembered, in order; nothing for an unknown conversation."""
        raise NotImplementedError

    def clear(self, conversation_id: str) -> None:
        """Forget the conversation."""
        raise NotImplementedError

    async def aclear(self, conversation_id: str) -> None:
        """Forget the conversation."""
        raise NotImplementedError


@dataclass(kw_only=True, eq=False)
class MessageWindowChatMemory(ChatMemory):
    """Remembers the latest `max_messages` messages (20 by default), in whole turns.

    Turns are dropped oldest first; the latest turn is never dropped nor cut, nor is a system message, even where they
    alone are more than the window (R2). A new system message replaces the old ones (WIN-11); system messages count to
    the window (WIN-07). Turns of one conversation that add at the same time, on whatever loop of this process, add one
    after the other.

    Raises:
        ValueError: `max_messages` is not greater than 0 (WIN-01).
    """

    chat_memory_repository: ChatMemoryRepository = field(default_factory=InMemoryChatMemoryRepository)
    max_messages: int = 20
    _adding: KeyedLock = field(init=False, repr=False, default_factory=KeyedLock)

    def __post_init__(self) -> None:
        if isinstance(self.max_messages, bool) or not isinstance(self.max_messages, int) or self.max_messages <= 0:
            raise ValueError(f"max_messages must be greater than 0, but is {self.max_messages!r}")

    async def aadd(self, conversation_id: str, messages: Sequence[Message]) -> None:
        """Remember `messages`, after what is remembered already, as far as the window reaches."""
        added = checked_messages(messages)
        await self._adding.acquire(checked_id(conversation_id))  # between reading and saving nobody else may add (R4)
        try:
            remembered = await self.chat_memory_repository.afind_by_conversation_id(conversation_id)
            window = _window(_joined(remembered, added), self.max_messages)
            await self.chat_memory_repository.asave_all(conversation_id, window)
        finally:
            self._adding.release(conversation_id)

    async def aget(self, conversation_id: str) -> list[Message]:
        """What is remembered, in order; nothing for an unknown conversation."""
        return await self.chat_memory_repository.afind_by_conversation_id(checked_id(conversation_id))

    async def aclear(self, conversation_id: str) -> None:
        """Forget the conversation."""
        await self.chat_memory_repository.adelete_by_conversation_id(checked_id(conversation_id))


def _joined(remembered: Sequence[Message], added: Sequence[Message]) -> list[Message]:
    """Both in order; new system messages, if any differ from the old ones, replace these."""
    systems = [message for message in remembered if isinstance(message, SystemMessage)]
    new_systems = [m for m in added if isinstance(m, SystemMessage) and m not in systems]
    if new_systems:
        remembered = [message for message in remembered if not isinstance(message, SystemMessage)]
    known = [] if new_systems else systems
    return [*remembered, *(m for m in added if not (isinstance(m, SystemMessage) and m in known))]


def _window(messages: list[Message], size: int) -> list[Message]:
    excess = len(messages) - size
    if excess <= 0:
        return messages
    starts = [index for index, message in enumerate(messages) if isinstance(message, UserMessage)]
    cut = 0
    for start in starts[1:]:
        if _droppable(messages, cut) >= excess:
            break
        cut = start
    if not starts or _droppable(messages, cut) == 0:
        return messages
    return [m for index, m in enumerate(messages) if index >= cut or isinstance(m, SystemMessage)]


def _droppable(messages: list[Message], cut: int) -> int:
    return sum(not isinstance(message, SystemMessage) for message in messages[:cut])
