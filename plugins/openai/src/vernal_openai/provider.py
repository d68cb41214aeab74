"""OpenAI as a provider of chat models."""

from typing import TYPE_CHECKING

from vernal import ChatModelProvider, HttpClients
from vernal_openai.chat_model import OpenAiChatModel
from vernal_openai.options import OpenAiChatOptions

if TYPE_CHECKING:
    from vernal_openai.settings import OpenAiSettings


class OpenAiChatModelProvider(ChatModelProvider):
    """Chat models of the service that the settings under `openai` name."""

    def __init__(self, settings: "OpenAiSettings", clients: HttpClients | None = None) -> None:
        self._settings = settings
        self._clients = clients or HttpClients()

    @property
    def name(self) -> str:
        """`"openai"`."""
        return "openai"

    @property
    def configured(self) -> bool:
        """Whether there is a key or a base URL."""
        key = self._settings.api_key
        return bool((key is not None and key.get_secret_value()) or self._settings.base_url)

    def create(self, model: str | None = None) -> OpenAiChatModel:
        """A chat model of this service, by default the one that the settings name."""
        settings = self._settings
        options = OpenAiChatOptions(model=model or settings.model, **settings.options.model_dump())
        return OpenAiChatModel(options=options, **settings.service(self._clients))
