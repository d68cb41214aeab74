"""Changing tools from outside: what is offered of the tools of a request, and how."""

import copy
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from vernal.errors import ConfigurationError
from vernal.tools.callback import ToolCallback
from vernal.tools.context import ToolContext
from vernal.tools.definition import ToolDefinition, ToolMetadata
from vernal.tools.parameters import InjectedParameter


class ToolCustomizer:
    """Changes the tools that are offered. Subclass it and define `customize`.

    As beans, all customizers run in their order on the tools of each request of the context's chat clients, and on each
    tool that its resolver finds.
    """

    def customize(self, callbacks: Sequence[ToolCallback]) -> Sequence[ToolCallback]:
        """The tools to offer in place of these, some changed, left out, or added."""
        raise NotImplementedError(f"{type(self).__qualname__} has no method 'customize'")


def customized(callbacks: Sequence[ToolCallback], customizers: Iterable[ToolCustomizer]) -> tuple[ToolCallback, ...]:
    """The tools after all customizers.

    Raises:
        TypeError: a customizer gives no list.
    """
    for customizer in customizers:
        given = customizer.customize(callbacks)
        if not isinstance(given, (tuple, list)):
            name = type(customizer).__qualname__
            raise TypeError(f"the tool customizer {name} gave {given!r}; a list of ToolCallback objects is wanted")
        callbacks = given
    return tuple(callbacks)


class AdjustedToolCallback(ToolCallback):
    """A tool with another description, or with other metadata: any fields of `ToolMetadata`, by keyword.

    Raises:
        ConfigurationError: the fields do not go together, such as several attempts of a tool that must not be repeated.
    """

    def __init__(self, callback: ToolCallback, *, description: str | None = None, **metadata: Any) -> None:
        self._callback = callback
        self._definition, self._metadata = callback.definition, callback.metadata
        if description is not None:
            self._definition = replace(self._definition, description=description)
        if metadata:
            try:
                self._metadata = replace(self._metadata, **metadata)
            except ValueError as error:
                raise ConfigurationError(f"the tool {callback.definition.name!r}: {error}") from None

    @property
    def definition(self) -> ToolDefinition:
        """What the model is told of this tool."""
        return self._definition

    @property
    def metadata(self) -> ToolMetadata:
        """How the engine treats this tool."""
        return self._metadata

    @property
    def origin(self) -> str:
        """Where the tool itself comes from."""
        return self._callback.origin

    @property
    def injected(self) -> tuple[InjectedParameter, ...]:
        """The parameters of the tool itself that beans fill."""
        return self._callback.injected

    def with_beans(self, beans: Mapping[str, Callable[[], Any]]) -> Self:
        """The same tool with these beans."""
        twin = copy.copy(self)
        twin._callback = self._callback.with_beans(beans)
        return twin

    def read_arguments(self, tool_input: str) -> Mapping[str, Any] | None:
        """As the tool itself does."""
        return self._callback.read_arguments(tool_input)

    async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
        """Run the tool."""
        return await self._callback.acall(tool_input, tool_context)

    def blocking_work(
        self, tool_input: str, tool_context: ToolContext | None = None
    ) -> Callable[[], str | Awaitable[str]] | None:
        """That of the tool itself."""
        return self._callback.blocking_work(tool_input, tool_context)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._callback!r})"
