"""Python functions and methods as tools."""

import copy
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any, Self

from vernal.runtime.threads import run_in_thread
from vernal.tools.callback import ToolCallback
from vernal.tools.context import ToolContext
from vernal.tools.conversion import ToolCallResultConverter
from vernal.tools.decorator import ToolMark, mark_of
from vernal.tools.definition import ToolDefinition, ToolMetadata
from vernal.tools.exceptions import InvalidToolError, ToolExecutionException
from vernal.tools.parameters import InjectedParameter, underlying, without_partialmethod
from vernal.tools.prepared import NO_MARK, PreparedTool, prepare, prepared


class FunctionToolCallback(ToolCallback):
    """A function, plain or asynchronous, as a tool.

    What is not given is taken from the function's `@tool` mark, its name and its docstring. The model fills the
    function's parameters. With `input_type` it fills one value of that type instead, which the function takes as its
    only argument. With `input_schema`, a JSON schema, that is what the model is shown and what arguments are checked
    against; they are passed by name as they are.

    A plain function runs in a worker thread, an asynchronous one on the event loop. What it raises becomes a
    `ToolExecutionException`, as do arguments that do not fit (`ToolArgumentsError`) and results that have no text.

    Raises:
        InvalidToolError: the function cannot be a tool; the text names the parameter and the cure.
        TypeError: it is no callable.
    """

    _beans: Mapping[str, Callable[[], Any]] | None = None

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        input_type: Any = None,
        input_schema: Mapping[str, Any] | None = None,
        result_converter: ToolCallResultConverter | None = None,
        metadata: ToolMetadata | None = None,
    ) -> None:
        if not callable(function):
            raise TypeError(f"{function!r} was given as the function of a tool; a callable is wanted")
        function = without_partialmethod(function)
        self._function = function
        self._tool: PreparedTool
        mark = mark_of(function) or NO_MARK
        given = (name, description, result_converter, metadata, input_type, input_schema)
        if all(option is None for option in given):
            self._tool = prepared(function, mark)
            return
        own = ToolMark(
            name or mark.name,
            description or mark.description,
            metadata or mark.metadata,
            result_converter or mark.result_converter,
            mark.names,
        )
        self._tool = prepare(function, own, input_type=input_type, input_schema=input_schema)

    @property
    def definition(self) -> ToolDefinition:
        """What the model is told of this tool."""
        return self._tool.definition

    @property
    def metadata(self) -> ToolMetadata:
        """How the engine treats this tool."""
        return self._tool.metadata

    @property
    def origin(self) -> str:
        """Where the function stands, as `module:qualified name`; for a method, with the class of its object."""
        function = underlying(self._function)
        if inspect.ismethod(self._function):
            owner = self._function.__self__
            cls = owner if isinstance(owner, type) else type(owner)
            return f"{cls.__module__}:{cls.__qualname__}.{function.__name__}"
        cls = type(function)
        return f"{getattr(function, '__module__', None) or cls.__module__}:" + getattr(
            function, "__qualname__", cls.__qualname__
        )

    @property
    def injected(self) -> tuple[InjectedParameter, ...]:
        """The parameters that beans fill: those marked `Annotated[T, Inject]`."""
        return self._tool.injected

    def with_beans(self, beans: Mapping[str, Callable[[], Any]]) -> Self:
        """The same tool with these beans; parameters that are not named are left to their defaults."""
        twin = copy.copy(self)
        twin._beans = beans
        return twin

    async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
        """Run the tool with `tool_input`, the JSON text of its arguments; gives the text for the model.

        Raises:
            ToolExecutionException: the arguments do not fit, the function failed, or its result has no text.
        """
        tool = self._tool
        try:
            if not tool.on_loop:
                text = await run_in_thread(self._work, tool_input, tool_context)
                return text if isinstance(text, str) else await text
            args, kwargs = tool.binder.bind(tool_input, tool_context)
            return await self._awaited(self._called(args, kwargs))
        except ToolExecutionException:
            raise
        except Exception as error:
            raise ToolExecutionException(tool.definition, error) from error

    def read_arguments(self, tool_input: str) -> Mapping[str, Any] | None:
        """The arguments as JSON values, checked as for a call."""
        value = self._tool.binder.read(tool_input)
        return value if isinstance(value, Mapping) else None

    def blocking_work(
        self, tool_input: str, tool_context: ToolContext | None = None
    ) -> Callable[[], str | Awaitable[str]] | None:
        """The whole call, where the function blocks and no subclass has a call of its own."""
        if self._tool.on_loop or type(self).acall is not FunctionToolCallback.acall:
            return None
        return partial(self._work, tool_input, tool_context)

    def _work(self, tool_input: str, tool_context: ToolContext | None) -> str | Awaitable[str]:
        """Bind, call and convert, all in the worker thread; what must be awaited is left to the loop."""
        args, kwargs = self._tool.binder.bind(tool_input, tool_context)
        result = self._called(args, kwargs)
        if isinstance(result, str):  # as most give
            return self._converted(result)
        if inspect.isawaitable(result) or isinstance(result, AsyncIterator):
            return self._awaited(result)
        return self._converted(list(result) if isinstance(result, Iterator) else result)

    async def _awaited(self, result: Any) -> str:
        return self._converted(await _awaited(result))

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not self._tool.injected:
            return self._function(*args, **kwargs)
        if self._beans is None:
            self._refuse_without_beans()
        beans = {name: give() for name, give in (self._beans or {}).items()}
        return self._function(*args, **kwargs, **beans)

    def _refuse_without_beans(self) -> None:
        for parameter in self._tool.injected:
            if not parameter.has_default:
                raise InvalidToolError(
                    f"the parameter {parameter.name!r} of tool {self.definition.name!r} ({self.origin}) is marked "
                    "Inject, and no application context fills it; take the ChatClient from the context, or make the "
                    "tool with tool_callbacks(…, customizers=context.get_all(ToolCustomizer))"
                )

    def _converted(self, result: Any) -> str:
        converter = self._tool.converter
        try:
            text = converter.convert(result, self._tool.returns)
            if not isinstance(text, str):
                raise TypeError(f"{type(converter).__qualname__}.convert gave {text!r}; a str is wanted")
        except Exception as error:
            failure = ToolExecutionException(self._tool.definition, error)
            failure.has_run = True
            raise failure from error
        return text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.definition.name!r}, {self.origin})"


class MethodToolCallback(FunctionToolCallback):
    """A method of an object as a tool: `MethodToolCallback(weather.get_weather)`.

    Options, behaviour and errors are those of `FunctionToolCallback`.
    """

    @classmethod
    def of_mark(cls, method: Callable[..., Any], mark: ToolMark) -> Self:
        """The tool for a method whose mark is known: an overriding method has that of the overridden one."""
        callback = cls.__new__(cls)
        callback._function = without_partialmethod(method)
        callback._tool = prepared(callback._function, mark)
        return callback

    @property
    def tool_object(self) -> Any:
        """The object whose method it is; None for a static method."""
        return getattr(self._function, "__self__", None)


async def _awaited(result: Any) -> Any:
    while inspect.isawaitable(result):
        result = await result
    if isinstance(result, AsyncIterator):
        if not hasattr(result, "aclose"):
            return [item async for item in result]
        async with aclosing(result) as items:  # type: ignore[type-var]  # it has been asked for aclose
            return [item async for item in items]
    return list(result) if isinstance(result, Iterator) else result
