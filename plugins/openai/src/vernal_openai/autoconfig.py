"""The default beans of the plugin."""

from vernal import EmbeddingModel, Environment, HttpClients, auto_configuration, bean, on_missing_bean, on_setting
from vernal_openai.embedding_model import DEFAULT_MODEL, OpenAiEmbeddingModel
from vernal_openai.provider import OpenAiChatModelProvider
from vernal_openai.resolution import resolved
from vernal_openai.settings import OpenAiSettings


@auto_configuration
@on_setting("openai.enabled", match_if_missing=True)
class OpenAiAutoConfiguration:
    """OpenAI is a candidate for the chat model; whether it is the one that answers is decided elsewhere."""

    @bean
    @on_missing_bean
    def openai_chat_model_provider(
        self, settings: OpenAiSettings, clients: HttpClients | None, environment: Environment
    ) -> OpenAiChatModelProvider:
        """Chat models of the service that the settings under `openai` name."""
        return OpenAiChatModelProvider(resolved(settings, environment), clients)

    @bean
    @on_setting("openai.embedding.model")
    @on_missing_bean
    def embedding_model(
        self, settings: OpenAiSettings, clients: HttpClients | None, environment: Environment
    ) -> EmbeddingModel:
        """The embedding model that the settings name; at an address of its own it has a key of its own (R28)."""
        settings, own = resolved(settings, environment), settings.embedding
        if own.base_url is not None:  # headers may hold a key too
            gone = dict.fromkeys(("profile", "api_version", "organization", "project"))
            there: dict[str, object] = {"base_url": own.base_url, "api_key": own.api_key, "headers": {}}
            settings = settings.model_copy(update={**gone, **there})
        elif own.api_key is not None:
            settings = settings.model_copy(update={"api_key": own.api_key})
        return OpenAiEmbeddingModel(
            model=own.model or DEFAULT_MODEL,
            dimensions=own.dimensions,
            batch_size=own.batch_size,
            **settings.service(clients or HttpClients()),
        )
