"""What conversations remember."""

from pydantic import Field

from vernal.context import auto_configuration, bean, on_missing_bean
from vernal.context.settings import Settings
from vernal.memory.memory import ChatMemory, MessageWindowChatMemory
from vernal.memory.repository import ChatMemoryRepository, InMemoryChatMemoryRepository


class ChatMemorySettings(Settings, prefix="chat.memory"):
    """What is set for chat memory."""

    max_messages: int = Field(default=20, gt=0, description="How many messages of a conversation are remembered.")


@auto_configuration
class ChatMemoryAutoConfiguration:
    """A window over conversations that live in this process."""

    @bean
    @on_missing_bean
    def chat_memory_repository(self) -> ChatMemoryRepository:
        """Where conversations are stored."""
        return InMemoryChatMemoryRepository()

    @bean
    @on_missing_bean
    def chat_memory(self, repository: ChatMemoryRepository, settings: ChatMemorySettings) -> ChatMemory:
        """How much of a conversation is remembered."""
        return MessageWindowChatMemory(chat_memory_repository=repository, max_messages=settings.max_messages)
