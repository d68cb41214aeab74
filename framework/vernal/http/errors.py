"""What a model request can end in, one tree for all providers.

    VernalError
    └── ModelError                     the request to a model failed
        ├── AuthenticationError        no key, or a key that is not accepted (401)
        ├── PermissionDeniedError      the key may not do this (403)
        ├── NotFoundError              no such model or address (404)
        ├── RateLimitError             too many requests or tokens for now (429); healed by waiting
        ├── QuotaExceededError         the account has no credit left (402, 429 insufficient_quota)
        ├── BadRequestError            the service refuses the request as it is (other 4xx)
        │   └── ContextLengthExceededError   prompt and answer do not fit into the model's context
        ├── ContentFilterError         prompt or answer was stopped by the service's filter
        ├── ServiceError               the service failed (5xx)
        │   └── OverloadedError        the service has no capacity for now (503, 529)
        ├── ModelTimeoutError          no answer, or no further piece of it, in time
        ├── ModelConnectionError       the service was not reached, or hung up before it answered
        ├── BrokenStreamError          a streamed answer broke off before its end
        └── ProtocolError              the answer is not what the protocol says

No error carries a key: what a service says is redacted before it gets here (R19, R28).
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from vernal.errors import VernalError
from vernal.values.mappings import EMPTY, frozen


class ModelError(VernalError):
    """A request to a model failed.

    `service` names the service, `provider_message` is what it said, `type` and `code` as it classified it; `status` is
    the HTTP status, None where there was no answer. `url` is the address that was asked, without user and query,
    `attempts` how often. `request_id` is what its support asks for. `retryable` says
    whether the same request may succeed later, `retry_after` in how many seconds where the service says so. `cure` is
    what to do about it. `details` is the whole error object of the service.
    """

    default_retryable: ClassVar[bool] = False
    default_cure: ClassVar[str | None] = None

    def __init__(
        self,
        provider_message: str,
        *,
        service: str = "the model service",
        status: int | None = None,
        type: str | None = None,  # noqa: A002  # the word of the services
        code: str | int | None = None,
        request_id: str | None = None,
        retryable: bool | None = None,
        retry_after: float | None = None,
        cure: str | None = None,
        details: Mapping[str, Any] = EMPTY,
    ) -> None:
        super().__init__(provider_message)
        self.provider_message = provider_message
        self.service = service
        self.status = status
        self.type = type
        self.code = code
        self.url: str | None = None
        self.attempts = 1
        self.request_id = request_id
        self.retryable = self.default_retryable if retryable is None else retryable
        self.retry_after = retry_after
        self.cure = self.default_cure if cure is None else cure
        self.details = frozen(details)

    def __str__(self) -> str:
        return f"{self.described.rstrip('.')}. {self.cure}" if self.cure else self.described

    @property
    def described(self) -> str:
        """What happened, without what to do about it."""
        facts = []
        if self.status is not None:
            facts.append(f"status {self.status}")
        if self.code is not None:
            facts.append(f"code {self.code}")
        if self.request_id:
            facts.append(f"request id {self.request_id}")
        if self.retry_after is not None:
            facts.append(f"to be retried in {self.retry_after:g} s")
        if self.attempts > 1:
            facts.append(f"{self.attempts} attempts")
        if self.url is not None:
            facts.append(f"at {self.url}")
        said = f"{self.service}: {self.provider_message}"
        return f"{said} ({', '.join(facts)})" if facts else said


class AuthenticationError(ModelError):
    """No API key was given, or it is not accepted."""

    default_cure = "Check the API key and the address that it is for."


class PermissionDeniedError(ModelError):
    """The key is valid, but may not use this model or address."""

    default_cure = "Check what the key, its project and its organization may use."


class NotFoundError(ModelError):
    """There is no such model or address."""

    default_cure = "Check the name of the model and the base URL."


class RateLimitError(ModelError):
    """Too many requests or tokens for now; waiting heals it."""

    default_cure = "Ask again later, or send fewer requests at a time."
    default_retryable = True


class QuotaExceededError(ModelError):
    """The account has no credit left; waiting does not heal it."""

    default_cure = "Check the plan and the billing of the account."


class BadRequestError(ModelError):
    """The service refuses the request as it is."""


class ContextLengthExceededError(BadRequestError):
    """Prompt and answer together do not fit into the model's context."""

    default_cure = "Send fewer or shorter messages (a memory window), lower max_tokens, or take a larger model."


class ContentFilterError(ModelError):
    """The prompt or the answer was stopped by a content filter of the service."""


class ServiceError(ModelError):
    """The service failed on its side."""

    default_cure = "Ask again later; the status page of the service may say more."
    default_retryable = True


class OverloadedError(ServiceError):
    """The service has no capacity for now."""


class ModelTimeoutError(ModelError):
    """There was no answer, or no further piece of it, within the time allowed."""

    default_cure = "Allow more time (timeouts), or take a faster model."


class ModelConnectionError(ModelError):
    """The service was not reached, or it hung up before it answered."""

    default_retryable = True


class BrokenStreamError(ModelError):
    """A streamed answer broke off before its end; what came before has been delivered (R20)."""


class ProtocolError(ModelError):
    """The answer is not what the protocol says it should be."""

    default_cure = "Check that the base URL is that of the API."
