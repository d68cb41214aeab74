"""The default beans of the plugin."""

from vernal import HttpClients, auto_configuration, bean, on_missing_bean, on_setting
from vernal_openai.provider import OpenAiChatModelProvider
from vernal_openai.settings import OpenAiSettings


@auto_configuration
@on_setting("openai.enabled", match_if_missing=True)
class OpenAiAutoConfiguration:
    """OpenAI is a candidate for the chat model; whether it is the one that answers is decided elsewhere."""

    @bean
    @on_missing_bean
    def openai_chat_model_provider(
        self, settings: OpenAiSettings, clients: HttpClients | None
    ) -> OpenAiChatModelProvider:
        """Chat models of the service that the settings under `openai` name."""
        return OpenAiChatModelProvider(settings, clients)
