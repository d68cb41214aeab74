"""The default beans of the plugin."""

from vernal import Environment, HttpClients, auto_configuration, bean, on_missing_bean, on_setting
from vernal_anthropic.chat_model import is_anthropics
from vernal_anthropic.provider import AnthropicChatModelProvider
from vernal_anthropic.settings import AnthropicSettings


@auto_configuration
@on_setting("anthropic.enabled", match_if_missing=True)
class AnthropicAutoConfiguration:
    """Anthropic is a candidate for the chat model; whether it is the one that answers is decided elsewhere."""

    @bean
    @on_missing_bean
    def anthropic_chat_model_provider(
        self, settings: AnthropicSettings, clients: HttpClients | None, environment: Environment
    ) -> AnthropicChatModelProvider:
        """Chat models of the service that the settings under `anthropic` name."""
        settings = settings.with_own_key(environment, "ANTHROPIC_API_KEY", is_anthropics)
        return AnthropicChatModelProvider(settings, clients)
