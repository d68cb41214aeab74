"""An answer of a service as it arrives. Imported with the first request: it loads httpx."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from vernal.http.errors import ModelError
from vernal.http.lean import httpx
from vernal.http.transport import Response

if TYPE_CHECKING:
    from vernal.http.endpoint import Endpoint

LINGER = 0.5
"""Seconds to wait, after the end mark, for the end of the body, so that the connection can be used again."""


class ByteStream:
    """An answer of a service as it arrives: `read()` until it gives `b""`, then (or earlier) `aclose()`."""

    __slots__ = (
        "_ahead",
        "_body",
        "_chunks",
        "_end",
        "_endpoint",
        "_limits",
        "_nowait",
        "_read_before",
        "_rest",
        "_tell",
        "headers",
    )

    def __init__(
        self,
        endpoint: "Endpoint",
        response: Response | httpx.Response,
        end: float | None,
        tell: Callable[[str, bytes], None] | None,
    ) -> None:
        self.headers = response.headers
        self._endpoint = endpoint
        self._limits = endpoint.limits
        self._end = end
        self._tell = tell
        self._ahead = b""
        self._read_before = False
        body = response.stream
        assert isinstance(body, httpx.AsyncByteStream)  # as httpx.AsyncClient demands of every transport
        self._body = body
        if "content-encoding" in response.headers:
            encoding = {"content-encoding": response.headers["content-encoding"]}
            decoding = httpx.Response(response.status_code, headers=encoding, stream=body)
            self._chunks: AsyncIterator[bytes] = decoding.aiter_bytes()
            self._nowait: Callable[[], bytes] | None = None
        else:
            # httpx's own iteration decodes and counts; a body that is not compressed needs neither.
            self._chunks = aiter(body)
            self._nowait = getattr(body, "read_nowait", None)
        self._rest: Callable[[], bytes | None] | None = getattr(body, "rest_nowait", None) if self._nowait else None

    @property
    def begin(self) -> bytes:
        """The first bytes, as long as they have not been read."""
        return self._ahead

    async def read(self, *, within: float | None = None) -> bytes:
        """The next bytes, `b""` at the end; `within` seconds instead of the limit between chunks.

        Raises:
            BrokenStreamError: the connection was lost.
            ModelTimeoutError: nothing came in time.
        """
        if self._ahead:
            ahead, self._ahead = self._ahead, b""
            return ahead
        if self._nowait is not None and (data := self._nowait()):  # there already: no time limit is set up for it
            self._read_before = True
            if self._tell is not None:
                self._tell("received", data)
            return data
        name = "between_chunks" if self._read_before else "first_token"
        limit = within or getattr(self._limits, name)
        self._read_before = True
        try:
            async with asyncio.timeout_at(earlier(asyncio.get_running_loop().time(), limit, self._end)):
                return await self._next()
        except (TimeoutError, httpx.RequestError) as error:
            raise self._told(error, name) from error

    async def drain(self) -> None:
        """Read what follows an end mark, for a short while, so that the connection can be used again."""
        try:
            while await self.read(within=LINGER):
                pass
        except ModelError:
            return  # the answer is whole; the connection is closed instead of used again

    async def read_ahead(self) -> None:
        """Wait for the first bytes and keep them for `read`."""
        self._ahead = await self.read()

    async def read_all(self, at_most: int | None = None) -> bytes:
        """All that is to come, within the limit for the first byte, or no more than about `at_most` bytes."""
        if self._rest is not None and self._tell is None and (data := self._rest()) is not None:
            return self._ahead + data if self._ahead else data
        limit, pieces, size = self._limits.first_token, [self._ahead], 0
        try:
            async with asyncio.timeout_at(earlier(asyncio.get_running_loop().time(), limit, self._end)):
                while (at_most is None or size < at_most) and (chunk := await self._next()):
                    pieces.append(chunk)
                    size += len(chunk)
        except (TimeoutError, httpx.RequestError) as error:
            raise self._told(error, "first_token") from error
        return b"".join(pieces)

    async def _next(self) -> bytes:
        async for chunk in self._chunks:
            if chunk:
                if self._tell is not None:
                    self._tell("received", chunk)
                return chunk
        return b""

    def _told(self, error: Exception, limit: str) -> ModelError:
        if isinstance(error, TimeoutError | httpx.ReadTimeout):
            return self._endpoint.late("nothing more came", limit, self._end, self.headers)
        return self._endpoint.broken(f"the answer broke off ({str(error) or type(error).__name__})", self.headers)

    async def aclose(self) -> None:
        """Release the connection: to be used again where the answer was read to its end, closed otherwise (R20)."""
        chunks: object = self._chunks
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()
        if chunks is not self._body:
            await self._body.aclose()


def earlier(now: float, limit: float | None, end: float | None) -> float | None:
    """When waiting ends: `limit` seconds from `now`, or at `end` where that comes first; None: never."""
    if limit is None:
        return end
    return now + limit if end is None else min(now + limit, end)
