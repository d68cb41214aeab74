"""The tools that the model calls: plain functions, as a user writes them."""

import time
from collections.abc import Callable

Tool = Callable[..., str]

CALLED_AT: list[float] = []
"""The CPU time of the process, in seconds, at each call."""


def get_weather(city: str) -> str:
    """The present weather of a city.

    Args:
        city: Name of the city, such as "Delft".
    """
    CALLED_AT.append(time.process_time())
    return f"18 °C, cloudy, light wind in {city}"


def many_tools(count: int) -> list[Tool]:
    """`get_weather` and further tools, `count` in all."""
    return [get_weather, *(_report(number) for number in range(1, count))]


def _report(number: int) -> Tool:
    def report(city: str, days: int = 1, detailed: bool = False) -> str:
        return f"report {number} of {city}, {days} days, {detailed}"

    report.__name__ = report.__qualname__ = f"get_report_{number:03d}"
    report.__doc__ = f"""Report number {number} of a city.

    Args:
        city: Name of the city.
        days: How many days it covers.
        detailed: Whether it goes into detail.
    """
    return report
