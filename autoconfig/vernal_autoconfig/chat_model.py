"""Which model answers."""

import logging

from pydantic import BaseModel, ConfigDict, Field

from vernal.context import auto_configuration, bean, on_missing_bean
from vernal.context.settings import Settings
from vernal.models.chat import ChatModel
from vernal.models.choice import ChatModelChoice, choose_chat_model
from vernal.models.observation import ChatModelObservationConvention
from vernal.models.provider import ChatModelProvider

_log = logging.getLogger("vernal.models")


class ChatObservationSettings(BaseModel):
    """What observations of models hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    include_content: bool = Field(
        default=False, description="Whether messages and answers are observed; they may be private."
    )


class ChatSettings(Settings, prefix="chat"):
    """What is set for chats as a whole."""

    model: str | None = Field(
        default=None,
        description='The model that answers, such as "openai:gpt-5-mini", a provider alone, or "offline".',
    )
    offline_fallback: bool = Field(
        default=True, description="Whether the offline model answers when no provider is configured."
    )
    observations: ChatObservationSettings = ChatObservationSettings()


@auto_configuration(before="ChatClientAutoConfiguration")
class ChatModelAutoConfiguration:
    """The chat model, chosen by setting or by what is configured."""

    @bean
    @on_missing_bean(ChatModel, ChatModelChoice)
    def chat_model_choice(self, settings: ChatSettings, providers: list[ChatModelProvider]) -> ChatModelChoice:
        """The model that `chat.model` names, else the only configured provider's, else the offline one."""
        return choose_chat_model(settings.model, providers, offline_fallback=settings.offline_fallback)

    @bean
    @on_missing_bean
    def chat_model(self, choice: ChatModelChoice) -> ChatModel:
        """The chosen model."""
        return choice.create()

    @bean
    @on_missing_bean
    def chat_model_observation_convention(self, settings: ChatSettings) -> ChatModelObservationConvention:
        """Names and keys of model observations; with content only where the settings ask for it."""
        if settings.observations.include_content:
            _log.warning(
                "chat.observations.include_content is on: messages and answers are observed, which may be private"
            )
        return ChatModelObservationConvention(include_content=settings.observations.include_content)
