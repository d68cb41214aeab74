"""Retries of one model request; a tool is never run again because of one (R19)."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import ParamSpec, TypeVar

from vernal.http.errors import ModelError
from vernal.values.records import dataclass

P = ParamSpec("P")
R = TypeVar("R")

logger = logging.getLogger("vernal.http")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and after which delay a model request is sent again.

    `max_attempts` counts the first one. Delays double from `initial_delay` up to `max_delay` seconds, each shortened
    at random by up to a half so that callers do not come back together. What the service says (`Retry-After`) is
    waited for instead, unless it is more than `max_retry_after` seconds: then the error is raised at once. Only errors
    that are `retryable` are retried, and a stream never after its first byte was delivered.

    Raises:
        ValueError: a number is out of range.
    """

    max_attempts: int = 3
    initial_delay: float = 0.5
    max_delay: float = 8.0
    max_retry_after: float = 60.0

    def __post_init__(self) -> None:
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts is {self.max_attempts!r}; at least 1 is wanted (1: no retries)")
        for name in ("initial_delay", "max_delay", "max_retry_after"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is {getattr(self, name)!r}; seconds of at least 0 are wanted")

    def delay(self, attempt: int, error: ModelError) -> float | None:
        """Seconds to wait after attempt number `attempt` (from 1) failed with `error`; None: do not try again."""
        if attempt >= self.max_attempts or not error.retryable:
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.max_retry_after else None
        longest = min(self.initial_delay * 2.0 ** (attempt - 1), self.max_delay)
        return longest * random.uniform(0.5, 1.0)  # spreads callers, protects nothing

    async def run(self, attempt: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """The result of `attempt`, tried again as this policy says."""
        number = 1
        while True:
            try:
                return await attempt(*args, **kwargs)
            except ModelError as error:
                delay = self.delay(number, error)
                if delay is None:
                    error.attempts = number
                    raise
                logger.warning(
                    "attempt %d of %d failed, the next in %.2f s: %s", number, self.max_attempts, delay, error.described
                )
            await asyncio.sleep(delay)
            number += 1


DEFAULT_RETRY_POLICY = RetryPolicy()


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a response asks to wait (`retry-after-ms`, or `retry-after` in seconds or as a date)."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if not value:
        return None
    seconds = _number(value)
    return _seconds_until(value) if seconds is None else seconds


def _number(text: str | None) -> float | None:
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _seconds_until(date: str) -> float | None:
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
