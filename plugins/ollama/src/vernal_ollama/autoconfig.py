"""The default beans of the plugin."""

from vernal import Environment, HttpClients, auto_configuration, bean, on_missing_bean, on_setting
from vernal_ollama.provider import OllamaChatModelProvider
from vernal_ollama.settings import OllamaSettings


@auto_configuration
@on_setting("ollama.enabled", match_if_missing=True)
class OllamaAutoConfiguration:
    """Ollama is a candidate for the chat model; whether it is the one that answers is decided elsewhere."""

    @bean
    @on_missing_bean
    def ollama_chat_model_provider(
        self, settings: OllamaSettings, clients: HttpClients | None, environment: Environment
    ) -> OllamaChatModelProvider:
        """The models that Ollama has, at the address that the settings under `ollama` name."""
        own_key = environment.lookup("ollama.api_key") is not None
        return OllamaChatModelProvider(settings, clients, own_key=own_key)
