"""DeepSeek as a provider of chat models."""

from typing import TYPE_CHECKING

from vernal import ChatModelProvider, HttpClients
from vernal_deepseek.chat_model import BASE_URL, DeepSeekChatModel, DeepSeekChatOptions

if TYPE_CHECKING:
    from vernal_deepseek.settings import DeepSeekSettings


class DeepSeekChatModelProvider(ChatModelProvider):
    """Chat models of the service that the settings under `deepseek` name."""

    def __init__(self, settings: "DeepSeekSettings", clients: HttpClients | None = None) -> None:
        self._settings = settings
        self._clients = clients or HttpClients()

    @property
    def name(self) -> str:
        """`"deepseek"`."""
        return "deepseek"

    @property
    def configured(self) -> bool:
        """Whether there is a key or a base URL."""
        key = self._settings.api_key
        return bool((key is not None and key.get_secret_value()) or self._settings.base_url)

    def create(self, model: str | None = None) -> DeepSeekChatModel:
        """A chat model of this service, by default the one that the settings name."""
        settings = self._settings
        return DeepSeekChatModel(
            api_key=settings.api_key,
            base_url=settings.base_url or BASE_URL,
            options=DeepSeekChatOptions(model=model or settings.model, **settings.options.model_dump()),
            headers=settings.headers,
            clients=self._clients,
            timeouts=settings.timeouts(self._clients.timeouts),
            retry=settings.retry(),
        )
