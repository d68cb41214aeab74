"""`OpenAiChatModel`: chat models of OpenAI, and of all services that speak its protocol."""

from typing import TYPE_CHECKING, Unpack

from vernal import ChatOptions, ServiceChatModel
from vernal_openai.options import OpenAiChatOptions, on_top_of
from vernal_openai.service import OpenAiService, ServiceArguments

if TYPE_CHECKING:
    from vernal import Exchange


class OpenAiChatModel(OpenAiService, ServiceChatModel):
    """A chat model behind OpenAI's chat completions, at OpenAI or any compatible service.

    `options` are the model's own, under those of client and request: at least the name of the model. Everything else
    is that of every `OpenAiService`: key, base URL, profile, headers, clients, timeouts, retries.

    Raises:
        ValueError: the base URL is none, or the profile is unknown.
    """

    path = "/chat/completions"

    def __init__(self, *, options: ChatOptions | None = None, **service: Unpack[ServiceArguments]) -> None:
        super().__init__(**service)
        self._options = on_top_of(OpenAiChatOptions(model=self._profile.default_model), options)
        self.native_structured_output = self._profile.schema_output

    def __repr__(self) -> str:
        where = f"url={self._address.url!r}, profile={self._profile.name!r}"
        return f"{type(self).__name__}(model={self._options.model!r}, {where})"

    @property
    def service_name(self) -> str:
        """The name of the profile."""
        return self._profile.name

    @property
    def default_options(self) -> OpenAiChatOptions:
        """The model's own options."""
        return self._options

    def connect(self) -> "Exchange":
        """How prompts become requests of the protocol.

        Raises:
            AuthenticationError: the service needs a key, and there is none.
        """
        endpoint = self.open(accept="application/json, text/event-stream")
        from vernal_openai.exchange import OpenAiExchange
        from vernal_openai.requests import RequestWriter

        return OpenAiExchange(endpoint, RequestWriter(self._profile, self._options), self._address)
