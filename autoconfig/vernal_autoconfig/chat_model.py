"""Which model answers."""

from pydantic import Field

from vernal.context import auto_configuration, bean, on_missing_bean
from vernal.context.settings import Settings
from vernal.models.chat import ChatModel
from vernal.models.choice import choose_chat_model
from vernal.models.provider import ChatModelProvider


class ChatSettings(Settings, prefix="chat"):
    """What is set for chats as a whole."""

    model: str | None = Field(
        default=None,
        description='The model that answers, such as "openai:gpt-5-mini", a provider alone, or "offline".',
    )
    offline_fallback: bool = Field(
        default=True, description="Whether the offline model answers when no provider is configured."
    )


@auto_configuration(before="ChatClientAutoConfiguration")
class ChatModelAutoConfiguration:
    """The chat model, chosen by setting or by what is configured."""

    @bean
    @on_missing_bean
    def chat_model(self, settings: ChatSettings, providers: list[ChatModelProvider]) -> ChatModel:
        """The model that `chat.model` names, else the only configured provider's, else the offline one."""
        return choose_chat_model(settings.model, providers, offline_fallback=settings.offline_fallback)
