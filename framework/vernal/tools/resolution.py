"""Finding a tool by its name, for tools that do not come with the request."""

from collections.abc import Iterable
from typing import Any

from vernal.tools.callback import ToolCallback
from vernal.tools.collection import refuse_duplicates, tool_callbacks
from vernal.tools.customization import ToolCustomizer, customized


class ToolCallbackResolver:
    """Finds tools by name. Subclass it and define `resolve`."""

    def resolve(self, name: str) -> ToolCallback | None:
        """The tool called `name`; None where this resolver knows none (RES-01)."""
        raise NotImplementedError(f"{type(self).__qualname__} has no method 'resolve'")


class StaticToolCallbackResolver(ToolCallbackResolver):
    """Knows a fixed set of tools.

    Raises:
        DuplicateToolError: two of them have the same name (R29, against RES-02).
    """

    def __init__(self, callbacks: Iterable[ToolCallback] = ()) -> None:
        callbacks = tuple(callbacks)
        refuse_duplicates(callbacks)
        self._callbacks = {callback.definition.name: callback for callback in callbacks}

    def resolve(self, name: str) -> ToolCallback | None:
        """The tool called `name`, or None."""
        return self._callbacks.get(name)


class DelegatingToolCallbackResolver(ToolCallbackResolver):
    """Asks other resolvers in order; the first that knows the tool wins (RES-03). `customizers` change it."""

    def __init__(
        self, resolvers: Iterable[ToolCallbackResolver] = (), *, customizers: Iterable[ToolCustomizer] = ()
    ) -> None:
        self._resolvers = tuple(resolvers)
        self._customizers = tuple(customizers)
        for resolver in self._resolvers:
            if not isinstance(resolver, ToolCallbackResolver):
                raise TypeError(f"among the resolvers is {resolver!r}; only ToolCallbackResolver objects are wanted")

    def resolve(self, name: str) -> ToolCallback | None:
        """The first answer of a delegate, or None."""
        for resolver in self._resolvers:
            callback = resolver.resolve(name)
            if callback is not None:
                return next(iter(customized((callback,), self._customizers)), None)
        return None


class ProviderToolCallbackResolver(ToolCallbackResolver):
    """Knows the tools of sources that are read when a tool is first looked for (R25).

    A source is anything that `tool_callbacks` takes: a provider, an object with `@tool` methods, a function.
    """

    def __init__(self, sources: Iterable[Any] = ()) -> None:
        self._sources = tuple(sources)
        self._callbacks: dict[str, ToolCallback] | None = None

    def resolve(self, name: str) -> ToolCallback | None:
        """The tool called `name`, or None."""
        if self._callbacks is None:
            self._callbacks = {callback.definition.name: callback for callback in tool_callbacks(*self._sources)}
        return self._callbacks.get(name)
