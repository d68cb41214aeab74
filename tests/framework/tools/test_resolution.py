"""Finding tools by name (RES)."""

import pytest

from vernal.tools.callback import ToolCallback
from vernal.tools.collection import tool_callbacks
from vernal.tools.exceptions import DuplicateToolError
from vernal.tools.resolution import DelegatingToolCallbackResolver, StaticToolCallbackResolver, ToolCallbackResolver


def a() -> None: ...


def b() -> None: ...


def test_a_static_resolver_knows_its_tools() -> None:
    """RES-01, TAC-03: a known name gives the very callback, an unknown one None."""
    callbacks = tool_callbacks(a, b)
    resolver = StaticToolCallbackResolver(callbacks)
    assert resolver.resolve("b") is callbacks[1]
    assert resolver.resolve("c") is None
    assert StaticToolCallbackResolver([]).resolve("a") is None


def test_a_static_resolver_refuses_duplicates() -> None:
    """R29 (against RES-02): the later one does not silently win."""
    with pytest.raises(DuplicateToolError):
        StaticToolCallbackResolver([*tool_callbacks(a), *tool_callbacks(a)])


def test_a_delegating_resolver_asks_in_order() -> None:
    """RES-03: the first that knows the tool wins, and nobody is asked after it; an empty list is allowed."""
    asked: list[str] = []

    class Own(ToolCallbackResolver):
        def __init__(self, name: str, callback: ToolCallback | None) -> None:
            self.name, self.callback = name, callback

        def resolve(self, name: str) -> ToolCallback | None:
            asked.append(self.name)
            return self.callback

    (callback,) = tool_callbacks(a)
    resolver = DelegatingToolCallbackResolver([Own("1", None), Own("2", callback), Own("3", None)])
    assert resolver.resolve("a") is callback
    assert asked == ["1", "2"]
    assert DelegatingToolCallbackResolver([]).resolve("a") is None


def test_wrong_delegates_are_refused() -> None:
    """RES-04: with what was given and what is wanted."""
    with pytest.raises(TypeError, match="among the resolvers is None; only ToolCallbackResolver"):
        DelegatingToolCallbackResolver([None])  # type: ignore[list-item]  # what is tried
    with pytest.raises(TypeError, match="among the tool callbacks is None"):
        StaticToolCallbackResolver([None])  # type: ignore[list-item]  # what is tried
