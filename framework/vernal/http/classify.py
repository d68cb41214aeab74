"""Which error of the tree a refusal of a service is."""

import re
from collections.abc import Mapping
from typing import Any

from vernal.http.errors import (
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextLengthExceededError,
    ModelError,
    ModelTimeoutError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    QuotaExceededError,
    RateLimitError,
    ServiceError,
)
from vernal.values.mappings import EMPTY
from vernal.values.records import dataclass

QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error"})
QUOTA_PHRASES = re.compile(r"credit balance is too low|insufficient balance", re.IGNORECASE)
KEY_CODES = frozenset({"invalid_api_key", "api_key_invalid"})
CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "data_inspection_failed"})
CONTEXT_PHRASES = re.compile(
    r"context (?:length|size|window)|maximum context|prompt is too long|input is too long|too many tokens"
    r"|input token count .* exceeds|exceeds? the (?:model's )?(?:max|available)[\w ]*(?:context|tokens)",
    re.IGNORECASE,
)
BY_NAME: Mapping[str, type[ModelError]] = {
    "overloaded_error": OverloadedError,
    "rate_limit_error": RateLimitError,
    "rate_limit_exceeded": RateLimitError,
    "authentication_error": AuthenticationError,
    "permission_error": PermissionDeniedError,
    "not_found_error": NotFoundError,
    "invalid_request_error": BadRequestError,
    "request_too_large": BadRequestError,
    "timeout_error": ModelTimeoutError,
}
"""What errors inside a stream are, which have no status."""
BY_STATUS: Mapping[int, type[ModelError]] = {
    401: AuthenticationError,
    402: QuotaExceededError,
    403: PermissionDeniedError,
    404: NotFoundError,
    408: ModelTimeoutError,
    429: RateLimitError,
    503: OverloadedError,
    504: ModelTimeoutError,
    529: OverloadedError,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What a service says when it refuses a request or fails: read from its error object by each provider.

    `reason` is a finer name for the case than type and code, where the service has one; it only classifies.
    """

    message: str
    type: str | None = None
    code: str | int | None = None
    reason: str | None = None
    details: Mapping[str, Any] = EMPTY
    retry_after: float | None = None


def error_class(status: int | None, refusal: Refusal) -> type[ModelError]:
    """The class of error for an HTTP `status` (None: an error inside a stream) and what the service said."""
    said = [str(name).casefold() for name in (refusal.code, refusal.type, refusal.reason) if name is not None]
    names = frozenset(said)
    if status is None:
        status = _status_in(refusal)
    if names & QUOTA_CODES or (status in (None, 400, 403) and QUOTA_PHRASES.search(refusal.message)):
        return QuotaExceededError
    if names & KEY_CODES:
        return AuthenticationError
    if names & FILTER_CODES:
        return ContentFilterError
    if status in (None, 400, 413, 422) and (names & CONTEXT_CODES or CONTEXT_PHRASES.search(refusal.message)):
        return ContextLengthExceededError
    if "overloaded_error" in names:
        return OverloadedError
    if status is None:
        return next((BY_NAME[name] for name in said if name in BY_NAME), ServiceError)
    return BY_STATUS.get(status) or (ServiceError if status >= 500 else BadRequestError)


def _status_in(refusal: Refusal) -> int | None:
    """The status that stands in an error inside a stream as its code: routers and local servers give it there."""
    code = refusal.code
    number = int(code) if isinstance(code, str) and code.isascii() and code.isdigit() else code
    return number if isinstance(number, int) and 400 <= number < 600 else None


def refused(
    service: str,
    status: int | None,
    refusal: Refusal,
    *,
    request_id: str | None = None,
    retry_after: float | None = None,
    cure: str | None = None,
) -> ModelError:
    """The error for what `service` said; `cure` replaces the class's own advice on a key that is not accepted."""
    kind = error_class(status, refusal)
    return kind(
        refusal.message,
        service=service,
        status=status,
        type=refusal.type,
        code=refusal.code,
        request_id=request_id,
        retryable=True if (_status_in(refusal) if status is None else status) in (408, 504) else None,
        retry_after=retry_after if refusal.retry_after is None else refusal.retry_after,
        cure=cure if kind is AuthenticationError else None,
        details=refusal.details,
    )
