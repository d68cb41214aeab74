"""Functions and methods as tools: where they run, what comes back, what becomes of their errors (FTC, MTC)."""

import asyncio
import contextvars
import functools
import pickle
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from vernal.tools.definition import ToolEffects, ToolMetadata
from vernal.tools.exceptions import ToolArgumentsError, ToolExecutionException, ToolFailure
from vernal.tools.function import FunctionToolCallback, MethodToolCallback

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable")


def plain(n: int) -> list[int]:
    return list(range(n))


async def later(n: int) -> list[int]:
    return list(range(n))


def generator(n: int) -> Iterator[int]:
    yield from range(n)


async def async_generator(n: int) -> AsyncIterator[int]:
    for i in range(n):
        yield i


def awaitable(n: int) -> Awaitable[list[int]]:
    return later(n)


def made_generator(n: int) -> AsyncIterator[int]:
    return async_generator(n)


class Tools:
    def method(self, n: int) -> list[int]:
        return list(range(n))

    async def async_method(self, n: int) -> list[int]:
        return list(range(n))

    @classmethod
    def class_method(cls, n: int) -> Iterator[int]:
        return iter(range(n))

    @staticmethod
    async def static_method(n: int) -> Any:
        return async_generator(n)

    async def __call__(self, n: int) -> list[int]:
        return list(range(n))


KINDS: list[Callable[..., Any]] = [
    plain,
    later,
    generator,
    async_generator,
    awaitable,
    made_generator,
    Tools().method,
    Tools().async_method,
    Tools.class_method,
    Tools.static_method,
    Tools(),
    functools.partial(later),
    functools.partial(Tools().method),
]


@pytest.mark.parametrize("function", KINDS)
def test_every_kind_of_function_gives_its_result_in_both_faces(function: Callable[..., Any]) -> None:
    """R15, R17: plain, async, generators and awaitables of every kind of callable are run to their end."""
    callback = FunctionToolCallback(function)
    assert callback.call('{"n": 3}') == "[0,1,2]"
    assert asyncio.run(callback.acall('{"n": 3}')) == "[0,1,2]"


def test_plain_functions_run_in_a_thread_and_async_ones_on_the_loop() -> None:
    """DESIGN: a blocking tool never blocks the loop; its generator and its conversion do not either."""
    threads: dict[str, int] = {}

    def blocking() -> Iterator[int]:
        threads["blocking"] = threading.get_ident()
        yield 1

    async def waiting() -> None:
        threads["waiting"] = threading.get_ident()

    async def main() -> int:
        await FunctionToolCallback(blocking).acall("{}")
        await FunctionToolCallback(waiting).acall("{}")
        return threading.get_ident()

    loop_thread = asyncio.run(main())
    assert threads["waiting"] == loop_thread != threads["blocking"]


def test_context_variables_reach_the_tool_and_do_not_leak() -> None:
    """R16: a tool sees the caller's context variables, and what a plain function sets stays its own."""

    def plain_tool() -> str:
        seen = VARIABLE.get()
        VARIABLE.set("changed")
        return seen

    async def main() -> list[str]:
        VARIABLE.set("outer")
        return [await FunctionToolCallback(plain_tool).acall("{}"), VARIABLE.get()]

    assert asyncio.run(main()) == ["outer", "outer"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_a_function_raises_is_wrapped(asynchronous: bool) -> None:
    """FTC-05, MTC-11, EXC-11: the message is the cause's, the cause is the original, the definition the tool's."""
    error = RuntimeError("test exception")

    def fails() -> None:
        raise error

    async def fails_later() -> None:
        raise error

    callback = FunctionToolCallback(fails_later if asynchronous else fails)
    with pytest.raises(ToolExecutionException, match=r"^test exception$") as caught:
        callback.call("{}")
    assert caught.value.__cause__ is error
    assert caught.value.tool_definition is callback.definition
    assert caught.value.partial_result is None


@pytest.mark.parametrize("kind", [generator, async_generator])
def test_what_a_generator_raises_is_wrapped(kind: Any) -> None:
    """R11, R15: a failure halfway is a failure of the tool."""
    with pytest.raises(ToolExecutionException) as caught:
        FunctionToolCallback(lambda: kind("x"), name="f").call("{}")
    assert isinstance(caught.value.__cause__, TypeError)


def test_a_tool_execution_exception_passes() -> None:
    """FTC-06: it is not wrapped a second time."""
    inner = ToolExecutionException(FunctionToolCallback(plain).definition, ValueError("inner"))

    def fails() -> None:
        raise inner

    with pytest.raises(ToolExecutionException) as caught:
        FunctionToolCallback(fails).call("{}")
    assert caught.value is inner


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_is_no_exception_propagates(kind: type[BaseException], asynchronous: bool) -> None:
    """R11: cancellation, interrupt and exit are never wrapped."""

    def fails() -> None:
        raise kind

    async def fails_later() -> None:
        raise kind

    with pytest.raises(kind):
        FunctionToolCallback(fails_later if asynchronous else fails).call("{}")


def test_a_cancelled_call_closes_its_async_generator() -> None:
    """R16, R20: what a tool has opened is closed when its call is cancelled."""
    closed: list[bool] = []

    async def endless() -> AsyncIterator[int]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            closed.append(True)

    async def main() -> None:
        task = asyncio.create_task(FunctionToolCallback(endless).acall("{}"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert closed == [True]


def test_options_say_more_than_the_function() -> None:
    """TDU-03, FTC-11: name, description and metadata that are given go before those of the function."""
    metadata = ToolMetadata(return_direct=True, effects=ToolEffects.READ)
    callback = FunctionToolCallback(plain, name="valid_tool-name.v1", description="Counts.", metadata=metadata)
    assert (callback.definition.name, callback.definition.description) == ("valid_tool-name.v1", "Counts.")
    assert callback.metadata is metadata
    assert FunctionToolCallback(plain).metadata == ToolMetadata()


def test_the_definition_is_made_once() -> None:
    """Definitions of the same function are the same object, so that providers encode them once."""
    tools = Tools()
    assert FunctionToolCallback(plain).definition is FunctionToolCallback(plain).definition
    assert FunctionToolCallback(tools.method).definition is FunctionToolCallback(Tools().method).definition


def test_a_method_tool_knows_its_object_and_its_origin() -> None:
    """R29, MTC-12: the origin names the class of the object; a static method needs no object."""
    tools = Tools()
    callback = MethodToolCallback(tools.method)
    assert callback.tool_object is tools
    assert callback.origin.endswith("test_function:Tools.method")
    assert MethodToolCallback(Tools.static_method).tool_object is None
    assert FunctionToolCallback(plain).origin.endswith("test_function:plain")
    assert repr(callback).startswith("MethodToolCallback('method', ")


def test_what_is_no_function_is_refused() -> None:
    """FTC-10: a function is wanted, and a name where it has none of its own."""
    with pytest.raises(TypeError, match="None was given as the function of a tool"):
        FunctionToolCallback(None)  # type: ignore[arg-type]  # what is tried
    with pytest.raises(ValueError, match="a lambda was given as a tool, and has no name"):
        FunctionToolCallback(lambda: None)


def test_bad_arguments_are_a_failure_of_the_call() -> None:
    """R5, MTC-06: they come as the cause, so that the exception processor can tell the model."""
    with pytest.raises(ToolExecutionException) as caught:
        FunctionToolCallback(plain).call('{"n": "x"}')
    assert isinstance(caught.value.__cause__, ToolArgumentsError)


def test_the_exceptions_can_be_sent_to_another_process() -> None:
    """Definition, cause and partial result survive pickling."""
    error = ToolExecutionException(FunctionToolCallback(Tools().method).definition, ToolFailure("no"))
    error.partial_result = [1]
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.partial_result, copy.tool_definition.name) == ("no", [1], "method")
    assert isinstance(copy.__cause__, ToolFailure)
