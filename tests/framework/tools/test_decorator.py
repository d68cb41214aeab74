"""`@tool` marks functions and methods, and leaves them what they are (MTP, TDU)."""

import functools
import inspect
import logging
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from vernal.tools.collection import tool_callbacks
from vernal.tools.decorator import tool
from vernal.tools.definition import ToolEffects, ToolMetadata
from vernal.tools.function import FunctionToolCallback


def names(*objects: Any) -> list[str]:
    return [callback.definition.name for callback in tool_callbacks(*objects)]


def test_a_marked_function_stays_what_it_is() -> None:
    """DESIGN: it is the same function, called as before; bare and with options."""

    def f(a: int) -> int:
        return a

    assert tool(f) is f
    assert tool(name="g")(f) is f
    assert f(3) == 3
    assert FunctionToolCallback(f).definition.name == "g"


def test_the_name_is_that_of_the_function() -> None:
    """TDU-01, TDU-02: also where the mark gives none or an empty one."""

    @tool
    def one() -> None: ...

    @tool(name="")
    def two() -> None: ...

    @tool(name="3")
    def three() -> None: ...

    assert names(one, two, three) == ["one", "two", "3"]


def test_options_become_metadata() -> None:
    """The options of ToolMetadata are options of `@tool`; a description goes before the docstring."""

    @tool(
        description="Pays.",
        return_direct=True,
        timeout=3,
        exclusive=True,
        effects="destructive",
        idempotent=True,
        polling=True,
    )
    def pay() -> None:
        """Not this."""

    (callback,) = tool_callbacks(pay)
    assert callback.definition.description == "Pays."
    assert callback.metadata == ToolMetadata(
        return_direct=True,
        timeout=3,
        exclusive=True,
        effects=ToolEffects.DESTRUCTIVE,
        idempotent=True,
        polling=True,
    )


def test_wrong_options_are_refused_where_they_stand() -> None:
    """Out of range, unknown, or on something that is no function."""
    with pytest.raises(ValueError, match="timeout is 0"):
        tool(timeout=0)
    with pytest.raises(ValueError, match="effects is 'delete'"):
        tool(effects="delete")  # type: ignore[call-overload]  # what is tried
    with pytest.raises(TypeError, match="returns_direct"):
        tool(returns_direct=True)  # type: ignore[call-overload]  # what is tried
    for wrong in ("get_weather", property(lambda _: None), int, 3):
        with pytest.raises(TypeError, match="@tool was given"):
            tool(wrong)  # type: ignore[type-var]  # what is tried
    with pytest.raises(TypeError, match="takes no attributes"):
        tool(len)


def test_static_and_class_methods_are_marked_on_either_side() -> None:
    """R17: the decorator may stand above or below."""

    class Tools:
        @tool
        @staticmethod
        def a() -> str:
            return "a"

        @staticmethod
        @tool
        def b() -> str:
            return "b"

        @tool
        @classmethod
        def c(cls) -> str:
            return cls.__name__

        @classmethod
        @tool
        def d(cls) -> str:
            return cls.__name__

    assert [callback.call("{}") for callback in tool_callbacks(Tools())] == ["a", "b", "Tools", "Tools"]
    assert Tools.a() == "a"
    assert Tools.c() == "Tools"


class Base:
    evaluated = 0

    @property
    def trap(self) -> None:
        type(self).evaluated += 1

    @tool
    def find(self, key: int) -> int:
        """Finds."""
        return key

    @tool(name="delete_all")
    def delete(self) -> None: ...

    @tool
    def count(self) -> int:
        return 1

    def helper(self) -> None: ...


class Derived(Base):
    @tool
    def more(self) -> None: ...

    def find(self, key: int, factor: int = 10) -> int:
        return key * factor

    delete = None  # type: ignore[assignment]  # taken back


def test_inherited_and_overridden_methods_are_tools() -> None:
    """R17, R24, MTP-01, MTP-09 (against MTP-11): base classes first, in order of declaration; an override is the tool
    that it overrides, with its own parameters and the inherited description; a plain value takes it back."""
    assert names(Base()) == ["find", "delete_all", "count"]
    assert names(Derived()) == ["find", "count", "more"]
    find = tool_callbacks(Derived())[0]
    assert find.definition.description == "Finds."
    assert list(find.definition.input_schema["properties"]) == ["key", "factor"]
    assert find.call('{"key": 2}') == "20"


def test_properties_are_not_evaluated() -> None:
    """R17: tools are found on the class."""
    tool_callbacks(Base())
    assert Base.evaluated == 0


def test_decorators_of_ones_own_are_tools() -> None:
    """MTP-07: a decorator built on `@tool`, and wrappers that use functools.wraps, above and below."""

    def read_tool(function: Callable[..., Any]) -> Callable[..., Any]:
        return tool(description="Composed.", effects="read")(function)

    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return ("logged", function(*args, **kwargs))

        return wrapper

    class Tools:
        @read_tool
        def a(self) -> int:
            return 1

        @logged
        @tool
        def b(self, n: int) -> int:
            return n

        @tool
        @logged
        def c(self, n: int) -> int:
            return n

        d = functools.partialmethod(c, 5)

        @functools.cache  # noqa: B019  # what is tried
        @tool
        def e(self, n: int) -> int:
            return n

    callbacks = tool_callbacks(Tools())
    assert [callback.definition.name for callback in callbacks] == ["a", "b", "c", "d", "e"]
    assert callbacks[0].definition.description == "Composed."
    assert [callback.call('{"n": 2}') for callback in callbacks] == [
        "1",
        '["logged",2]',
        '["logged",2]',
        '["logged",5]',
        "2",
    ]


def test_an_alias_is_a_tool_of_its_own() -> None:
    """A method that stands under two names is offered under both."""

    class Tools:
        @tool
        def find(self) -> None: ...

        lookup = find

    assert names(Tools()) == ["find", "lookup"]


def test_a_proxy_offers_the_tools_of_its_target() -> None:
    """MTP-10: found on the target's class, called through the proxy."""

    class Proxy:
        def __init__(self, target: Any) -> None:
            self._target = target
            self.asked: list[str] = []

        @property  # type: ignore[misc]  # as proxies do
        def __class__(self) -> type:
            return type(self._target)

        def __getattr__(self, name: str) -> Any:
            self.asked.append(name)
            return getattr(self._target, name)

    proxy = Proxy(Base())
    assert names(proxy) == ["find", "delete_all", "count"]
    assert proxy.asked == ["find", "delete", "count"]


def test_a_strange_name_is_kept_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """TDU-03, TDU-04: a name with spaces or other scripts is kept verbatim; a valid one gives no warning."""

    def f() -> None: ...

    with caplog.at_level(logging.WARNING, "vernal.tools"):
        assert FunctionToolCallback(f, name="valid_tool-name.v1").definition.name == "valid_tool-name.v1"
        assert caplog.records == []
        assert FunctionToolCallback(f, name="获取 天气(!)").definition.name == "获取 天气(!)"
    assert "获取 天气(!)" in caplog.text


def test_marking_costs_no_import_of_pydantic() -> None:
    """Speed: what `@tool` and the modules of callbacks import is light; pydantic comes with the first registration."""
    code = (
        "import sys\n"
        "from vernal.tools.decorator import tool\n"
        "from vernal.tools.collection import tool_callbacks\n"
        "@tool\n"
        "def f(a: int) -> None: ...\n"
        "heavy = {'pydantic', 'jsonschema', 'docstring_parser', 'httpx'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=_environment())


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": ":".join(path for path in sys.path if path)}


def test_the_signature_of_a_marked_function_is_unchanged() -> None:
    """DESIGN: type checkers and readers of signatures see the function itself."""

    @tool(name="x")
    def f(a: int, *, b: str = "") -> float:
        return 1.0

    assert str(inspect.signature(f)) == "(a: int, *, b: str = '') -> float"
