"""The transport under `HttpClients`: connections that belong to the event loop they were made on.

Imported when the first request is made: it loads httpx.
"""

import asyncio
import importlib.util
import logging
import os
import ssl
import sys
import threading
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import cache
from typing import Literal
from urllib.request import getproxies, proxy_bypass

from vernal.http.headers import Headers
from vernal.http.lean import httpx
from vernal.runtime.loading import loading
from vernal.values.records import dataclass

TransportName = Literal["auto", "aiohttp", "httpx"]

_log = logging.getLogger("vernal.http")

FIRST_REQUESTS = 4
"""As many as a question with a few tools takes."""


@dataclass(frozen=True, kw_only=True)
class TransportOptions:
    """What connections are made with; see `HttpClients` for the meaning of each."""

    transport: TransportName
    max_connections: int | None
    keepalive: float
    proxy: str | None
    verify: bool | str | ssl.SSLContext
    trust_env: bool


@dataclass(frozen=True, slots=True)
class Response:
    """What has arrived of a response when its headers have: as much of `httpx.Response` as its reader needs."""

    status_code: int
    headers: Headers
    stream: httpx.AsyncByteStream

    async def aclose(self) -> None:
        """Release the connection: to be used again where the body was read to its end, closed otherwise."""
        await self.stream.aclose()


Post = Callable[[httpx.URL, httpx.Headers, bytes, float | None], Awaitable[Response]]


class LoopTransport(httpx.AsyncBaseTransport):
    """An httpx transport for any number of event loops: each has connections of its own.

    They are closed by `aclose`, when this transport is forgotten, or when their loop shuts its asynchronous generators
    down (`asyncio.run` does), since a generator of ours is among them.
    """

    def __init__(self, options: TransportOptions) -> None:
        self._options = options
        self._loops: dict[asyncio.AbstractEventLoop, _LoopConnections] = {}
        self._contexts: dict[bool, ssl.SSLContext] = {}
        self._first_requests = FIRST_REQUESTS
        self._env_proxies = getproxies() if options.trust_env and options.proxy is None else {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send `request` on the running loop's connections; the body of the response is unread."""
        return await self._transport(request.url).handle_async_request(request)

    def post(
        self, url: httpx.URL, headers: httpx.Headers, content: bytes, connect_timeout: float | None
    ) -> "Awaitable[Response | httpx.Response]":
        """Send `content` on the running loop's connections; the body of the response is unread."""
        transport = self._transport(url)
        post: Post | None = getattr(transport, "post", None)  # a shorter way than by a whole request of httpx
        if post is not None:
            return post(url, headers, content, connect_timeout)
        return transport.handle_async_request(_request(url, headers, content, connect_timeout))

    async def aclose(self) -> None:
        """Close the connections of all loops; those of another loop are closed there."""
        here = asyncio.get_running_loop()
        for loop, connections in list(self._loops.items()):
            if loop is here:
                await connections.aclose()
            elif loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(connections.aclose(), loop))
            self._loops.pop(loop, None)

    def close(self) -> None:
        """Close the connections of all loops; those of the running loop within its next steps, the others at once."""
        here = asyncio._get_running_loop()
        for loop, connections in list(self._loops.items()):
            if loop is not here and loop.is_running():
                asyncio.run_coroutine_threadsafe(connections.aclose(), loop).result()
            else:
                connections.close_later()
            self._loops.pop(loop, None)

    def _transport(self, url: httpx.URL) -> httpx.AsyncBaseTransport:
        loop = asyncio.get_running_loop()
        connections = self._loops.get(loop) or self._open(loop)
        proxy = self._proxy(url)
        route = (self._carrier(proxy), url.scheme, proxy)
        transport = connections.transports.get(route)
        if transport is None:
            with loading("aiohttp" if route[0] == "aiohttp" else "httpcore"):
                transport = connections.transports[route] = self._make(*route)
        return transport

    def _open(self, loop: asyncio.AbstractEventLoop) -> "_LoopConnections":
        for ended in [other for other in self._loops if other.is_closed()]:
            del self._loops[ended]
        connections = self._loops[loop] = _LoopConnections(weakref.WeakMethod(self._forget), loop)
        # The registry of finalizers keeps the connections until they are closed, whoever forgets this transport.
        connections.finalizer = weakref.finalize(self, connections.close_later)
        connections.finalizer.atexit = False
        return connections

    def _forget(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loops.pop(loop, None)

    def _carrier(self, proxy: str | None) -> TransportName:
        """What carries the next request, where that is left open.

        Measured: a request on an open connection costs 430 µs of CPU on httpx's own transport and 110 µs on aiohttp;
        200 conversations at once run at 60 and at 1,400 a second, since httpx's pool looks at every connection for
        every request. But aiohttp costs 170 ms to import, and httpx's own transport 40: who asks once does without.
        It knows no SOCKS proxies.
        """
        if self._options.transport != "auto":
            return self._options.transport
        if self._first_requests > 0 and "aiohttp" not in sys.modules:
            self._first_requests -= 1
            if not self._first_requests:
                _warm_up()
            return "httpx"
        return "httpx" if (proxy or "").startswith("socks") or not _has_aiohttp() else "aiohttp"

    def _make(self, name: TransportName, scheme: str, proxy: str | None) -> httpx.AsyncBaseTransport:
        options = self._options
        verify = self._context(secure=scheme == "https" or proxy is not None)
        if name == "aiohttp":
            from vernal.http.aiohttp_transport import AiohttpTransport

            return AiohttpTransport(
                verify=verify, max_connections=options.max_connections, keepalive=options.keepalive, proxy=proxy
            )
        limits = httpx.Limits(
            max_connections=options.max_connections,
            max_keepalive_connections=options.max_connections,
            keepalive_expiry=options.keepalive,
        )
        return httpx.AsyncHTTPTransport(verify=verify, limits=limits, proxy=proxy)

    def _context(self, *, secure: bool) -> ssl.SSLContext:
        """A context for TLS, which costs about 20 ms; plain connections, which never serve https, do without."""
        context = self._contexts.get(secure)
        if context is None:
            verify = self._options.verify if secure else False
            context = self._contexts[secure] = _ssl_context(verify, self._options.trust_env)
        return context

    def _proxy(self, url: httpx.URL) -> str | None:
        if not self._env_proxies:
            return self._options.proxy
        proxy = self._env_proxies.get(url.scheme) or self._env_proxies.get("all")
        if proxy is None or proxy_bypass(url.host):
            return None
        return proxy if "://" in proxy else f"http://{proxy}"


def _request(url: httpx.URL, headers: httpx.Headers, content: bytes, connect_timeout: float | None) -> httpx.Request:
    headers = httpx.Headers(headers, encoding="utf-8")
    headers.setdefault("host", url.netloc.decode("ascii"))
    headers["content-length"] = str(len(content))
    stream = httpx.ByteStream(content)  # given as content, httpx looks through all headers again: 20 µs
    extensions = {"timeout": {"connect": connect_timeout}}
    return httpx.Request("POST", url, headers=headers, stream=stream, extensions=extensions)


_closing: set[asyncio.Task[None]] = set()


class _LoopConnections:
    """The transports of one loop, by kind, scheme and proxy, and the generator that closes them with the loop."""

    finalizer: "weakref.finalize[[], LoopTransport]"

    def __init__(
        self, forget: "weakref.WeakMethod[Callable[[asyncio.AbstractEventLoop], None]]", loop: asyncio.AbstractEventLoop
    ) -> None:
        self.transports: dict[tuple[TransportName, str, str | None], httpx.AsyncBaseTransport] = {}
        self._forget = forget
        self._loop = loop
        self._ending: asyncio.Task[None] | None = None
        self._guard = self._until_the_loop_ends()
        try:
            self._guard.__anext__().send(None)  # starts it, which makes it known to the loop, without a task switch
        except StopIteration:
            pass

    async def aclose(self) -> None:
        """Close the transports; to be awaited on their loop. Whoever comes second waits for the first."""
        if self._ending is None:
            self.finalizer.detach()
            self._ending = self._loop.create_task(self._guard.aclose())
        await asyncio.shield(self._ending)

    def close_later(self) -> None:
        """Have the transports closed by their loop, where that still runs."""
        try:
            self._loop.call_soon_threadsafe(self._start_closing)
        except RuntimeError:
            return  # the loop is closed, and the connections with it

    def _start_closing(self) -> None:
        task = self._loop.create_task(self.aclose())
        _closing.add(task)  # the loop alone does not keep it
        task.add_done_callback(_closing.discard)

    async def _until_the_loop_ends(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self.finalizer.detach()
            forget = self._forget()
            if forget is not None:
                forget(self._loop)
            for transport in self.transports.values():
                await transport.aclose()


@cache
def _has_aiohttp() -> bool:
    return importlib.util.find_spec("aiohttp") is not None


def _warm_up() -> None:
    """Load aiohttp while the last of the first answers is waited for, in a thread, where there is a processor for it.

    Else the next request would hold up the loop for it. Whoever needs it earlier waits for the rest of the import.
    """
    if processors() > 1 and _has_aiohttp():
        threading.Thread(target=_load_aiohttp, name="vernal-warm-up", daemon=True).start()


def _load_aiohttp() -> None:
    try:
        import vernal.http.aiohttp_transport  # noqa: F401  # what is loaded is all that is wanted
    except Exception:  # noqa: BLE001  # who needs it gets the error
        _log.debug("aiohttp could not be loaded ahead", exc_info=True)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ssl_context(verify: bool | str | ssl.SSLContext, trust_env: bool) -> ssl.SSLContext:
    if isinstance(verify, ssl.SSLContext):
        return verify
    if isinstance(verify, str):
        return ssl.create_default_context(cafile=verify)
    return httpx.create_ssl_context(verify=verify, trust_env=trust_env)
