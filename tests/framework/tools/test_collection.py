"""From what users give as tools to tool callbacks (MTP, CCL-06 to CCL-08, R25, R29)."""

import asyncio
import gc
import weakref
from collections.abc import Sequence
from typing import Any

import pytest

from vernal.tools.callback import StaticToolCallbackProvider, ToolCallback, ToolCallbackProvider
from vernal.tools.collection import ask_providers, expand_tools, refuse_duplicates, tool_callbacks
from vernal.tools.context import ToolContext
from vernal.tools.decorator import tool
from vernal.tools.definition import ToolDefinition
from vernal.tools.exceptions import DuplicateToolError, InvalidToolError
from vernal.tools.function import FunctionToolCallback


class Remote(ToolCallback):
    def __init__(self, name: str) -> None:
        self._definition = ToolDefinition(name, "remote", {"type": "object"})

    @property
    def definition(self) -> ToolDefinition:
        return self._definition

    async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
        return tool_input


class Provider(ToolCallbackProvider):
    def __init__(self, *names: str) -> None:
        self.names, self.asked = names, 0

    def get_tool_callbacks(self) -> Sequence[ToolCallback]:
        self.asked += 1
        return [Remote(name) for name in self.names]


class AsyncProvider(Provider):
    async def get_tool_callbacks(self) -> Sequence[ToolCallback]:  # type: ignore[override]  # of an async twin
        await asyncio.sleep(0)
        return Provider.get_tool_callbacks(self)


class Weather:
    @tool
    def get_weather(self, city: str) -> str:
        """Weather."""
        return city


class OtherWeather:
    @tool
    def get_weather(self) -> None: ...


@tool
def now() -> str:
    return "now"


def later(days: int) -> int:
    return days


def names(callbacks: Sequence[ToolCallback]) -> list[str]:
    return [callback.definition.name for callback in callbacks]


def test_everything_that_holds_tools_is_taken_in_order() -> None:
    """MTP-01, R24, CCL-06: objects, functions, callbacks, providers, and lists of these, however deep."""
    given: list[Any] = [Weather(), now, [later, (Remote("r"), [Provider("p", "q")])], AsyncProvider("s")]
    assert names(tool_callbacks(*given)) == ["get_weather", "now", "later", "r", "p", "q", "s"]
    assert tool_callbacks() == ()


def test_providers_are_kept_apart_and_not_asked() -> None:
    """R25, CCL-06, CCL-07, CCL-08: objects are expanded at once, providers when a request needs them."""
    first, second = Provider("p"), AsyncProvider("q")
    callbacks, providers = expand_tools([first, Weather(), [second]])
    assert names(callbacks) == ["get_weather"]
    assert providers == [first, second]
    assert (first.asked, second.asked) == (0, 0)
    assert names(asyncio.run(ask_providers(providers))) == ["p", "q"]
    assert (first.asked, second.asked) == (1, 1)


def test_a_static_provider_works_on_any_loop() -> None:
    """A fixed list needs no waiting, so it can be expanded inside a running loop too."""

    async def main() -> tuple[ToolCallback, ...]:
        return tool_callbacks(StaticToolCallbackProvider(Remote("a")))

    assert names(asyncio.run(main())) == ["a"]


def test_a_failing_provider_is_named() -> None:
    """The error is the provider's own, with a note that says whose it is; a wrong answer is refused."""

    class Broken(ToolCallbackProvider):
        def get_tool_callbacks(self) -> Sequence[ToolCallback]:
            raise ConnectionError("down")

    class Wrong(ToolCallbackProvider):
        def get_tool_callbacks(self) -> Sequence[ToolCallback]:
            return [now]  # type: ignore[list-item]  # what is tried

    with pytest.raises(ConnectionError) as caught:
        tool_callbacks(Broken())
    assert "Broken" in caught.value.__notes__[0]
    with pytest.raises(InvalidToolError, match=r"Wrong gave \[<function now.*a list of ToolCallback objects"):
        tool_callbacks(Wrong())


@pytest.mark.parametrize("given", [object(), 3, Weather.get_weather, Weather, Provider])
def test_an_object_without_tools_is_refused(given: Any) -> None:
    """MTP-02, CCL-07: also a class in the place of its object, and a method without its object."""
    with pytest.raises(InvalidToolError, match=r"No @tool methods found in|give an object of it|without its object"):
        tool_callbacks(given)


@pytest.mark.parametrize("given", [None, "get_weather", b"x", {"a": now}])
def test_what_never_holds_tools_is_refused(given: Any) -> None:
    """MTP-12, CCL-02: with what is wanted; in a list too."""
    for objects in ((given,), ([now, given],)):
        with pytest.raises(TypeError, match="was given as tools; an object with @tool methods"):
            tool_callbacks(*objects)


def test_duplicate_names_are_refused_with_both_origins() -> None:
    """MTP-05, R29, TDU-08, OPT-11: wherever they come from."""
    text = r"Multiple tools with the same name \(get_weather\) found in sources: .*:Weather.get_weather, .*"
    with pytest.raises(DuplicateToolError, match=text + ":OtherWeather.get_weather") as caught:
        tool_callbacks(Weather(), OtherWeather())
    assert caught.value.name == "get_weather"
    with pytest.raises(DuplicateToolError, match=text + ":Remote"):
        tool_callbacks(Weather(), Provider("get_weather"))
    with pytest.raises(ValueError, match=text):
        refuse_duplicates(tool_callbacks(Weather()) * 2)
    with pytest.raises(TypeError, match="only ToolCallback objects"):
        refuse_duplicates([now])  # type: ignore[list-item]  # what is tried


def test_a_method_and_a_function_callback_are_distinguished_by_what_they_call() -> None:
    """Each object's tools call that object."""

    class Counter:
        def __init__(self) -> None:
            self.n = 0

        @tool
        def up(self) -> int:
            self.n += 1
            return self.n

    first, second = Counter(), Counter()
    (a,), (b,) = tool_callbacks(first), tool_callbacks(second)
    assert [a.call("{}"), a.call("{}"), b.call("{}")] == ["1", "2", "1"]


def test_an_iterable_object_with_tools_is_an_object() -> None:
    """Its tools count, not its items; a callable object likewise."""

    class Todos:
        def __iter__(self) -> Any:
            return iter(["a"])

        def __call__(self) -> None: ...

        @tool
        def add(self) -> None: ...

    assert names(tool_callbacks(Todos())) == ["add"]


def test_what_is_remembered_of_functions_keeps_none_alive() -> None:
    """The preparation of a function lives as long as the function (a local one here), and no longer."""

    def make() -> tuple[Any, FunctionToolCallback]:
        def f(n: int) -> int:
            return n

        return weakref.ref(f), FunctionToolCallback(f)

    reference, callback = make()
    assert callback.call('{"n": 1}') == "1"
    del callback
    gc.collect()
    assert reference() is None
