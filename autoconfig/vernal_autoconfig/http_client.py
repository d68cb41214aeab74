"""The HTTP clients of all who ask a service."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from vernal.context import auto_configuration, bean, on_bean, on_missing_bean
from vernal.context.settings import Duration, Settings
from vernal.context.types import deferred_module
from vernal.http.clients import HttpClients
from vernal.http.timeouts import DEFAULT_TIMEOUTS, Timeouts

if TYPE_CHECKING:
    import httpx
else:
    httpx = deferred_module("httpx")  # an application starts without it: it takes up to 0.1 s to load


class HttpClientSettings(Settings, prefix="http"):
    """What is set for HTTP connections."""

    transport: Literal["auto", "aiohttp", "httpx"] = Field(
        default="auto", description="What carries the requests: aiohttp where it is installed, or httpx's own."
    )
    connect_timeout: Duration | None = Field(default=None, description="How long a connection may take to open.")
    first_token_timeout: Duration | None = Field(default=None, description="How long the first byte may take.")
    between_chunks_timeout: Duration | None = Field(default=None, description="How long a stream may be silent.")
    total_timeout: Duration | None = Field(default=None, description="How long a whole answer may take.")
    max_connections: int = Field(default=1000, ge=1, description="Connections open at once, for each event loop.")
    proxy: str | None = Field(default=None, description="URL of a proxy; else the proxy variables count.")
    verify: bool | str = Field(default=True, description="Whether certificates are checked, or the CA bundle's path.")

    @field_validator("proxy")
    @classmethod
    def _address(cls, given: str | None) -> str | None:
        parts = urlsplit(given or "")
        if given is not None and not (parts.scheme and parts.hostname):
            raise ValueError("wanted an address such as http://proxy.example.com:3128")
        return given

    def timeouts(self) -> Timeouts:
        """The time limits that these settings mean."""
        return Timeouts(
            connect=_seconds(self.connect_timeout, DEFAULT_TIMEOUTS.connect),
            first_token=_seconds(self.first_token_timeout, DEFAULT_TIMEOUTS.first_token),
            between_chunks=_seconds(self.between_chunks_timeout, DEFAULT_TIMEOUTS.between_chunks),
            total=_seconds(self.total_timeout, DEFAULT_TIMEOUTS.total),
        )


@auto_configuration
class HttpClientAutoConfiguration:
    """Connections pooled for each event loop, closed with the context; a user's own client is respected."""

    @bean
    @on_bean(httpx.AsyncClient)
    @on_missing_bean
    def http_clients_over_own_client(self, client: httpx.AsyncClient) -> HttpClients:
        """The user's own client, for all who ask a service."""
        return HttpClients(client=client)

    @bean
    @on_missing_bean
    def http_clients(self, settings: HttpClientSettings) -> Iterator[HttpClients]:
        """Clients as the settings say."""
        clients = HttpClients(
            transport=settings.transport,
            timeouts=settings.timeouts(),
            max_connections=settings.max_connections,
            proxy=settings.proxy,
            verify=settings.verify,
        )
        yield clients
        clients.close()

    @bean
    @on_missing_bean
    def http_client(self, clients: HttpClients) -> httpx.AsyncClient:
        """The client to inject where something else asks a service; it works on every event loop."""
        return clients.async_client


def _seconds(given: Duration | None, default: float | None) -> float | None:
    return default if given is None else given.total_seconds()
