"""The default beans of the plugin."""

from vernal import Environment, HttpClients, auto_configuration, bean, on_missing_bean, on_setting
from vernal_deepseek.chat_model import PROFILE
from vernal_deepseek.provider import DeepSeekChatModelProvider
from vernal_deepseek.settings import DeepSeekSettings


@auto_configuration
@on_setting("deepseek.enabled", match_if_missing=True)
class DeepSeekAutoConfiguration:
    """DeepSeek is a candidate for the chat model; whether it is the one that answers is decided elsewhere."""

    @bean
    @on_missing_bean
    def deepseek_chat_model_provider(
        self, settings: DeepSeekSettings, clients: HttpClients | None, environment: Environment
    ) -> DeepSeekChatModelProvider:
        """Chat models of the service that the settings under `deepseek` name."""
        return DeepSeekChatModelProvider(settings.with_own_key(environment, "DEEPSEEK_API_KEY", PROFILE.knows), clients)
