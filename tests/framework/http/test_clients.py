"""HTTP clients: connections belong to an event loop, and go with it."""

import asyncio
import gc
import socket
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from vernal.http import HttpClients
from vernal.http.transport import LoopTransport, TransportName
from vernal.testing.server import Reply, replaying

OK = Reply.of_json({"ok": True})


async def ask(clients: HttpClients, url: str, content: bytes = b"{}") -> int:
    """The status of one request whose answer is read to its end."""
    response = await clients.post(httpx.URL(url), httpx.Headers(), content)
    body = response.stream
    assert isinstance(body, httpx.AsyncByteStream)
    try:
        async for _ in body:
            pass
    finally:
        await body.aclose()
    return response.status_code


def test_a_connection_is_used_again(transport: TransportName) -> None:
    """Requests one after the other on one loop share a connection."""

    async def main() -> int:
        async with replaying(OK) as server:
            clients = HttpClients(transport=transport)
            for _ in range(3):
                assert await ask(clients, server.url) == 200
            await clients.aclose()
            return server.connections

    assert asyncio.run(main()) == 1


def test_each_loop_has_its_own_connections_which_end_with_it(transport: TransportName) -> None:
    """One `HttpClients` serves loop after loop, and leaves no connection open behind any of them."""
    clients = HttpClients(transport=transport)

    async def main() -> None:
        async with replaying(OK) as server:
            assert await ask(clients, server.url) == 200

    for _ in range(2):
        asyncio.run(main())
    gc.collect()
    assert clients._loop_transport()._loops == {}


def test_clients_that_are_forgotten_close_their_connections(transport: TransportName) -> None:
    """Whoever drops an `HttpClients`, even within a cycle of garbage, leaves no open connection (and no warning)."""

    async def main() -> None:
        async with replaying(OK) as server:
            holder: dict[str, object] = {"clients": HttpClients(transport=transport)}
            holder["itself"] = holder
            assert await ask(holder["clients"], server.url) == 200  # type: ignore[arg-type]  # it was put in there
            del holder
            gc.collect()
            await asyncio.wait_for(server.left.wait(), 5)

    asyncio.run(main())


def test_closing_reaches_the_connections_of_other_loops(transport: TransportName) -> None:
    """`aclose` on one loop closes what another, still running, loop holds."""
    clients = HttpClients(transport=transport)
    asked, closed = threading.Event(), threading.Event()

    async def elsewhere() -> int:
        async with replaying(OK) as server:
            await ask(clients, server.url)
            asked.set()
            await asyncio.to_thread(closed.wait)
            await ask(clients, server.url)
            return server.connections

    with ThreadPoolExecutor() as pool:
        connections = pool.submit(asyncio.run, elsewhere())
        asked.wait()
        asyncio.run(clients.aclose())
        closed.set()
        assert connections.result() == 2


def test_plain_code_on_the_loop_can_close_too(transport: TransportName) -> None:
    """`close` on the running loop closes its connections within its next steps."""

    async def main() -> None:
        async with replaying(OK) as server:
            clients = HttpClients(transport=transport)
            await ask(clients, server.url)
            clients.close()
            await asyncio.wait_for(server.left.wait(), 5)

    asyncio.run(main())


def test_the_client_to_inject_works_on_every_loop(transport: TransportName) -> None:
    """`async_client` is an ordinary httpx client that belongs to no loop."""
    clients = HttpClients(transport=transport)
    client = clients.async_client

    async def main() -> None:
        async with replaying(OK) as server:
            response = await client.post(server.url, json={"a": 1})
            assert response.json() == {"ok": True}
            assert server.asked[0].json == {"a": 1}

    for _ in range(2):
        asyncio.run(main())
    assert clients.async_client is client


def test_a_client_of_your_own_is_respected_and_left_open() -> None:
    """Headers, hooks and transport of a given httpx client count, and closing is its owner's affair."""
    seen: list[httpx.Request] = []

    async def hook(request: httpx.Request) -> None:
        seen.append(request)

    async def main() -> bool:
        transport = httpx.MockTransport(lambda request: httpx.Response(200, json={"ok": True}))
        own = httpx.AsyncClient(transport=transport, headers={"x-mine": "1"}, event_hooks={"request": [hook]})
        clients = HttpClients(client=own)
        assert clients.async_client is own
        assert await ask(clients, "http://somewhere/v1") == 200
        await clients.aclose()
        return own.is_closed

    assert asyncio.run(main()) is False
    assert seen[0].headers["x-mine"] == "1"


def test_errors_are_those_of_httpx(transport: TransportName) -> None:
    """Whatever the transport, a service that is not there, and one that hangs up, are httpx errors of the same kind."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{unused.getsockname()[1]}/"

        async def main() -> None:
            clients = HttpClients(transport=transport)
            with pytest.raises(httpx.ConnectError):
                await ask(clients, nowhere)
            async with replaying(Reply([b'{"a":'], cut=True)) as server:
                with pytest.raises(httpx.RemoteProtocolError):
                    await ask(clients, server.url)
            hang_up = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
            with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
                await ask(clients, f"http://127.0.0.1:{hang_up.sockets[0].getsockname()[1]}/")
            hang_up.close()

        asyncio.run(main())


def test_large_bodies_arrive_whole() -> None:
    """A request of several megabytes, as images make them, is sent without a warning."""

    async def main() -> int:
        async with replaying(OK) as server:
            clients = HttpClients(transport="aiohttp")
            await ask(clients, server.url, b"x" * 3_000_000)
            return len(server.asked[0].body)

    assert asyncio.run(main()) == 3_000_000


def test_requests_go_through_a_proxy(transport: TransportName) -> None:
    """With a proxy the request goes there, for the address that was meant."""

    async def main() -> str:
        async with replaying(OK) as server:
            clients = HttpClients(transport=transport, proxy=server.url.removesuffix("/v1"))
            assert await ask(clients, "http://127.0.0.2:9/v1/chat") == 200
            return server.asked[0].path

    assert asyncio.run(main()) == "http://127.0.0.2:9/v1/chat"


def test_the_environment_names_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """`http_proxy` and `no_proxy` count where the environment is trusted and no proxy is given."""
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "localhost")

    def proxy(url: str, **options: object) -> str | None:
        clients = HttpClients(**options)  # type: ignore[arg-type]  # the options of each case
        transport = clients._loop_transport()
        assert isinstance(transport, LoopTransport)
        return transport._proxy(httpx.URL(url))

    assert proxy("http://example.com/") == "http://proxy:3128"
    assert proxy("http://localhost/") is None
    assert proxy("http://example.com/", trust_env=False) is None
    assert proxy("http://example.com/", proxy="http://other:1") == "http://other:1"


def test_tls_contexts_are_verified_and_made_for_https_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain connections make no TLS context that verifies; those for https do, and a given one is used as it is."""
    made: list[object] = []
    create = httpx.create_ssl_context

    def recording(*, verify: bool = True, trust_env: bool = True) -> ssl.SSLContext:
        made.append(verify)
        return create(verify=verify, trust_env=trust_env)

    monkeypatch.setattr(httpx, "create_ssl_context", recording)

    async def main(url: str, **options: ssl.SSLContext) -> None:
        clients = HttpClients(transport="httpx", **options)  # type: ignore[arg-type]  # the options of each case
        with pytest.raises(httpx.ConnectError):
            await ask(clients, url)

    asyncio.run(main("http://127.0.0.1:9/"))
    asyncio.run(main("https://127.0.0.1:9/"))
    asyncio.run(main("https://127.0.0.1:9/", verify=create()))
    assert made == [False, True]


def test_an_unknown_transport_is_refused() -> None:
    """A name that is none is said when the clients are made."""
    with pytest.raises(ValueError, match="transport is 'curl'"):
        HttpClients(transport="curl")  # type: ignore[arg-type]  # wrong on purpose
