"""Gemini as a provider of chat models."""

from typing import TYPE_CHECKING

from vernal import ChatModelProvider, HttpClients
from vernal_gemini.chat_model import BASE_URL, GeminiChatModel
from vernal_gemini.options import GeminiChatOptions

if TYPE_CHECKING:
    from vernal_gemini.settings import GeminiSettings


class GeminiChatModelProvider(ChatModelProvider):
    """Chat models of the service that the settings under `gemini` name."""

    def __init__(self, settings: "GeminiSettings", clients: HttpClients | None = None) -> None:
        self._settings = settings
        self._clients = clients or HttpClients()

    @property
    def name(self) -> str:
        """`"gemini"`."""
        return "gemini"

    @property
    def configured(self) -> bool:
        """Whether there is a key or a base URL."""
        key = self._settings.api_key
        return bool((key is not None and key.get_secret_value()) or self._settings.base_url)

    def create(self, model: str | None = None) -> GeminiChatModel:
        """A chat model of this service, by default the one that the settings name."""
        settings = self._settings
        return GeminiChatModel(
            api_key=settings.api_key,
            base_url=settings.base_url or BASE_URL,
            options=GeminiChatOptions(model=model or settings.model, **settings.options.model_dump()),
            headers=settings.headers,
            clients=self._clients,
            timeouts=settings.timeouts(self._clients.timeouts),
            retry=settings.retry(),
        )
