"""HTTP for model services: clients, timeouts, retries, streamed answers, errors. Shared by all providers."""

from typing import TYPE_CHECKING, Any

from vernal.http.clients import HttpClients
from vernal.http.errors import (
    AuthenticationError,
    BadRequestError,
    BrokenStreamError,
    ContentFilterError,
    ContextLengthExceededError,
    ModelConnectionError,
    ModelError,
    ModelTimeoutError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    ProtocolError,
    QuotaExceededError,
    RateLimitError,
    ServiceError,
)
from vernal.http.retry import DEFAULT_RETRY_POLICY, RetryPolicy
from vernal.http.sse import NdjsonReader, ServerSentEvent, SseReader
from vernal.http.timeouts import DEFAULT_TIMEOUTS, Timeouts
from vernal.http.tokens import TokenProvider

if TYPE_CHECKING:
    from vernal.http.byte_stream import ByteStream
    from vernal.http.classify import Refusal
    from vernal.http.dialects import map_subschemas, subschemas, told, with_any_of
    from vernal.http.endpoint import MISSHAPEN, Answer, Endpoint
    from vernal.http.headers import read_rate_limit, request_id
    from vernal.http.members import members_of, token_count, unmapped, without_empty
    from vernal.http.refusals import read_refusal
    from vernal.http.wire import WireCache, decode_json, decode_object, encode_json, fitting_id

__all__ = [
    "DEFAULT_RETRY_POLICY",
    "DEFAULT_TIMEOUTS",
    "MISSHAPEN",
    "Answer",
    "AuthenticationError",
    "BadRequestError",
    "BrokenStreamError",
    "ByteStream",
    "ContentFilterError",
    "ContextLengthExceededError",
    "Endpoint",
    "HttpClients",
    "ModelConnectionError",
    "ModelError",
    "ModelTimeoutError",
    "NdjsonReader",
    "NotFoundError",
    "OverloadedError",
    "PermissionDeniedError",
    "ProtocolError",
    "QuotaExceededError",
    "RateLimitError",
    "Refusal",
    "RetryPolicy",
    "ServerSentEvent",
    "ServiceError",
    "SseReader",
    "Timeouts",
    "TokenProvider",
    "WireCache",
    "decode_json",
    "decode_object",
    "encode_json",
    "fitting_id",
    "map_subschemas",
    "members_of",
    "read_rate_limit",
    "read_refusal",
    "request_id",
    "subschemas",
    "token_count",
    "told",
    "unmapped",
    "with_any_of",
    "without_empty",
]

_LATER = {
    "MISSHAPEN": "endpoint",
    "Answer": "endpoint",
    "ByteStream": "byte_stream",
    "Endpoint": "endpoint",
    "Refusal": "classify",
    "WireCache": "wire",
    "decode_json": "wire",
    "decode_object": "wire",
    "fitting_id": "wire",
    "encode_json": "wire",
    "map_subschemas": "dialects",
    "members_of": "members",
    "read_rate_limit": "headers",
    "read_refusal": "refusals",
    "request_id": "headers",
    "subschemas": "dialects",
    "token_count": "members",
    "told": "dialects",
    "unmapped": "members",
    "with_any_of": "dialects",
    "without_empty": "members",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What loads httpx or pydantic is imported when it is first asked for."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"vernal.http.{_LATER[name]}"), name)
