"""Retries of one model request (R19)."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from vernal.http import AuthenticationError, ModelError, OverloadedError, RateLimitError, RetryPolicy
from vernal.http.retry import retry_after


def run(policy: RetryPolicy, *failures: ModelError) -> int:
    """How many attempts are made when they fail like this and then succeed."""
    attempts = 0

    async def attempt() -> int:
        nonlocal attempts
        attempts += 1
        if attempts <= len(failures):
            raise failures[attempts - 1]
        return attempts

    return asyncio.run(policy.run(attempt))


def test_what_heals_is_tried_again() -> None:
    """Overload and rate limits are waited out (R19)."""
    policy = RetryPolicy(max_attempts=3, initial_delay=0)
    assert run(policy, OverloadedError("busy"), RateLimitError("slow", retry_after=0)) == 3


def test_what_does_not_heal_is_raised_at_once() -> None:
    """A key that is not accepted is not sent again (R19)."""
    failure = AuthenticationError("no")
    with pytest.raises(AuthenticationError) as caught:
        run(RetryPolicy(initial_delay=0), failure)
    assert caught.value is failure


def test_the_last_error_is_raised_after_the_last_attempt() -> None:
    """After `max_attempts` the error itself is raised."""
    failures = [OverloadedError("1"), OverloadedError("2"), OverloadedError("3")]
    with pytest.raises(OverloadedError, match="2"):
        run(RetryPolicy(max_attempts=2, initial_delay=0), *failures)


@pytest.mark.parametrize(("attempt", "longest"), [(1, 0.5), (2, 1.0), (3, 2.0), (9, 8.0)])
def test_delays_double_with_jitter_up_to_a_limit(attempt: int, longest: float) -> None:
    """Each delay lies between half and all of the doubled one, and never above the limit."""
    policy = RetryPolicy(max_attempts=20)
    delays = {policy.delay(attempt, OverloadedError("busy")) for _ in range(50)}
    assert all(delay is not None and longest / 2 <= delay <= longest for delay in delays)
    assert len(delays) > 1


def test_what_the_service_asks_for_is_waited_for() -> None:
    """`Retry-After` takes the place of the own delay, and too long a wait is an error at once (R19)."""
    policy = RetryPolicy(max_retry_after=60)
    assert policy.delay(1, RateLimitError("slow", retry_after=7.0)) == 7.0
    assert policy.delay(1, RateLimitError("slow", retry_after=61.0)) is None


def test_retry_after_is_read_in_all_its_forms() -> None:
    """Milliseconds, seconds and dates are understood; nonsense is as good as nothing."""
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert retry_after({"retry-after": "1.5"}) == 1.5
    assert 28 <= (retry_after({"retry-after": later}) or 0) <= 30
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert [retry_after({"retry-after": text}) for text in ("", "soon", "-1", "nan", "inf")] == [None] * 5
    assert retry_after({}) is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"max_attempts": 0}, "max_attempts is 0"), ({"initial_delay": -1}, "initial_delay is -1")],
)
def test_a_policy_out_of_range_is_refused(wrong: dict[str, int], message: str) -> None:
    """Numbers out of range are named when the policy is made."""
    with pytest.raises(ValueError, match=message):
        RetryPolicy(**wrong)
