"""Trying a failed tool call again, where the tool has declared that this does no harm."""

import asyncio
import logging
import random

from vernal.tools.callback import ToolCallback
from vernal.tools.exceptions import ToolArgumentsError, ToolExecutionException, ToolFailure

_log = logging.getLogger("vernal.tools")

FIRST_DELAY = 0.1
"""Seconds before the second attempt, doubled before each further one."""
LONGEST_DELAY = 2.0


class ToolTimeout(Exception):
    """A tool did not finish in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The tool did not finish within {seconds:g} seconds; whether it took effect is unknown.")


def may_heal(error: Exception) -> bool:
    """Whether the same call may succeed later: not where the arguments are wrong or the tool has said why it cannot."""
    if not isinstance(error, ToolExecutionException):
        return not isinstance(error, (ToolArgumentsError, ToolFailure))
    return not error.has_run and not isinstance(error.__cause__, (ToolArgumentsError, ToolFailure))


async def wait_after(attempt: int, callback: ToolCallback, error: Exception) -> None:
    """Let some time pass after attempt number `attempt` (from 1) failed with `error`."""
    name, attempts = callback.definition.name, callback.metadata.max_attempts
    delay = min(FIRST_DELAY * 2.0 ** (attempt - 1), LONGEST_DELAY) * random.uniform(0.5, 1.0)
    _log.warning("attempt %d of %d of tool %s failed, the next in %.2f s: %s", attempt, attempts, name, delay, error)
    await asyncio.sleep(delay)
