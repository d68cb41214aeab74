"""The interface of everything that a model can call."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from vernal.runtime.faces import Face, TwoFaced
from vernal.tools.context import ToolContext
from vernal.tools.definition import DEFAULT_METADATA, ToolDefinition, ToolMetadata

if TYPE_CHECKING:
    from vernal.tools.parameters import InjectedParameter


class ToolCallback(TwoFaced, abstract=True):
    """A tool as the engine sees it: a definition for the model, and a call from JSON text to text.

    Implement `definition` and one of `call` and `acall`; the other follows. `call` is run in a worker thread, `acall`
    on the event loop. Errors that are raised become a `ToolExecutionException`.
    """

    __faces__: ClassVar = (Face("call", "acall"),)

    @property
    def definition(self) -> ToolDefinition:
        """What the model is told of this tool."""
        raise NotImplementedError(f"{type(self).__qualname__} has no property 'definition'")

    @property
    def metadata(self) -> ToolMetadata:
        """How the engine treats this tool; by default nothing special (TDU-10)."""
        return DEFAULT_METADATA

    @property
    def origin(self) -> str:
        """Where the tool comes from, as `module:qualified name`, for error texts and reports."""
        return f"{type(self).__module__}:{type(self).__qualname__}"

    @property
    def injected(self) -> "tuple[InjectedParameter, ...]":
        """The parameters that beans fill; by default none. What wraps a tool gives those of the tool."""
        return ()

    def with_beans(self, beans: Mapping[str, Callable[[], Any]]) -> Self:
        """The same tool, whose injected parameters receive what these functions give at each call, by their names."""
        return self

    def call(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
        """Run the tool with `tool_input`, the JSON text of its arguments; gives the text for the model.

        A `ToolResult` may be returned where there is more to say than a text.
        """
        raise NotImplementedError

    async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
        """Run the tool with `tool_input`, the JSON text of its arguments; gives the text for the model."""
        raise NotImplementedError

    def read_arguments(self, tool_input: str) -> Mapping[str, Any] | None:
        """The arguments in `tool_input` as JSON values, checked and with harmless forms repaired (R5): what
        interceptors judge. None where they are no object, and need not be.

        Raises:
            ToolArgumentsError: they do not fit; the message is for the model.
        """
        from vernal.tools.binding import read_by_schema  # with pydantic: not at import

        return read_by_schema(self.definition.name, tool_input, self.definition.input_schema)

    def blocking_work(
        self, tool_input: str, tool_context: ToolContext | None = None
    ) -> Callable[[], str | Awaitable[str]] | None:
        """The whole call as a function for a worker thread, where it is nothing else; None: it is `acall`'s affair.

        The function does what `acall` does, or gives an awaitable of what is left to do on the loop. Where all calls of
        a round are such work, the engine waits for their threads once, with no task for each.
        """
        return None


class ToolCallbackProvider:
    """A source of tools that are listed only when a request needs them (R25), such as a remote server.

    Subclass it and define `get_tool_callbacks`, plain or `async`.
    """

    def get_tool_callbacks(self) -> Sequence[ToolCallback] | Awaitable[Sequence[ToolCallback]]:
        """The tools, asked for once per request (CCL-08); a plain method is run in a worker thread."""
        raise NotImplementedError(f"{type(self).__qualname__} has no method 'get_tool_callbacks'")


class StaticToolCallbackProvider(ToolCallbackProvider):
    """A provider of a fixed list of tools."""

    def __init__(self, *callbacks: ToolCallback) -> None:
        self._callbacks = callbacks

    def get_tool_callbacks(self) -> tuple[ToolCallback, ...]:
        """The fixed list."""
        return self._callbacks
