"""The errors of model requests: their classes, their texts, what heals."""

import pickle

import pytest

from vernal import VernalError
from vernal.http import (
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
    Refusal,
    ServiceError,
)
from vernal.http.classify import refused


@pytest.mark.parametrize(
    ("status", "refusal", "kind", "retryable"),
    [
        (400, Refusal(message="bad"), BadRequestError, False),
        (401, Refusal(message="bad"), AuthenticationError, False),
        (402, Refusal(message="pay"), QuotaExceededError, False),
        (403, Refusal(message="no"), PermissionDeniedError, False),
        (404, Refusal(message="what"), NotFoundError, False),
        (408, Refusal(message="late"), ModelTimeoutError, True),
        (409, Refusal(message="conflict"), BadRequestError, False),
        (429, Refusal(message="slow"), RateLimitError, True),
        (429, Refusal(message="pay", code="insufficient_quota"), QuotaExceededError, False),
        (500, Refusal(message="oops"), ServiceError, True),
        (503, Refusal(message="busy"), OverloadedError, True),
        (504, Refusal(message="late"), ModelTimeoutError, True),
        (529, Refusal(message="busy"), OverloadedError, True),
        (400, Refusal(message="x", code="context_length_exceeded"), ContextLengthExceededError, False),
        (400, Refusal(message="maximum context length is 4096"), ContextLengthExceededError, False),
        (413, Refusal(message="prompt is too long: 9 tokens"), ContextLengthExceededError, False),
        (400, Refusal(message="x", code="content_filter"), ContentFilterError, False),
        (None, Refusal(message="busy", type="overloaded_error"), OverloadedError, True),
        (None, Refusal(message="oops"), ServiceError, True),
        (None, Refusal(message="bad", type="BadRequestError", code=400), BadRequestError, False),
        (None, Refusal(message="slow", code="429"), RateLimitError, True),
        (None, Refusal(message="pay", code=402), QuotaExceededError, False),
        (None, Refusal(message="late", code=504), ModelTimeoutError, True),
        (None, Refusal(message="slow", type="rate_limit_error", code="server_error"), RateLimitError, True),
        (None, Refusal(message="oops", code=1500), ServiceError, True),
    ],
)
def test_a_refusal_has_its_class(status: int | None, refusal: Refusal, kind: type[ModelError], retryable: bool) -> None:
    """Status and code decide the class, and the class whether waiting heals (R19)."""
    error = refused("openai", status, refusal)
    assert type(error) is kind
    assert error.retryable is retryable
    assert isinstance(error, VernalError)


def test_the_text_says_who_said_what_and_what_to_do() -> None:
    """An error names the service, its message, status, code and request id, and the cure (R19)."""
    error = refused(
        "openai", 401, Refusal(message="Bad key.", code="invalid_api_key"), request_id="req_1", cure="Set KEY."
    )
    assert str(error) == "openai: Bad key. (status 401, code invalid_api_key, request id req_1). Set KEY."
    assert str(ModelError("gone", service="x")) == "x: gone"


def test_errors_survive_pickling() -> None:
    """An error that crosses processes keeps all that it says."""
    error = RateLimitError("slow", service="openai", status=429, retry_after=2.0, details={"a": 1})
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.retry_after, copy.details) == (RateLimitError, str(error), 2.0, {"a": 1})
