"""Anthropic as a provider of chat models."""

from typing import TYPE_CHECKING

from vernal import ChatModelProvider, HttpClients
from vernal_anthropic.chat_model import BASE_URL, AnthropicChatModel
from vernal_anthropic.options import AnthropicChatOptions

if TYPE_CHECKING:
    from vernal_anthropic.settings import AnthropicSettings


class AnthropicChatModelProvider(ChatModelProvider):
    """Chat models of the service that the settings under `anthropic` name."""

    def __init__(self, settings: "AnthropicSettings", clients: HttpClients | None = None) -> None:
        self._settings = settings
        self._clients = clients or HttpClients()

    @property
    def name(self) -> str:
        """`"anthropic"`."""
        return "anthropic"

    @property
    def configured(self) -> bool:
        """Whether there is a key or a base URL."""
        key = self._settings.api_key
        return bool((key is not None and key.get_secret_value()) or self._settings.base_url)

    def create(self, model: str | None = None) -> AnthropicChatModel:
        """A chat model of this service, by default the one that the settings name."""
        settings = self._settings
        return AnthropicChatModel(
            api_key=settings.api_key,
            base_url=settings.base_url or BASE_URL,
            bearer=settings.bearer,
            options=AnthropicChatOptions(model=model or settings.model, **settings.options.model_dump()),
            betas=settings.betas,
            native_structured_output=settings.native_structured_output,
            headers=settings.headers,
            clients=self._clients,
            timeouts=settings.timeouts(self._clients.timeouts),
            retry=settings.retry(),
        )
