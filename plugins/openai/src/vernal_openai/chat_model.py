"""`OpenAiChatModel`: chat models of OpenAI, and of all services that speak its protocol."""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from vernal import ChatOptions, HttpClients, ServiceChatModel
from vernal.http import DEFAULT_RETRY_POLICY, RetryPolicy, Timeouts
from vernal_openai.options import OpenAiChatOptions, on_top_of
from vernal_openai.profiles import profile_for

if TYPE_CHECKING:
    from pydantic import SecretStr

    from vernal import Exchange

BASE_URL = "https://api.openai.com/v1"
KEY_CURE = "Set VERNAL_OPENAI__API_KEY or OPENAI_API_KEY to a valid key, or give api_key=…."


class OpenAiChatModel(ServiceChatModel):
    """A chat model behind OpenAI's chat completions, at OpenAI or any compatible service.

    - `api_key`: demanded at the first request, by services that need one.
    - `base_url`: the address that `/chat/completions` belongs under; a query (Azure's `api-version`) is kept.
    - `options`: the model's own options, under those of client and request; at least the name of the model.
    - `profile`: the name of the service whose ways are followed; by default the base URL tells.
    - `organization`, `project`: OpenAI's headers of these names; `headers`: further ones.
    - `clients`: where requests go out, and with it proxies, TLS and your own `httpx.AsyncClient`.
    - `timeouts`, `retry`: how long a request may take, and how often it is sent.

    Raises:
        ValueError: the base URL is none, or the profile is unknown.
    """

    def __init__(
        self,
        *,
        api_key: "str | SecretStr | None" = None,
        base_url: str = BASE_URL,
        options: ChatOptions | None = None,
        profile: str | None = None,
        organization: str | None = None,
        project: str | None = None,
        headers: Mapping[str, str] | None = None,
        clients: HttpClients | None = None,
        timeouts: Timeouts | None = None,
        retry: RetryPolicy = DEFAULT_RETRY_POLICY,
    ) -> None:
        headers = {
            **({"openai-organization": organization} if organization else {}),
            **({"openai-project": project} if project else {}),
            **(headers or {}),
        }
        super().__init__(
            api_key=api_key, base_url=base_url, headers=headers, clients=clients, timeouts=timeouts, retry=retry
        )
        self._url = _completions_url(base_url)
        self._profile = profile_for(base_url, profile)
        self._options = on_top_of(OpenAiChatOptions(model=self._profile.default_model), options)
        self.native_structured_output = self._profile.schema_output

    def __repr__(self) -> str:
        return f"OpenAiChatModel(model={self._options.model!r}, url={self._url!r}, profile={self._profile.name!r})"

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
        profile, headers = self._profile, {"accept": "application/json, text/event-stream"}
        if profile.needs_key:
            self.required_key(profile.name, KEY_CURE)
        if self._api_key:
            bearer = profile.key_header == "authorization"
            headers[profile.key_header] = f"Bearer {self._api_key}" if bearer else self._api_key
        from vernal_openai.exchange import OpenAiExchange
        from vernal_openai.requests import RequestWriter

        endpoint = self.endpoint(
            service=profile.name, url=self._url, headers=headers, key_cure=KEY_CURE, settings="openai"
        )
        return OpenAiExchange(endpoint, RequestWriter(profile, self._options))


def is_openais(base_url: str) -> bool:
    """Whether the address is OpenAI's own."""
    host = urlsplit(base_url).hostname or ""
    return host == "openai.com" or host.endswith(".openai.com")


def _completions_url(base_url: str) -> str:
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return urlunsplit((parts.scheme, parts.netloc, f"{path}/chat/completions", parts.query, ""))
