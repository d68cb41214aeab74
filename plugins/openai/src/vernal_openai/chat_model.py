"""`OpenAiChatModel`: chat models of OpenAI, and of all services that speak its protocol."""

from collections.abc import AsyncIterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from vernal import AsyncStream, ChatModel, ChatOptions, ChatResponse, HttpClients, Prompt
from vernal.http import DEFAULT_RETRY_POLICY, AuthenticationError, RetryPolicy, Timeouts
from vernal_openai.options import OpenAiChatOptions, on_top_of
from vernal_openai.profiles import profile_for

if TYPE_CHECKING:
    from pydantic import SecretStr

    from vernal_openai.exchange import Exchange

BASE_URL = "https://api.openai.com/v1"
KEY_CURE = "Set VERNAL_OPENAI__API_KEY or OPENAI_API_KEY to a valid key, or give api_key=…."


class OpenAiChatModel(ChatModel):
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
        self._url = _completions_url(base_url)
        self._profile = profile_for(base_url, profile)
        self._options = on_top_of(OpenAiChatOptions(model=self._profile.default_model), options)
        self._api_key = api_key if api_key is None or isinstance(api_key, str) else api_key.get_secret_value()
        self._headers = {
            **({"openai-organization": organization} if organization else {}),
            **({"openai-project": project} if project else {}),
            **(headers or {}),
        }
        self._clients = clients or HttpClients()
        self._timeouts = timeouts
        self._retry = retry
        self.native_structured_output = self._profile.schema_output

    def __repr__(self) -> str:
        return f"OpenAiChatModel(model={self._options.model!r}, url={self._url!r}, profile={self._profile.name!r})"

    @property
    def default_options(self) -> OpenAiChatOptions:
        """The model's own options."""
        return self._options

    async def acall(self, prompt: Prompt) -> ChatResponse:
        """Ask the model for its whole answer.

        Raises:
            ModelError: the request failed; the class says how.
        """
        return await self._exchange.call(prompt)

    def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        """Ask the model for its answer as it arrives: a chunk for each piece of text, all else in the last one.

        Raises:
            ModelError: the request failed, or the answer broke off after what was given (R20).
        """
        return AsyncStream(lambda: self._exchange.stream(prompt))

    @cached_property
    def _exchange(self) -> "Exchange":
        if self._profile.needs_key and not self._api_key:
            raise AuthenticationError(f"no API key is set for {self._url}", service=self._profile.name, cure=KEY_CURE)
        from vernal.http import Endpoint
        from vernal_openai.exchange import Exchange
        from vernal_openai.requests import RequestWriter

        endpoint = Endpoint(
            service=self._profile.name,
            url=self._url,
            headers=self._request_headers(),
            clients=self._clients,
            secrets=(self._api_key,) if self._api_key else (),
            key_cure=KEY_CURE,
            settings="openai",
            retry=self._retry,
            timeouts=self._timeouts,
        )
        return Exchange(endpoint, RequestWriter(self._profile, self._options))

    def _request_headers(self) -> dict[str, str]:
        headers = {"accept": "application/json, text/event-stream"}
        if self._api_key:
            bearer = self._profile.key_header == "authorization"
            headers[self._profile.key_header] = f"Bearer {self._api_key}" if bearer else self._api_key
        return {**headers, **{name.lower(): value for name, value in self._headers.items()}}


def is_openais(base_url: str) -> bool:
    """Whether the address is OpenAI's own."""
    host = urlsplit(base_url).hostname or ""
    return host == "openai.com" or host.endswith(".openai.com")


def _completions_url(base_url: str) -> str:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"base_url is {base_url!r}; an address such as {BASE_URL!r} is wanted")
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return urlunsplit((parts.scheme, parts.netloc, f"{path}/chat/completions", parts.query, ""))
