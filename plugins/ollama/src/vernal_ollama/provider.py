"""Ollama as a provider of chat models."""

from typing import TYPE_CHECKING

from vernal import ChatModelProvider, HttpClients
from vernal_ollama.chat_model import BASE_URL, OllamaChatModel, is_cloud
from vernal_ollama.options import OllamaChatOptions

if TYPE_CHECKING:
    from vernal_ollama.settings import OllamaSettings


class OllamaChatModelProvider(ChatModelProvider):
    """The models that Ollama has, at the address that the settings under `ollama` name.

    `own_key`: whether the key was given for that address; else it goes to ollama.com alone (R28).
    """

    def __init__(self, settings: "OllamaSettings", clients: HttpClients | None = None, *, own_key: bool = True) -> None:
        self._settings = settings
        self._clients = clients or HttpClients()
        self._own_key = own_key

    @property
    def name(self) -> str:
        """`"ollama"`."""
        return "ollama"

    @property
    def configured(self) -> bool:
        """Whether there is an address, or the name of a model: on this machine Ollama needs nothing else."""
        return bool(self._settings.base_url or self._settings.model)

    def create(self, model: str | None = None) -> OllamaChatModel:
        """A model that Ollama has, by default the one that the settings name."""
        settings = self._settings
        base_url = settings.base_url or BASE_URL
        return OllamaChatModel(
            api_key=settings.api_key if self._own_key or is_cloud(base_url) else None,
            base_url=base_url,
            options=OllamaChatOptions(model=model or settings.model, **settings.options.model_dump()),
            pull=settings.pull == "missing",
            headers=settings.headers,
            clients=self._clients,
            timeouts=settings.timeouts(self._clients.timeouts),
            retry=settings.retry(),
        )
