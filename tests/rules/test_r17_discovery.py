"""R17: tools are found on the class, without evaluating properties; the context is recognised by its type."""

import functools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import ChatClient, InvalidToolError, ToolContext, ToolResponseMessage, tool, tool_callbacks
from vernal.testing import Form, ScriptedChatModel, tool_call


def loudly(function: Any) -> Any:
    """A decorator that knows its manners."""

    @functools.wraps(function)
    def louder(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs).upper()

    return louder


class Base:
    """Tools of every kind, and a property that must not be touched."""

    @property
    def trap(self) -> str:
        """Raises."""
        raise AssertionError("a property was evaluated")

    @functools.cached_property
    def cached_trap(self) -> str:
        """Raises."""
        raise AssertionError("a property was evaluated")

    @tool
    def plain(self, n: int) -> str:
        """Plain."""
        return f"base {n}"

    @tool
    def overridden(self, n: int) -> str:
        """Overridden."""
        return "never"

    @staticmethod
    @tool
    def static(n: int) -> str:
        """Static."""
        return f"static {n}"

    @classmethod
    @tool
    def of_class(cls, n: int) -> str:
        """Of the class."""
        return f"{cls.__name__} {n}"

    @tool
    @loudly
    def decorated(self, n: int) -> str:
        """Decorated."""
        return f"decorated {n}"


class Derived(Base):
    """Overrides without saying again that it is a tool."""

    def overridden(self, n: int) -> str:
        return f"derived {n}"


EXPECTED = {
    "plain": "base 1",
    "overridden": "derived 1",
    "static": "static 1",
    "of_class": "Derived 1",
    "decorated": "DECORATED 1",
}


def test_every_kind_of_method_is_found_and_called(form: Form) -> None:
    """R17: base classes, overrides, decorators, static and class methods; no property is evaluated."""
    for name, told in EXPECTED.items():
        model = ScriptedChatModel([tool_call(name, n=1), "done"])
        form.ask(ChatClient(model).prompt("Go on.").tools(Derived()))
        message = model.requests[-1].messages[-1]
        assert isinstance(message, ToolResponseMessage)
        assert message.responses[0].data == told
    assert {callback.definition.name for callback in tool_callbacks(Derived())} == set(EXPECTED)


@given(name=st.sampled_from(["context", "tool_context", "ctx", "n", "self_", "data"]), optional=st.booleans())
def test_the_context_is_known_by_its_type_whatever_its_name(name: str, optional: bool) -> None:
    """R17: and a parameter that is only called so is the model's to fill."""
    kind: Any = ToolContext | None if optional else ToolContext

    scope: dict[str, Any] = {"kind": kind}
    exec(f"def look({name}: kind, tool_context_text: str = '') -> str:\n    return {name}['tenant']", scope)
    look = scope["look"]
    look.__doc__ = "Look."
    [callback] = tool_callbacks(look)
    assert set(callback.definition.input_schema["properties"]) == {"tool_context_text"}
    assert callback.call("{}", ToolContext({"tenant": "acme"})) == "acme"


def test_what_cannot_be_resolved_is_refused_by_name_at_registration() -> None:
    """R17: not at the first call."""

    def look(where: "Nowhere") -> str:  # type: ignore[name-defined]  # noqa: F821  # the point
        """Look."""
        return "never"

    with pytest.raises(InvalidToolError, match=r"'where'|Nowhere"):
        tool_callbacks(look)
