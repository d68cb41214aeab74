"""No request to a model service leaves a test, unless the test says so."""

from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING

from vernal.errors import UsageError
from vernal.http.clients import HttpClients

if TYPE_CHECKING:
    import httpx

    from vernal.http.transport import Response


class RealModelBlockedError(UsageError):
    """A test asked a real model service; `url` is its address."""

    def __init__(self, url: str) -> None:
        self.url = url
        super().__init__(
            f"a test asked the model service at {url}, and real models are blocked in tests; give the test a "
            "ScriptedChatModel or chat.model=offline, or allow it: @pytest.mark.real_models, pytest --real-models, or "
            "vernal_real_models = true in the configuration of pytest"
        )

    def __reduce__(self) -> tuple[type["RealModelBlockedError"], tuple[str]]:
        return type(self), (self.url,)


@contextmanager
def real_models_blocked() -> Iterator[None]:
    """Refuse the requests of this process to model services while the block runs, from every thread.

    What answers on this machine (a loopback address) is no real model, nor is a client of your own whose transport
    stays in the process, such as `httpx.MockTransport`.

    Raises:
        RealModelBlockedError: from a request to a model.
    """
    post = HttpClients.post

    async def post_unless_real(
        self: HttpClients,
        url: "httpx.URL",
        headers: "httpx.Headers",
        content: bytes,
        *,
        connect_timeout: float | None = None,
    ) -> "Response | httpx.Response":
        if _is_real(self, url):
            raise RealModelBlockedError(str(url))
        return await post(self, url, headers, content, connect_timeout=connect_timeout)

    HttpClients.post = post_unless_real  # type: ignore[method-assign]  # every request to a model goes through it
    try:
        yield
    finally:
        HttpClients.post = post  # type: ignore[method-assign]  # the same


def _is_real(clients: HttpClients, url: "httpx.URL") -> bool:
    from vernal.http.lean import httpx

    transport = getattr(clients.client, "_transport", None)  # httpx has no public name for it
    if transport is not None and not isinstance(transport, httpx.AsyncHTTPTransport):
        return False
    try:
        return not ip_address(url.host).is_loopback
    except ValueError:
        return url.host != "localhost"
