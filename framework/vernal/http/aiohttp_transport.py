"""aiohttp behind httpx's transport interface.

Imported when it is chosen: it loads aiohttp. The kept package httpx-aiohttp does the same, but reports a connection
that was lost as a connection that took too long, keeps cookies between callers, and makes a TLS context in any case.
"""

import asyncio
import io
import ssl
from collections.abc import AsyncIterator

import aiohttp
import httpx
from yarl import URL

LARGE_BODY = 1 << 20
"""Bytes from which aiohttp wants a body as a file, to send it in pieces."""


class AiohttpTransport(httpx.AsyncBaseTransport):
    """Sends httpx requests over an aiohttp session; made on the event loop that it serves."""

    def __init__(
        self, *, verify: ssl.SSLContext, max_connections: int | None, keepalive: float, proxy: str | None
    ) -> None:
        connector = aiohttp.TCPConnector(ssl=verify, limit=max_connections or 0, keepalive_timeout=keepalive)
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None),
        )
        self._proxy = proxy
        self._timeouts: dict[tuple[float | None, float | None, float | None], aiohttp.ClientTimeout] = {}
        self._urls: dict[str, URL] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send `request`; the body of the response is unread.

        Raises:
            httpx.TransportError: as httpx's own transport does.
        """
        try:
            response = await self._session.request(
                request.method,
                self._url(request.url),
                headers=_headers(request),
                data=await _body(request),
                allow_redirects=False,
                timeout=self._timeout(request),
                proxy=self._proxy,
            )
        except (aiohttp.ClientError, OSError) as error:
            raise _translated(error, request) from error
        return httpx.Response(
            response.status,
            headers=response.raw_headers,
            stream=_Body(response, request),
            extensions={"http_version": b"HTTP/1.1", "reason_phrase": (response.reason or "").encode()},
        )

    async def aclose(self) -> None:
        """Close the session and its connections."""
        await self._session.close()

    def _url(self, url: httpx.URL) -> URL:
        text = str(url)
        known = self._urls.get(text)
        if known is None:
            known = URL(text, encoded=True)
            if len(self._urls) < 64:
                self._urls[text] = known
        return known

    def _timeout(self, request: httpx.Request) -> aiohttp.ClientTimeout:
        given = request.extensions.get("timeout", {})
        key = (given.get("connect"), given.get("read"), given.get("pool"))
        known = self._timeouts.get(key)
        if known is None:
            connect, read, pool = key
            known = aiohttp.ClientTimeout(total=None, sock_connect=connect, sock_read=read, connect=pool)
            if len(self._timeouts) < 64:
                self._timeouts[key] = known
        return known


class _Body(httpx.AsyncByteStream):
    """The body of a response; closing it before its end closes the connection."""

    def __init__(self, response: aiohttp.ClientResponse, request: httpx.Request) -> None:
        self._response = response
        self._request = request

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk = await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            raise _translated(error, self._request) from error
        if not chunk:
            raise StopAsyncIteration
        return chunk

    async def aclose(self) -> None:
        unread = not self._response.content.at_eof()
        self._response.release()
        if unread:
            await asyncio.sleep(0)  # the socket is closed in the loop's next step


def _headers(request: httpx.Request) -> list[tuple[str, str]]:
    """The headers as text; httpx tries encodings on all of them first, which costs as much as sending them."""
    try:
        return [(name.decode(), value.decode()) for name, value in request.headers.raw]
    except UnicodeDecodeError:
        return request.headers.multi_items()


async def _body(request: httpx.Request) -> bytes | io.BytesIO | None:
    body = await request.aread()
    if len(body) < LARGE_BODY:
        return body or None
    return io.BytesIO(body)


def _translated(error: Exception, request: httpx.Request) -> httpx.TransportError:
    text = str(error) or type(error).__name__
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return httpx.ConnectTimeout(text, request=request)
    if isinstance(error, asyncio.TimeoutError):
        return httpx.ReadTimeout(text, request=request)
    if isinstance(error, aiohttp.ClientProxyConnectionError | aiohttp.ClientHttpProxyError):
        return httpx.ProxyError(text, request=request)
    if isinstance(error, aiohttp.ClientConnectorError):
        return httpx.ConnectError(text, request=request)
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError | aiohttp.ClientResponseError):
        return httpx.RemoteProtocolError(text, request=request)
    if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError):
        return httpx.UnsupportedProtocol(text, request=request)
    return httpx.ReadError(text, request=request)
