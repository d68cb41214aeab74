"""The default beans of the plugin."""

import logging

from vernal import Environment, HttpClients, auto_configuration, bean, on_missing_bean, on_setting
from vernal_openai.chat_model import is_openais
from vernal_openai.provider import OpenAiChatModelProvider
from vernal_openai.settings import OpenAiSettings

_log = logging.getLogger("vernal.models")


@auto_configuration
@on_setting("openai.enabled", match_if_missing=True)
class OpenAiAutoConfiguration:
    """OpenAI is a candidate for the chat model; whether it is the one that answers is decided elsewhere."""

    @bean
    @on_missing_bean
    def openai_chat_model_provider(
        self, settings: OpenAiSettings, clients: HttpClients | None, environment: Environment
    ) -> OpenAiChatModelProvider:
        """Chat models of the service that the settings under `openai` name.

        A key that is only in `OPENAI_API_KEY` was given for OpenAI: it does not go to a base URL of ours (R28).
        """
        own_key, own_url = environment.lookup("openai.api_key"), environment.lookup("openai.base_url")
        if settings.api_key is None or own_key is not None or own_url is None or is_openais(str(own_url.value)):
            return OpenAiChatModelProvider(settings, clients)
        _log.warning(
            "OPENAI_API_KEY is not sent to %s, which VERNAL_OPENAI__BASE_URL names; "
            "give the key of that service in VERNAL_OPENAI__API_KEY",
            own_url.value,
        )
        return OpenAiChatModelProvider(settings.model_copy(update={"api_key": None}), clients)
