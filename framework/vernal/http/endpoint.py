"""One address of a model service: requests go out with retries and timeouts, answers come back as bytes or errors.

Imported when the first request is made: it loads httpx.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Any, TypeVar

from vernal.http.byte_stream import ByteStream, earlier
from vernal.http.classify import Refusal, refused
from vernal.http.clients import HttpClients
from vernal.http.errors import BrokenStreamError, ModelConnectionError, ModelError, ModelTimeoutError, ProtocolError
from vernal.http.headers import Headers, request_id
from vernal.http.lean import httpx
from vernal.http.refusals import read_refusal
from vernal.http.retry import DEFAULT_RETRY_POLICY, RetryPolicy, retry_after
from vernal.http.timeouts import Timeouts
from vernal.http.tokens import TokenProvider, fresh_token
from vernal.http.transport import Response
from vernal.http.wire import decode_json
from vernal.values.records import dataclass

R = TypeVar("R")

logger = logging.getLogger("vernal.http")
body_logger = logging.getLogger("vernal.http.bodies")

LONGEST_ERROR = 1 << 20
"""Bytes of an error body that are read at most."""
SHOWN = 200
"""Bytes that an error shows of an answer that cannot be read."""
MISSHAPEN = (AttributeError, KeyError, IndexError, OverflowError, RecursionError, TypeError, ValueError)
"""What reading raises where an answer has another shape than the protocol says."""
NOT_REACHED_CURE = "Check that the address is right and the service is running."
MASK = b"***"
DEFAULT_HEADERS: Mapping[str, str] = {
    "content-type": "application/json",
    "accept-encoding": "identity",  # answers are small and streamed; compression would hold pieces back
    "user-agent": "vernal",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer of a service: its headers and its body."""

    headers: Headers
    content: bytes


@dataclass(kw_only=True, eq=False)
class Endpoint:
    """An address of a model service that takes JSON by POST.

    - `service`: its name in errors; `secrets`: what is masked in all that it says, and in the log.
    - `headers`: of each request, beside and before `DEFAULT_HEADERS`; names in small letters.
    - `token_provider`: gives the bearer token of each request, where there is no lasting key; it is masked too.
    - `read_refusal`: reads the bodies of its errors; by default the shapes that most services share.
    - `key_cure`: the advice where the key is not accepted.
    - `settings`: the prefix of its settings, such as `"openai"`, for errors that name the one to change.
    - `timeouts`: those of `clients` by default; `retry`: how often a request is sent.

    The logger `vernal.http` tells of each request at DEBUG, `vernal.http.bodies` also what is sent and received, both
    with the secrets masked.
    """

    service: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    clients: HttpClients
    read_refusal: Callable[[bytes], Refusal] = read_refusal
    secrets: tuple[str, ...] = field(default=(), repr=False)
    token_provider: TokenProvider | None = None
    key_cure: str | None = None
    settings: str | None = None
    retry: RetryPolicy = DEFAULT_RETRY_POLICY
    timeouts: Timeouts | None = None

    def __post_init__(self) -> None:
        self._parsed_url = httpx.URL(self.url)
        self._shown_url = str(self._parsed_url.copy_with(userinfo=b"", query=None))
        self._parsed_headers = httpx.Headers({**DEFAULT_HEADERS, **self.headers})
        self.limits = self.timeouts or self.clients.timeouts
        self._addresses: dict[str, httpx.URL] = {}
        self._tokens: tuple[str, ...] = ()

    async def post(self, body: bytes, path: str = "") -> Answer:
        """Send `body`, to `path` under the address, and give the whole answer.

        Raises:
            ModelError: the request failed, after the retries that might have healed it.
        """
        return await self.retry.run(self._attempt, self._whole, body, path)

    async def stream(self, body: bytes, path: str = "") -> "ByteStream":
        """Send `body`, to `path` under the address, and give the answer as it arrives; the caller closes it.

        The first bytes have arrived when this returns: up to there a failure is retried, later it is not (R19).

        Raises:
            ModelError: the request failed, after the retries that might have healed it.
        """
        return await self.retry.run(self._attempt, self._begun, body, path)

    def refusal(self, content: bytes, *, status: int | None = None, headers: Headers | None = None) -> ModelError:
        """The error for an error body, of a response with `status` or (None) in the middle of a stream."""
        return refused(
            self.service,
            status,
            self.read_refusal(self._masked(content)),
            request_id=request_id(headers),
            retry_after=None if headers is None else retry_after(headers),
            cure=self.key_cure,
        )

    def read_object(self, content: bytes) -> dict[str, Any]:
        """The JSON object that `content`, an answer or an event of one, is.

        Raises:
            ProtocolError: it is none.
        """
        try:
            body = decode_json(content)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise self.misshapen(content)
        return body

    def misshapen(self, content: bytes) -> ProtocolError:
        """The error for an answer, or an event of one, that has another shape than the protocol says."""
        text = self._masked(content)[:SHOWN].decode("utf-8", "replace")
        what = f"is not one of its protocol, but begins with {text!r}" if text.strip() else "is empty"
        return ProtocolError(f"the answer {what}", service=self.service)

    def broken(self, text: str, headers: Headers | None = None) -> BrokenStreamError:
        """The error for a stream that ended too early; `text` says how that is known."""
        return BrokenStreamError(text, service=self.service, request_id=request_id(headers))

    def late(self, what: str, limit: str, end: float | None, headers: Headers | None = None) -> ModelTimeoutError:
        """The error for an answer that came not in time: not within the total, else not within `limit`."""
        if end is not None and asyncio.get_running_loop().time() >= end:
            what, limit = "the answer was not whole", "total"
        seconds = getattr(self.limits, limit)
        text = f"{what} in time" if seconds is None else f"{what} within {seconds:g} s"
        name = f"VERNAL_{self.settings.upper()}__{limit.upper()}_TIMEOUT" if self.settings else f"Timeouts({limit}=…)"
        cure = f"Allow more time ({name}), or take a faster model."
        return ModelTimeoutError(text, service=self.service, request_id=request_id(headers), cure=cure)

    async def _with_token(self, provider: TokenProvider) -> httpx.Headers:
        token = await fresh_token(provider)
        if token not in self._tokens:
            self._tokens = (*self._tokens[-1:], token)  # the one before may still be on its way
        headers = self._parsed_headers.copy()
        headers["authorization"] = f"Bearer {token}"
        return headers

    def _address(self, path: str) -> httpx.URL:
        if not path:
            return self._parsed_url
        url = self._addresses.get(path)
        if url is None:
            url = self._addresses[path] = httpx.URL(f"{self.url}{path}")
        return url

    def _tell(self, what: str, content: bytes) -> None:
        body_logger.debug("%s: %s %s", self.service, what, self._masked(content).decode("utf-8", "replace"))

    def _masked(self, content: bytes) -> bytes:
        for secret in (*self.secrets, *self._tokens):
            content = content.replace(secret.encode(), MASK)
        return content

    async def _attempt(self, ask: Callable[[bytes, str], Awaitable[R]], body: bytes, path: str) -> R:
        try:
            return await ask(body, path)
        except ModelError as error:
            error.url = f"{self._shown_url}{path}"
            raise

    async def _whole(self, body: bytes, path: str) -> Answer:
        stream = await self._open(body, path)
        try:
            return Answer(stream.headers, await stream.read_all())
        except BrokenStreamError as error:
            text = f"the answer broke off ({error.provider_message})"
            raise ModelConnectionError(text, service=self.service, request_id=error.request_id) from error
        finally:
            await stream.aclose()

    async def _begun(self, body: bytes, path: str) -> "ByteStream":
        stream = await self._open(body, path)
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

    async def _open(self, body: bytes, path: str) -> "ByteStream":
        limits = self.limits
        headers = self._parsed_headers if self.token_provider is None else await self._with_token(self.token_provider)
        now = asyncio.get_running_loop().time()
        end = None if limits.total is None else now + limits.total
        logger.debug("%s: POST %s%s, %d bytes", self.service, self._shown_url, path, len(body))
        tell = self._tell if body_logger.isEnabledFor(logging.DEBUG) else None
        if tell is not None:
            tell("sent", body)
        try:
            async with asyncio.timeout_at(earlier(now, limits.first_token, end)):
                response = await self.clients.post(self._address(path), headers, body, connect_timeout=limits.connect)
        except httpx.TransportError as error:
            raise self._not_reached(error) from error
        except TimeoutError as error:
            raise self.late("no answer", "first_token", end) from error
        stream = ByteStream(self, response, end, tell)
        if 200 <= response.status_code < 300:
            return stream
        try:
            content = await stream.read_all(LONGEST_ERROR)
        except ModelError:
            content = b""  # the status says enough
        finally:
            await stream.aclose()
        raise self._refused(response, content)

    def _refused(self, response: Response | httpx.Response, content: bytes) -> ModelError:
        if response.status_code < 400:
            return ProtocolError(
                f"it answers with a redirection to {response.headers.get('location')!r}",
                service=self.service,
                status=response.status_code,
            )
        return self.refusal(content, status=response.status_code, headers=response.headers)

    def _not_reached(self, error: httpx.TransportError) -> ModelError:
        reason = str(error) or type(error).__name__
        if isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout):
            return self.late(f"no answer ({reason})", "first_token", None)
        if isinstance(error, httpx.UnsupportedProtocol):
            return ProtocolError(f"the address cannot be asked ({reason})", service=self.service)
        if isinstance(error, httpx.ConnectTimeout | httpx.ConnectError | httpx.ProxyError):
            return ModelConnectionError(f"not reached ({reason})", service=self.service, cure=NOT_REACHED_CURE)
        return ModelConnectionError(f"the connection was lost ({reason})", service=self.service)
