"""Work that is partly asynchronous, written once: a generator that yields what must be awaited.

The generator yields coroutine functions without parameters and is sent their results. `run_steps` runs them wherever a
blocking caller's work runs, `arun_steps` awaits them.
"""

from collections.abc import Callable, Coroutine, Generator
from typing import Any, TypeAlias, TypeVar

R = TypeVar("R")
Step: TypeAlias = Callable[[], Coroutine[Any, Any, Any]]
Steps: TypeAlias = Generator[Step, Any, R]


def run_steps(steps: Steps[R], run: Callable[[Step], Any]) -> R:
    """Drive the steps from blocking code; `run` does one of them."""
    try:
        step = next(steps)
        while True:
            try:
                result = run(step)
            except BaseException as error:  # noqa: BLE001 - the generator decides what becomes of it
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as stop:
        value: R = stop.value
        return value


async def arun_steps(steps: Steps[R], run: Callable[[Step], Coroutine[Any, Any, Any]]) -> R:
    """Drive the steps from a coroutine; `run` does one of them."""
    try:
        step = next(steps)
        while True:
            try:
                result = await run(step)
            except BaseException as error:  # noqa: BLE001 - the generator decides what becomes of it
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as stop:
        value: R = stop.value
        return value
