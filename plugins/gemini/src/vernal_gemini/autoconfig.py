"""The default beans of the plugin."""

from vernal import Environment, HttpClients, auto_configuration, bean, on_missing_bean, on_setting
from vernal_gemini.chat_model import is_googles
from vernal_gemini.provider import GeminiChatModelProvider
from vernal_gemini.settings import GeminiSettings


@auto_configuration
@on_setting("gemini.enabled", match_if_missing=True)
class GeminiAutoConfiguration:
    """Gemini is a candidate for the chat model; whether it is the one that answers is decided elsewhere."""

    @bean
    @on_missing_bean
    def gemini_chat_model_provider(
        self, settings: GeminiSettings, clients: HttpClients | None, environment: Environment
    ) -> GeminiChatModelProvider:
        """Chat models of the service that the settings under `gemini` name."""
        return GeminiChatModelProvider(settings.with_own_key(environment, "GEMINI_API_KEY", is_googles), clients)
