"""A process that asks once: import, first question, answer.

    python bench/once.py floor|vernal [URL MODEL]

vernal is configured by its settings (`VERNAL_…`), as an application is.
"""

import sys

from scenario import QUESTION, SYSTEM
from tools import get_weather


def floor(url: str, model: str) -> str | None:
    """The answer of the loop written by hand."""
    import asyncio

    sys.modules["click"] = None  # type: ignore[assignment]  # httpx loads its command line where one is installed
    from floor import Floor

    return asyncio.run(Floor(url, model, [get_weather]).ask())


def vernal() -> str | None:
    """The answer of an auto-configured application."""
    from vernal import Application, ChatClient

    with Application() as context:
        request = context.get(ChatClient).prompt(QUESTION).system(SYSTEM).tools(get_weather)
        return request.call().content()


if __name__ == "__main__":
    print("ANSWER", floor(*sys.argv[2:]) if sys.argv[1] == "floor" else vernal())
