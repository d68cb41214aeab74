"""`AnthropicChatModel`: the models of Anthropic."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from vernal import ChatOptions, HttpClients, ServiceChatModel
from vernal.http import DEFAULT_RETRY_POLICY, RetryPolicy, Timeouts
from vernal_anthropic.options import AnthropicChatOptions, on_top_of

if TYPE_CHECKING:
    from pydantic import SecretStr

    from vernal import Exchange

BASE_URL = "https://api.anthropic.com"
DEFAULT_MODEL = "claude-sonnet-4-6"
VERSION = "2023-06-01"
PATH = "/v1/messages"
KEY_CURE = "Set VERNAL_ANTHROPIC__API_KEY or ANTHROPIC_API_KEY to a valid key, or give api_key=…."


class AnthropicChatModel(ServiceChatModel):
    """A chat model behind Anthropic's messages API.

    - `api_key`: demanded at the first request; `bearer`: whether it goes out as a bearer token, as gateways want it.
    - `base_url`: the address that `/v1/messages` belongs under.
    - `options`: the model's own options, under those of client and request; by default `claude-sonnet-4-6`.
    - `version`, `betas`: the service's headers `anthropic-version` and `anthropic-beta`.
    - `native_structured_output`: False for models that know no structured output: they are asked for it in words.
    - `headers`, `clients`, `timeouts`, `retry`: as in every `ServiceChatModel`.

    Raises:
        ValueError: the base URL is none.
    """

    def __init__(
        self,
        *,
        api_key: "str | SecretStr | None" = None,
        base_url: str = BASE_URL,
        options: ChatOptions | None = None,
        bearer: bool = False,
        version: str = VERSION,
        betas: Iterable[str] = (),
        native_structured_output: bool = True,
        headers: Mapping[str, str] | None = None,
        clients: HttpClients | None = None,
        timeouts: Timeouts | None = None,
        retry: RetryPolicy = DEFAULT_RETRY_POLICY,
    ) -> None:
        super().__init__(
            api_key=api_key, base_url=base_url, headers=headers, clients=clients, timeouts=timeouts, retry=retry
        )
        self.native_structured_output = native_structured_output
        self._bearer = bearer
        self._version = version
        self._betas = (betas,) if isinstance(betas, str) else tuple(betas)
        self._options = on_top_of(AnthropicChatOptions(model=DEFAULT_MODEL), options)

    def __repr__(self) -> str:
        return f"AnthropicChatModel(model={self._options.model!r}, url={self._base_url!r})"

    @property
    def default_options(self) -> AnthropicChatOptions:
        """The model's own options."""
        return self._options

    def connect(self) -> "Exchange":
        """How prompts become requests of the protocol.

        Raises:
            AuthenticationError: there is no key.
        """
        key = self.required_key("anthropic", KEY_CURE)
        headers = {"accept": "application/json, text/event-stream", "anthropic-version": self._version}
        headers |= {"authorization": f"Bearer {key}"} if self._bearer else {"x-api-key": key}
        if self._betas:
            headers["anthropic-beta"] = ",".join(self._betas)
        from vernal_anthropic.exchange import AnthropicExchange
        from vernal_anthropic.requests import RequestWriter

        url = self._base_url.rstrip("/").removesuffix(PATH).removesuffix("/v1") + PATH
        endpoint = self.endpoint(service="anthropic", url=url, headers=headers, key_cure=KEY_CURE, settings="anthropic")
        return AnthropicExchange(endpoint, RequestWriter(self._options))


def is_anthropics(base_url: str) -> bool:
    """Whether the address is Anthropic's own."""
    host = urlsplit(base_url).hostname or ""
    return host == "anthropic.com" or host.endswith(".anthropic.com")
