"""Requests to real model services are refused in tests; what answers on this machine is not."""

import pickle
import threading

import httpx
import pytest

from vernal.http import HttpClients
from vernal.runtime.portal import run_blocking
from vernal.testing import RealModelBlockedError, real_models_blocked

HEADERS = httpx.Headers()


def post(clients: HttpClients, url: str) -> int:
    """The status of the answer to a request, made as providers make them."""

    async def asked() -> int:
        response = await clients.post(httpx.URL(url), HEADERS, b"{}", connect_timeout=0.2)
        await response.aclose()
        return response.status_code

    return run_blocking(asked)


def answering() -> httpx.AsyncClient:
    """A client that answers in the process."""
    return httpx.AsyncClient(transport=httpx.MockTransport(lambda request: httpx.Response(204)))


@pytest.mark.parametrize("url", ["https://api.example.com/v1", "http://192.0.2.1/v1", "http://[2001:db8::1]/v1"])
@pytest.mark.parametrize("clients", [HttpClients(), HttpClients(client=httpx.AsyncClient())], ids=["ours", "own"])
def test_a_real_service_is_not_asked(clients: HttpClients, url: str) -> None:
    """The error names the address and the three ways to allow it, and survives a pickle."""
    with real_models_blocked(), pytest.raises(RealModelBlockedError, match="real models are blocked") as blocked:
        post(clients, url)
    for cure in ("@pytest.mark.real_models", "--real-models", "vernal_real_models = true", "ScriptedChatModel"):
        assert cure in str(blocked.value)
    assert pickle.loads(pickle.dumps(blocked.value)).url == url


@pytest.mark.parametrize("url", ["http://localhost:1/v1", "http://127.0.0.1:1/v1", "http://[::1]:1/v1"])
def test_this_machine_may_be_asked(url: str) -> None:
    """A server of the test itself is reached, or refuses the connection itself."""
    with real_models_blocked(), pytest.raises(httpx.TransportError):
        post(HttpClients(transport="httpx"), url)


def test_a_transport_within_the_process_is_no_real_model() -> None:
    """A client with `httpx.MockTransport` answers whatever the address."""
    with real_models_blocked():
        assert post(HttpClients(client=answering()), "https://api.example.com/v1") == 204


def test_every_thread_is_blocked_until_the_block_ends() -> None:
    """Threads that know nothing of the test are blocked too; afterwards, and in nested blocks, all is as before."""
    failures: list[Exception] = []

    def ask() -> None:
        try:
            post(HttpClients(), "https://api.example.com/v1")
        except RealModelBlockedError as error:
            failures.append(error)

    before = HttpClients.post
    with real_models_blocked():
        with real_models_blocked():
            pass
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert len(failures) == 1
    assert HttpClients.post is before
