"""R18: what the schema accepts, the binder accepts; required, optional, nullable and absent are four things."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from vernal import FunctionToolCallback, ToolExecutionException


@dataclass
class Point:
    """A dataclass."""

    x: int
    y: int = 0


class Node(BaseModel):
    """Refers to itself."""

    name: str = Field(max_length=3)
    children: "list[Node]" = []


class Flags(TypedDict, total=False):
    """A typed dictionary."""

    fast: bool
    mode: Literal["a", 1] | None


PLAIN: list[tuple[Any, list[Any]]] = [
    (int, [1, -1, 2**70]),
    (float, [1, 1.5]),
    (str, ["", "a", "é"]),
    (bool, [True, False]),
    (Literal["a", "b"], ["a", "b"]),
    (list[int], [[], [1, 2]]),
    (dict[str, int], [{}, {"k": 1}]),
    (Point, [{"x": 1}, {"x": 1, "y": 2}]),
    (Node, [{"name": "a"}, {"name": "a", "children": [{"name": "b", "children": []}]}]),
    (Flags, [{}, {"fast": True, "mode": None}]),
    (int | str, [1, "a"]),
    (tuple[int, str], [[1, "a"]]),
    (set[int], [[], [1]]),
]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.5, "", "a", "b", "abcd"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["x", "y", "name", "children", "k", "fast", "mode"]), inner, max_size=2)
    ),
    max_leaves=4,
)
KINDS = st.sampled_from(["required", "optional", "nullable", "optional nullable"])


def taking(annotation: Any, kind: str) -> tuple[FunctionToolCallback, list[Any]]:
    """A tool with one parameter, and what it got."""
    got: list[Any] = []
    scope: dict[str, Any] = {"kind": annotation | None if "nullable" in kind else annotation, "got": got, "absent": "-"}
    default = " = absent" if "optional" in kind else ""
    exec(f"def take(value: kind{default}) -> str:\n    got.append(value)\n    return 'taken'", scope)
    return FunctionToolCallback(scope["take"], description="Take."), got


def accepts(callback: FunctionToolCallback, members: Mapping[str, Any]) -> bool:
    """Whether a call with these members runs."""
    try:
        callback.call(json.dumps(members))
    except ToolExecutionException:
        return False
    return True


@given(annotation=st.sampled_from(PLAIN), kind=KINDS, value=ANYTHING, proper=st.booleans(), data=st.data())
def test_what_the_schema_accepts_the_tool_gets(
    annotation: tuple[Any, list[Any]], kind: str, value: Any, proper: bool, data: st.DataObject
) -> None:
    """R18: every value that the schema accepts runs; every reference in the schema resolves."""
    callback, got = taking(annotation[0], kind)
    if proper:
        value = data.draw(st.sampled_from(annotation[1]))
    schema: Any = json.loads(json.dumps(callback.definition.input_schema, default=dict))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    members = {"value": value}
    if validator.is_valid(members):
        assert accepts(callback, members)
        assert len(got) == 1
    assert validator.is_valid(members) or not proper


@pytest.mark.parametrize("kind", ["required", "optional", "nullable", "optional nullable"])
def test_required_optional_nullable_and_absent_differ(kind: str) -> None:
    """R18: in the schema and at the binder. A null for what is optional and not nullable counts as left out (R5)."""
    callback, got = taking(int, kind)
    required = "optional" not in kind
    assert ("value" in callback.definition.input_schema.get("required", ())) == required
    assert accepts(callback, {}) == (not required)
    assert accepts(callback, {"value": None}) == (kind != "required")
    assert got == {"required": [], "optional": ["-", "-"], "nullable": [None], "optional nullable": ["-", None]}[kind]
