"""What the log is told of tool calls that fail: whatever the model is told, the developer finds the original (R11)."""

import logging
from types import TracebackType

from vernal.tools.exceptions import ToolArgumentsError
from vernal.tools.retry import ToolTimeout

logger = logging.getLogger("vernal.tools")


def log_failure(name: str, cause: BaseException) -> None:
    """Tell the log what went wrong in the tool `name`, where the caller does not get the exception."""
    if isinstance(cause, ToolArgumentsError):
        logger.info("tool %r was not called: the arguments do not fit", name)
    elif isinstance(cause, ToolTimeout):
        logger.warning("tool %r failed: %s", name, cause)
    else:
        trace = (type(cause), cause, _own_frames(cause.__traceback__))
        logger.warning("tool %r failed: %s", name, type(cause).__qualname__, exc_info=trace)


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the tool on: what leads to it is the engine, the same for every tool."""
    own = trace
    while own is not None and own.tb_frame.f_globals.get("__name__", "").startswith("vernal."):
        own = own.tb_next
    return own if own is not None else trace
