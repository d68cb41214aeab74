"""Models behind an HTTP service: what they all have in common."""

from collections.abc import AsyncIterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from vernal.http.clients import HttpClients
from vernal.http.errors import AuthenticationError
from vernal.http.retry import DEFAULT_RETRY_POLICY, RetryPolicy
from vernal.http.timeouts import Timeouts
from vernal.models.chat import ChatModel
from vernal.runtime.loading import loading
from vernal.runtime.streams import AsyncStream
from vernal.values.prompt import Prompt
from vernal.values.responses import ChatResponse

if TYPE_CHECKING:
    from pydantic import SecretStr

    from vernal.http.endpoint import Endpoint
    from vernal.models.exchange import Exchange


class ServiceModel:
    """What models of any kind behind an HTTP service share: where it is, who asks, and how patiently.

    - `api_key`: demanded at the first request, by services that need one (R25).
    - `base_url`: the address of the API; `headers`: further headers of each request.
    - `clients`: where requests go out, and with it proxies, TLS and your own `httpx.AsyncClient`.
    - `timeouts`, `retry`: how long a request may take, and how often it is sent.

    Raises:
        ValueError: the base URL is none.
    """

    def __init__(
        self,
        *,
        api_key: "str | SecretStr | None" = None,
        base_url: str,
        headers: Mapping[str, str] | None = None,
        clients: HttpClients | None = None,
        timeouts: Timeouts | None = None,
        retry: RetryPolicy = DEFAULT_RETRY_POLICY,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"base_url is {base_url!r}; an address such as 'https://api.example.com/v1' is wanted")
        self._base_url = base_url
        self._api_key = api_key if api_key is None or isinstance(api_key, str) else api_key.get_secret_value()
        self._headers = headers or {}
        self._clients = clients or HttpClients()
        self._timeouts = timeouts
        self._retry = retry

    def required_key(self, service: str, cure: str) -> str:
        """The API key.

        Raises:
            AuthenticationError: there is none; `cure` says which variables to set.
        """
        if not self._api_key:
            raise AuthenticationError(f"no API key is set for {self._base_url}", service=service, cure=cure)
        return self._api_key

    def endpoint(self, *, service: str, url: str, headers: Mapping[str, str], **more: Any) -> "Endpoint":
        """The address `url` of the service, with the clients, timeouts and retries of this model; the key is masked."""
        from vernal.http.endpoint import Endpoint

        return Endpoint(
            service=service,
            url=url,
            headers={**headers, **{name.lower(): value for name, value in self._headers.items()}},
            clients=self._clients,
            secrets=(self._api_key,) if self._api_key else (),
            retry=self._retry,
            timeouts=self._timeouts,
            **more,
        )


class ServiceChatModel(ServiceModel, ChatModel):
    """The base class of chat models behind an HTTP service; a subclass defines `connect`."""

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

    def connect(self) -> "Exchange":
        """How prompts become requests, and answers responses; asked for with the first request."""
        raise NotImplementedError(f"{type(self).__qualname__} has no method 'connect'")

    @cached_property
    def _exchange(self) -> "Exchange":
        with loading("vernal.http.endpoint"):
            return self.connect()
