"""What becomes of a failed tool call (R11, EXC)."""

import asyncio
from typing import Any

import pytest

from vernal.tools.definition import ToolDefinition
from vernal.tools.exceptions import ToolArgumentsError, ToolExecutionException, ToolFailure
from vernal.tools.processor import DefaultToolExecutionExceptionProcessor

DEFINITION = ToolDefinition("toolName", "a tool", {"type": "object"})


def process(cause: BaseException, **options: Any) -> str:
    return DefaultToolExecutionExceptionProcessor(**options).process(ToolExecutionException(DEFINITION, cause))


def test_the_message_is_told_by_default() -> None:
    """EXC-01, EXC-07, TAC-05: that of the cause, also where another type is to be rethrown."""
    assert process(RuntimeError("Inner exception")) == "Inner exception"
    assert process(RuntimeError("Inner exception"), rethrow_exceptions=[OSError]) == "Inner exception"


@pytest.mark.parametrize("message", ["", " ", "\n"])
def test_an_empty_message_never_becomes_an_empty_result(message: str) -> None:
    """R11, EXC-02, EXC-03: tool and kind are told instead."""
    for cause in (RuntimeError(message), ToolFailure(message)):
        assert process(cause) == f"Exception occurred in tool: toolName ({type(cause).__name__})"


def test_always_throw_raises_the_exception_itself() -> None:
    """EXC-04, EXC-11, TAC-06: with message, cause and definition."""
    exception = ToolExecutionException(DEFINITION, RuntimeError("x"))
    with pytest.raises(ToolExecutionException) as caught:
        DefaultToolExecutionExceptionProcessor(always_throw=True).process(exception)
    assert caught.value is exception
    assert (str(exception), exception.tool_definition) == ("x", DEFINITION)


@pytest.mark.parametrize("listed", [OSError, ConnectionError])
def test_listed_exceptions_are_raised_as_the_tool_raised_them(listed: type[BaseException]) -> None:
    """EXC-05, EXC-06, EXC-10: the very cause, subclasses too, and before always-throw; its own cause stays."""
    origin = ValueError("origin")
    cause = ConnectionError("down")
    cause.__cause__ = origin
    with pytest.raises(ConnectionError) as caught:
        process(cause, rethrow_exceptions=[listed], always_throw=True)
    assert caught.value is cause
    assert cause.__cause__ is origin


def test_what_is_no_exception_is_never_told() -> None:
    """R11, EXC-08, EXC-09: Python's hard errors are those that are no `Exception`."""
    with pytest.raises(ToolExecutionException):
        process(KeyboardInterrupt("x"))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"error_text": "message"}, "secret path"),
        ({"error_text": "type"}, "Exception occurred in tool: toolName (OSError)"),
        ({"error_text": "fixed"}, "The tool failed."),
        ({"error_text": "fixed", "fixed_text": "Try later."}, "Try later."),
    ],
)
def test_the_text_policy_is_one_setting(options: dict[str, Any], told: str) -> None:
    """R11: full message, type only, or a fixed sentence; what is meant for the model is told under each."""
    assert process(OSError("secret path"), **options) == told
    assert process(ToolFailure("No such order."), **options) == "No such order."
    assert process(ToolArgumentsError("- city: missing"), **options) == "- city: missing"


def test_arguments_that_do_not_fit_never_end_the_run() -> None:
    """R5 before R11: also with always-throw, and whatever is listed; a failure that a tool declares may end it."""
    options: dict[str, Any] = {"always_throw": True, "rethrow_exceptions": [Exception]}
    assert process(ToolArgumentsError("- city: missing"), **options) == "- city: missing"
    with pytest.raises(ToolFailure):
        process(ToolFailure("no"), **options)


@pytest.mark.parametrize(
    "options",
    [
        {"error_text": "all"},
        {"fixed_text": " "},
        {"rethrow_exceptions": ["OSError"]},
        {"rethrow_exceptions": [OSError("x")]},
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    """Each names what was given and what is wanted."""
    with pytest.raises((TypeError, ValueError), match="wanted"):
        DefaultToolExecutionExceptionProcessor(**options)


def test_a_processor_of_ones_own_may_be_asynchronous() -> None:
    """The base declares `str | Awaitable[str]`, so both kinds of subclass are typed."""
    from vernal.tools.processor import ToolExecutionExceptionProcessor

    class Later(ToolExecutionExceptionProcessor):
        async def process(self, exception: ToolExecutionException) -> str:
            return f"later: {exception}"

    assert asyncio.run(Later().process(ToolExecutionException(DEFINITION, OSError("x")))) == "later: x"
    with pytest.raises(NotImplementedError, match="has no method 'process'"):
        ToolExecutionExceptionProcessor().process(ToolExecutionException(DEFINITION, OSError("x")))
