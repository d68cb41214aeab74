"""`GeminiChatModel`: the models of Google's Gemini API."""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from vernal import ChatOptions, HttpClients, ServiceChatModel
from vernal.http import DEFAULT_RETRY_POLICY, RetryPolicy, Timeouts
from vernal_gemini.options import GeminiChatOptions, on_top_of

if TYPE_CHECKING:
    from pydantic import SecretStr

    from vernal import Exchange

BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
DEFAULT_MODEL = "gemini-2.5-flash"
KEY_CURE = "Set VERNAL_GEMINI__API_KEY or GEMINI_API_KEY to a valid key, or give api_key=…."


class GeminiChatModel(ServiceChatModel):
    """A chat model behind the Gemini API.

    - `api_key`: demanded at the first request; it goes out in a header, never in the address.
    - `base_url`: the address that `/models/…` belongs under.
    - `options`: the model's own options, under those of client and request; by default `gemini-2.5-flash`.
    - `headers`, `clients`, `timeouts`, `retry`: as in every `ServiceChatModel`.

    Raises:
        ValueError: the base URL is none.
    """

    native_structured_output = True

    def __init__(
        self,
        *,
        api_key: "str | SecretStr | None" = None,
        base_url: str = BASE_URL,
        options: ChatOptions | None = None,
        headers: Mapping[str, str] | None = None,
        clients: HttpClients | None = None,
        timeouts: Timeouts | None = None,
        retry: RetryPolicy = DEFAULT_RETRY_POLICY,
    ) -> None:
        super().__init__(
            api_key=api_key, base_url=base_url, headers=headers, clients=clients, timeouts=timeouts, retry=retry
        )
        self._options = on_top_of(GeminiChatOptions(model=DEFAULT_MODEL), options)

    def __repr__(self) -> str:
        return f"GeminiChatModel(model={self._options.model!r}, url={self._base_url!r})"

    @property
    def default_options(self) -> GeminiChatOptions:
        """The model's own options."""
        return self._options

    def connect(self) -> "Exchange":
        """How prompts become requests of the protocol.

        Raises:
            AuthenticationError: there is no key.
        """
        key = self.required_key("gemini", KEY_CURE)
        from vernal_gemini.exchange import GeminiExchange, read_gemini_refusal
        from vernal_gemini.requests import RequestWriter

        base = self._base_url.rstrip("/")
        endpoint = self.endpoint(
            service="gemini",
            url=f"{base}/v1beta" if is_googles(base) and not urlsplit(base).path else base,
            headers={"accept": "application/json, text/event-stream", "x-goog-api-key": key},
            read_refusal=read_gemini_refusal,
            key_cure=KEY_CURE,
            settings="gemini",
        )
        return GeminiExchange(endpoint, RequestWriter(self._options))


def is_googles(base_url: str) -> bool:
    """Whether the address is Google's own."""
    host = urlsplit(base_url).hostname or ""
    return host == "googleapis.com" or host.endswith(".googleapis.com")
