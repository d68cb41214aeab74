"""Durations and sizes, as people write them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from vernal.context.settings import Duration, Environment, Settings, SettingsError, Size


class Limits(Settings, prefix="limits"):
    timeout: Duration = timedelta(seconds=1)
    size: Size = Size(1)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10s", 10),
        ("5m", 300),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("250ms", 0.25),
        ("2d", 172800),
        ("1.5s", 1.5),
        ("PT10S", 10),
        ("pt1h", 3600),
        ("P1D", 86400),
        ("01:00:00", 3600),
        ("7", 7),
        ("2.5", 2.5),
        (7, 7),
        (2.5, 2.5),
        (timedelta(minutes=1), 60),
    ],
)
def test_durations(text: object, seconds: float) -> None:
    """Units, ISO 8601 and plain numbers of seconds are understood."""
    bound = Environment.load({"limits": {"timeout": text}}, environ={}).bind(Limits)
    assert bound.timeout == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["soon", "10x", "s", "1h-2m", "10 s s"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    """Other text is an error that shows examples."""
    with pytest.raises(SettingsError, match='wanted a duration such as "10s"'):
        Environment.load(environ={"VERNAL_LIMITS__TIMEOUT": text}).bind(Limits)


@given(st.integers(0, 99), st.integers(0, 59), st.integers(0, 59), st.integers(0, 999))
def test_every_sum_of_units_is_a_duration(hours: int, minutes: int, seconds: int, milliseconds: int) -> None:
    """A duration in descending units is the sum of its parts."""
    expected = timedelta(hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds)
    text = f"{hours}h{minutes}m{seconds}s{milliseconds}ms"
    assert TypeAdapter(Duration).validate_python(text) == expected


@pytest.mark.parametrize(("text", "size"), [("10MB", 10_000_000), ("10MiB", 10_485_760), ("512", 512), (512, 512)])
def test_sizes(text: object, size: int) -> None:
    """Decimal and binary units and plain numbers of bytes are understood."""
    assert Environment.load({"limits": {"size": text}}, environ={}).bind(Limits).size == size


def test_what_is_no_size_is_refused() -> None:
    """Other text is an error that shows examples."""
    with pytest.raises(SettingsError, match='wanted a size such as "10MB"'):
        Environment.load(environ={"VERNAL_LIMITS__SIZE": "big"}).bind(Limits)
