"""aiohttp behind httpx's transport interface.

Imported when it is chosen: it loads aiohttp. The kept package httpx-aiohttp does the same, but reports a connection
that was lost as a connection that took too long, keeps cookies between callers, and makes a TLS context in any case.
"""

import io
import ssl
from collections.abc import Awaitable

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from vernal.http.aiohttp_body import Body, header_texts, translated
from vernal.http.aiohttp_direct import DirectPosts, is_known
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
        self._direct = DirectPosts(self._session, connector) if proxy is None and is_known() else None
        self._urls: WireCache[httpx.URL, URL] = WireCache(lambda url: URL(str(url), encoded=True))
        self._headers: WireCache[httpx.Headers, CIMultiDict[str]] = WireCache(lambda h: CIMultiDict(header_texts(h)))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send `request`; the body of the response is unread.

        Raises:
            httpx.TransportError: as httpx's own transport does.
        """
        response = await self._send(
            request.method,
            URL(str(request.url), encoded=True),
            CIMultiDict(header_texts(request.headers)),
            await request.aread(),
            self._timeout(**request.extensions.get("timeout", {})),
        )
        return httpx.Response(
            response.status,
            headers=response.raw_headers,
            stream=Body(response.content, response.release),
            extensions={"http_version": b"HTTP/1.1", "reason_phrase": (response.reason or "").encode()},
        )

    def post(
        self, url: httpx.URL, headers: httpx.Headers, content: bytes, connect_timeout: float | None
    ) -> Awaitable[Response]:
        """Send `content`; what a request of httpx would be made from for it (and taken apart here) is left out.

        Raises:
            httpx.TransportError: as httpx's own transport does.
        """
        limits = self._timeout(connect=connect_timeout)
        route = None
        if self._direct is not None and len(content) < LARGE_BODY:
            route = self._direct.route(url, headers)
        if self._direct is None or route is None:
            return self._post_by_session(url, headers, content, limits)
        return self._direct.send(route, content, limits)

    async def _post_by_session(
        self, url: httpx.URL, headers: httpx.Headers, content: bytes, limits: aiohttp.ClientTimeout
    ) -> Response:
        response = await self._send("POST", self._urls(url), self._headers(headers), content, limits)
        return Response(response.status, response.headers, Body(response.content, response.release))

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
            raise translated(error) from error
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
