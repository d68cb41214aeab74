"""aiohttp behind httpx's transport interface.

Imported when it is chosen: it loads aiohttp. The kept package httpx-aiohttp does the same, but reports a connection
that was lost as a connection that took too long, keeps cookies between callers, and makes a TLS context in any case.
"""

import asyncio
import io
import ssl
from collections.abc import AsyncIterator

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from vernal.http.lean import httpx
from vernal.http.transport import Response
from vernal.http.wire import WireCache

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
        self._urls: WireCache[httpx.URL, URL] = WireCache(lambda url: URL(str(url), encoded=True))
        self._headers: WireCache[httpx.Headers, CIMultiDict[str]] = WireCache(lambda h: CIMultiDict(_text(h)))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send `request`; the body of the response is unread.

        Raises:
            httpx.TransportError: as httpx's own transport does.
        """
        response = await self._send(
            request.method,
            URL(str(request.url), encoded=True),
            CIMultiDict(_text(request.headers)),
            await request.aread(),
            self._timeout(**request.extensions.get("timeout", {})),
        )
        return httpx.Response(
            response.status,
            headers=response.raw_headers,
            stream=_Body(response),
            extensions={"http_version": b"HTTP/1.1", "reason_phrase": (response.reason or "").encode()},
        )

    async def post(
        self, url: httpx.URL, headers: httpx.Headers, content: bytes, connect_timeout: float | None
    ) -> Response:
        """Send `content`; what a request of httpx would be made from for it (and taken apart here) is left out.

        Raises:
            httpx.TransportError: as httpx's own transport does.
        """
        limits = self._timeout(connect=connect_timeout)
        response = await self._send("POST", self._urls(url), self._headers(headers), content, limits)
        return Response(response.status, httpx.Headers(response.raw_headers), _Body(response))

    async def _send(
        self, method: str, url: URL, headers: CIMultiDict[str], content: bytes, limits: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        try:
            return await self._session.request(
                method,
                url,
                headers=headers,
                data=io.BytesIO(content) if len(content) >= LARGE_BODY else content or None,
                allow_redirects=False,
                timeout=limits,
                proxy=self._proxy,
            )
        except (aiohttp.ClientError, OSError) as error:
            raise _translated(error) from error
        except ValueError as error:  # such as a user in the URL beside an authorization header
            raise httpx.UnsupportedProtocol(str(error)) from error

    async def aclose(self) -> None:
        """Close the session and its connections."""
        await self._session.close()

    def _timeout(
        self, connect: float | None = None, read: float | None = None, pool: float | None = None, **_: object
    ) -> aiohttp.ClientTimeout:
        key = (connect, read, pool)
        known = self._timeouts.get(key)
        if known is None:
            known = aiohttp.ClientTimeout(total=None, sock_connect=connect, sock_read=read, connect=pool)
            if len(self._timeouts) < 64:
                self._timeouts[key] = known
        return known


class _Body(httpx.AsyncByteStream):
    """The body of a response; closing it before its end closes the connection."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk = await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            raise _translated(error) from error
        if not chunk:
            raise StopAsyncIteration
        return chunk

    def read_nowait(self) -> bytes:
        """What has arrived already: nothing where there is nothing, or an error."""
        content = self._response.content
        return b"" if content.exception() is not None else content.read_nowait()

    def rest_nowait(self) -> bytes | None:
        """All that is to come, where it has arrived already."""
        content = self._response.content
        return content.read_nowait() if content.is_eof() and content.exception() is None else None

    async def aclose(self) -> None:
        unread = not self._response.content.at_eof()
        self._response.release()
        if unread:
            await asyncio.sleep(0)  # the socket is closed in the loop's next step


def _text(headers: httpx.Headers) -> list[tuple[str, str]]:
    """The headers as text; httpx tries encodings on all of them first, which costs as much as sending them."""
    try:
        return [(name.decode(), value.decode()) for name, value in headers.raw]
    except UnicodeDecodeError:
        return headers.multi_items()


def _translated(error: Exception) -> httpx.TransportError:
    text = str(error) or type(error).__name__
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return httpx.ConnectTimeout(text)
    if isinstance(error, asyncio.TimeoutError):
        return httpx.ReadTimeout(text)
    if isinstance(error, aiohttp.ClientProxyConnectionError | aiohttp.ClientHttpProxyError):
        return httpx.ProxyError(text)
    if isinstance(error, aiohttp.ClientConnectorError):
        return httpx.ConnectError(text)
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError | aiohttp.ClientResponseError):
        return httpx.RemoteProtocolError(text)
    if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError):
        return httpx.UnsupportedProtocol(text)
    return httpx.ReadError(text)
