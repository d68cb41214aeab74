"""One address of a model service: requests go out with retries and timeouts, answers come back as bytes or errors.

Imported when the first request is made: it loads httpx.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import httpx

from vernal.http.classify import Refusal, refused
from vernal.http.clients import HttpClients
from vernal.http.errors import BrokenStreamError, ModelConnectionError, ModelError, ModelTimeoutError, ProtocolError
from vernal.http.retry import DEFAULT_RETRY_POLICY, RetryPolicy, retry_after
from vernal.http.timeouts import Timeouts

logger = logging.getLogger("vernal.http")

LONGEST_ERROR = 1 << 20
"""Bytes of an error body that are read at most."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer of a service: its headers and its body."""

    headers: httpx.Headers
    content: bytes


@dataclass(kw_only=True, eq=False)
class Endpoint:
    """An address of a model service that takes JSON by POST.

    `headers` go with each request. `service` names it in errors, `read_refusal` reads the bodies of its errors, and
    `secrets` are removed from what it says. `key_cure` is the advice where the key is not accepted. `timeouts` are
    those of `clients` by default.
    """

    service: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    clients: HttpClients
    read_refusal: Callable[[bytes], Refusal]
    secrets: tuple[str, ...] = field(default=(), repr=False)
    key_cure: str | None = None
    retry: RetryPolicy = DEFAULT_RETRY_POLICY
    timeouts: Timeouts | None = None

    def __post_init__(self) -> None:
        self._parsed_url = httpx.URL(self.url)
        self._parsed_headers = httpx.Headers(self.headers)
        self._limits = self.timeouts or self.clients.timeouts

    async def post(self, body: bytes) -> Answer:
        """Send `body` and give the whole answer.

        Raises:
            ModelError: the request failed, after the retries that might have healed it.
        """
        return await self.retry.run(lambda: self._whole(body))

    async def stream(self, body: bytes) -> "ByteStream":
        """Send `body` and give the answer as it arrives; the caller closes it.

        The first bytes have arrived when this returns: up to there a failure is retried, later it is not (R19).

        Raises:
            ModelError: the request failed, after the retries that might have healed it.
        """
        return await self.retry.run(lambda: self._begun(body))

    def refusal(self, content: bytes, *, status: int | None = None, headers: httpx.Headers | None = None) -> ModelError:
        """The error for an error body, of a response with `status` or (None) in the middle of a stream."""
        for secret in self.secrets:
            content = content.replace(secret.encode(), b"***")
        return refused(
            self.service,
            status,
            self.read_refusal(content),
            request_id=request_id(headers),
            retry_after=None if headers is None else retry_after(headers),
            cure=self.key_cure,
        )

    async def _whole(self, body: bytes) -> Answer:
        stream = await self._open(body)
        try:
            return Answer(stream.headers, await stream.read_all())
        except BrokenStreamError as error:
            text = f"the answer broke off ({error.provider_message})"
            raise ModelConnectionError(text, service=self.service, request_id=error.request_id) from error
        finally:
            await stream.aclose()

    async def _begun(self, body: bytes) -> "ByteStream":
        stream = await self._open(body)
        try:
            await stream.read_ahead()
        except BrokenStreamError as error:
            await stream.aclose()
            text = f"the stream broke off before its first byte ({error.provider_message})"
            raise ModelConnectionError(text, service=self.service, request_id=error.request_id) from error
        except BaseException:
            await stream.aclose()
            raise
        return stream

    async def _open(self, body: bytes) -> "ByteStream":
        limits = self._limits
        now = asyncio.get_running_loop().time()
        end = None if limits.total is None else now + limits.total
        logger.debug("%s: POST %s, %d bytes", self.service, self.url, len(body))
        try:
            async with asyncio.timeout_at(_earlier(now, limits.first_token, end)):
                response = await self.clients.post(
                    self._parsed_url, self._parsed_headers, body, connect_timeout=limits.connect
                )
        except httpx.TransportError as error:
            raise self._not_reached(error) from error
        except TimeoutError as error:
            text = _too_late("no answer", limits.first_token, limits.total, end)
            raise ModelTimeoutError(text, service=self.service) from error
        stream = ByteStream(self.service, response, limits, end)
        if 200 <= response.status_code < 300:
            return stream
        try:
            content = await stream.read_all(LONGEST_ERROR)
        except ModelError:
            content = b""  # the status says enough
        finally:
            await stream.aclose()
        raise self._refused(response, content)

    def _refused(self, response: httpx.Response, content: bytes) -> ModelError:
        if response.status_code < 400:
            return ProtocolError(
                f"{self.url} answers with a redirection to {response.headers.get('location')!r}",
                service=self.service,
                status=response.status_code,
            )
        return self.refusal(content, status=response.status_code, headers=response.headers)

    def _not_reached(self, error: httpx.TransportError) -> ModelError:
        reason = str(error) or type(error).__name__
        if isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout):
            return ModelTimeoutError(f"no answer in time ({reason})", service=self.service)
        if isinstance(error, httpx.UnsupportedProtocol):
            return ProtocolError(f"{self.url} cannot be asked ({reason})", service=self.service)
        if isinstance(error, httpx.ConnectTimeout | httpx.ConnectError | httpx.ProxyError):
            cure = f"Check that {self.url} is right and the service is running."
            return ModelConnectionError(f"not reached ({reason})", service=self.service, cure=cure)
        return ModelConnectionError(f"the connection was lost ({reason})", service=self.service)


class ByteStream:
    """An answer of a service as it arrives: `read()` until it gives `b""`, then (or earlier) `aclose()`."""

    __slots__ = ("_ahead", "_chunks", "_end", "_limits", "_read_before", "_response", "_service", "headers")

    def __init__(self, service: str, response: httpx.Response, limits: Timeouts, end: float | None) -> None:
        self.headers = response.headers
        self._service = service
        self._response = response
        self._limits = limits
        self._end = end
        self._ahead = b""
        self._read_before = False
        body = response.stream
        encoded = any(name.lower() == b"content-encoding" for name, _ in response.headers.raw)
        if isinstance(body, httpx.AsyncByteStream) and not encoded:
            # httpx's own iteration decodes and counts; a body that is not compressed needs neither.
            self._chunks = aiter(body)
        else:
            self._chunks = response.aiter_bytes()

    async def read(self, *, within: float | None = None) -> bytes:
        """The next bytes, `b""` at the end; `within` seconds instead of the limit between chunks.

        Raises:
            BrokenStreamError: the connection was lost.
            ModelTimeoutError: nothing came in time.
        """
        if self._ahead:
            ahead, self._ahead = self._ahead, b""
            return ahead
        limit = within or (self._limits.between_chunks if self._read_before else self._limits.first_token)
        self._read_before = True
        try:
            async with asyncio.timeout_at(_earlier(asyncio.get_running_loop().time(), limit, self._end)):
                return await self._next()
        except (TimeoutError, httpx.RequestError) as error:
            raise self._told(error, limit) from error

    async def read_ahead(self) -> None:
        """Wait for the first bytes and keep them for `read`."""
        self._ahead = await self.read()

    async def read_all(self, at_most: int | None = None) -> bytes:
        """All that is to come, within the limit for the first byte, or no more than about `at_most` bytes."""
        limit, pieces, size = self._limits.first_token, [self._ahead], 0
        try:
            async with asyncio.timeout_at(_earlier(asyncio.get_running_loop().time(), limit, self._end)):
                while (at_most is None or size < at_most) and (chunk := await self._next()):
                    pieces.append(chunk)
                    size += len(chunk)
        except (TimeoutError, httpx.RequestError) as error:
            raise self._told(error, limit) from error
        return b"".join(pieces)

    async def _next(self) -> bytes:
        async for chunk in self._chunks:
            if chunk:
                return chunk
        return b""

    def _told(self, error: Exception, limit: float | None) -> ModelError:
        known = request_id(self.headers)
        if isinstance(error, TimeoutError):
            text = _too_late("nothing more came", limit, self._limits.total, self._end)
            return ModelTimeoutError(text, service=self._service, request_id=known)
        if isinstance(error, httpx.ReadTimeout):
            return ModelTimeoutError("nothing more came in time", service=self._service, request_id=known)
        text = f"the answer broke off ({str(error) or type(error).__name__})"
        return BrokenStreamError(text, service=self._service, request_id=known)

    async def aclose(self) -> None:
        """Release the connection: to be used again where the answer was read to its end, closed otherwise (R20)."""
        chunks: object = self._chunks
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()
        if chunks is not self._response.stream:
            await self._response.aclose()


def request_id(headers: httpx.Headers | None) -> str | None:
    """The id under which the service knows the request, None where it says none."""
    if headers is None:
        return None
    for name in ("x-request-id", "request-id", "apim-request-id"):
        if name in headers:
            return headers[name]
    return None


def _earlier(now: float, limit: float | None, end: float | None) -> float | None:
    if limit is None:
        return end
    return now + limit if end is None else min(now + limit, end)


def _too_late(what: str, limit: float | None, total: float | None, end: float | None) -> str:
    if end is not None and asyncio.get_running_loop().time() >= end:
        return f"the answer was not whole within {total:g} s"
    return f"{what} within {limit:g} s"
