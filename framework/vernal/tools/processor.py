"""What becomes of a failed tool call: a text for the model, or an exception for the caller."""

from collections.abc import Awaitable, Iterable
from typing import Literal, NoReturn, get_args

from vernal.tools.exceptions import InvalidToolError, ToolArgumentsError, ToolExecutionException, ToolFailure

ErrorText = Literal["message", "type", "fixed"]


class ToolExecutionExceptionProcessor:
    """Decides what becomes of a failed tool call. Subclass it and define `process`, plain or `async`."""

    def process(self, exception: ToolExecutionException) -> str | Awaitable[str]:
        """The text for the model; or raise, to end the run with that exception."""
        raise NotImplementedError(f"{type(self).__qualname__} has no method 'process'")


class DefaultToolExecutionExceptionProcessor(ToolExecutionExceptionProcessor):
    """Raises what is listed, raises everything if asked to, and else tells the model (R11, EXC-10).

    `rethrow_exceptions`: exception types whose instances are raised as the tool raised them. `always_throw`: the
    `ToolExecutionException` is raised. `error_text` is what the model is told else: `"message"`, the cause's message;
    `"type"`, the tool's name and the kind of error; `"fixed"`, `fixed_text`. The message of a `ToolFailure` is told in
    each case. Arguments that do not fit are told the model always: they never end the run (R5).

    Raises:
        TypeError, ValueError: an option is none of those.
    """

    def __init__(
        self,
        *,
        always_throw: bool = False,
        rethrow_exceptions: Iterable[type[BaseException]] = (),
        error_text: ErrorText = "message",
        fixed_text: str = "The tool failed.",
    ) -> None:
        self.always_throw = always_throw
        self.rethrow_exceptions = tuple(rethrow_exceptions)
        self.error_text = error_text
        self.fixed_text = fixed_text
        for kind in self.rethrow_exceptions:
            if not (isinstance(kind, type) and issubclass(kind, BaseException)):
                raise TypeError(f"among rethrow_exceptions is {kind!r}; exception types are wanted, such as OSError")
        if error_text not in get_args(ErrorText):
            raise ValueError(f"error_text is {error_text!r}; 'message', 'type' or 'fixed' is wanted")
        if not fixed_text.strip():
            raise ValueError(f"fixed_text is {fixed_text!r}; a text that tells the model something is wanted")

    def process(self, exception: ToolExecutionException) -> str:
        """The text for the model.

        Raises:
            InvalidToolError: the tool cannot be called as it was declared, which is for the developer to know.
            BaseException: the cause, if its type is listed.
            ToolExecutionException: `exception` itself, with `always_throw`, or where its cause is no `Exception`.
        """
        cause = exception.__cause__ or exception
        if isinstance(cause, ToolArgumentsError):
            return _told(exception, cause, str(cause))
        if isinstance(cause, (InvalidToolError, *self.rethrow_exceptions)):
            _raise(cause)
        if self.always_throw or not isinstance(cause, Exception):
            raise exception
        if isinstance(cause, ToolFailure) or self.error_text == "message":
            return _told(exception, cause, str(cause))
        return _told(exception, cause, self.fixed_text if self.error_text == "fixed" else "")


def _told(exception: ToolExecutionException, cause: BaseException, text: str) -> str:
    name = exception.tool_definition.name
    return text if text.strip() else f"Exception occurred in tool: {name} ({type(cause).__name__})"


def _raise(cause: BaseException) -> NoReturn:
    raise cause from cause.__cause__  # as the tool raised it: the wrapper is not part of its story
