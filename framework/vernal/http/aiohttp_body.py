"""What arrives over aiohttp, and what goes wrong there, in httpx's terms."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable

import aiohttp

from vernal.http.lean import httpx

_ENDS_EARLY = re.compile(r"[\x00\r\n]")


class Body(httpx.AsyncByteStream):
    """The body of a response, read from `content`; closing it before its end closes the connection.

    `release` gives the connection back, whatever has been read.
    """

    __slots__ = ("_content", "_release")

    def __init__(self, content: aiohttp.StreamReader, release: Callable[[], object]) -> None:
        self._content = content
        self._release = release

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk = await self._content.readany()
        except (aiohttp.ClientError, OSError) as error:
            raise translated(error) from error
        if not chunk:
            raise StopAsyncIteration
        return chunk

    def read_nowait(self) -> bytes:
        """What has arrived already: nothing where there is nothing, or an error."""
        content = self._content
        return b"" if content.exception() is not None else content.read_nowait()

    def rest_nowait(self) -> bytes | None:
        """All that is to come, where it has arrived already."""
        content = self._content
        return content.read_nowait() if content.is_eof() and content.exception() is None else None

    async def aclose(self) -> None:
        content = self._content
        unread = not content.at_eof()
        self._release()
        if unread:
            if content.exception() is None:  # whoever still waits for a piece of it
                content.set_exception(aiohttp.ClientConnectionError("Connection closed"))
            await asyncio.sleep(0)  # the socket is closed in the loop's next step


def header_texts(headers: httpx.Headers) -> list[tuple[str, str]]:
    """The headers as text; httpx tries encodings on all of them first, which costs as much as sending them.

    Raises:
        httpx.UnsupportedProtocol: one would end before its end, and its rest be taken for more headers.
    """
    try:
        texts = [(name.decode(), value.decode()) for name, value in headers.raw]
    except UnicodeDecodeError:
        texts = headers.multi_items()
    for name, value in texts:
        if _ENDS_EARLY.search(value) or _ENDS_EARLY.search(name):
            raise httpx.UnsupportedProtocol(f"the header {name!r} holds a line break or a NUL")
    return texts


def translated(error: Exception) -> httpx.TransportError:
    """The error of httpx for one of aiohttp or of the operating system."""
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
