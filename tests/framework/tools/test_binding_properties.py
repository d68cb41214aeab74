"""For every function and every text: what the schema accepts, the binder accepts, and nothing else reaches the tool."""

import enum
import inspect
import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from vernal.tools.exceptions import ToolArgumentsError, ToolExecutionException
from vernal.tools.function import FunctionToolCallback

TEXT = st.text('aZ 1"\\\n{é日🙂', max_size=5)
JSON_LIKE = st.text('{}[]":,0123456789.eE+-truefalsnNaIity p`\n\\', max_size=40)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


class Unit(enum.Enum):
    CELSIUS = "celsius"
    FAHRENHEIT = "fahrenheit"


class Node(BaseModel):
    value: int
    children: list["Node"] = []


@dataclass
class Point:
    x: int
    y: float | None = None


NODES = st.recursive(
    st.fixed_dictionaries({"value": st.integers()}),
    lambda inner: st.fixed_dictionaries({"value": st.integers(), "children": st.lists(inner, max_size=2)}),
    max_leaves=4,
)

LEAVES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, TEXT),
    (int, st.integers()),
    (float, FINITE | st.integers(-(2**53), 2**53)),
    (bool, st.booleans()),
    (Unit, st.sampled_from(["celsius", "fahrenheit"])),
    (Literal["a", 1], st.sampled_from(["a", 1])),
    (Annotated[int, Field(ge=0, lt=10)], st.integers(0, 9)),
    (Point, st.fixed_dictionaries({"x": st.integers()}, optional={"y": FINITE | st.none()})),
    (Node, NODES),
    (Any, st.none() | TEXT | st.lists(st.integers())),
]

Kind = tuple[Any, st.SearchStrategy[Any]]


def grown(kind: Kind, shape: str) -> Kind:
    annotation, values = kind
    if shape == "list":
        return list[annotation], st.lists(values, max_size=3)  # type: ignore[valid-type]  # made at run time
    if shape == "dict":
        return dict[str, annotation], st.dictionaries(TEXT, values, max_size=3)  # type: ignore[valid-type]  # the same
    if shape == "optional":
        return annotation | None, values | st.none()
    return kind


KINDS = st.builds(grown, st.sampled_from(LEAVES), st.sampled_from(["plain", "list", "dict", "optional"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | TEXT | st.sampled_from(["celsius", "1", "1.5", "true", "{}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT | st.sampled_from(["x", "value"]), inner),
    max_leaves=6,
)


class Recorder:
    """A tool with the given parameters that remembers how often it ran."""

    def __init__(self, kinds: list[Kind], required: list[bool]) -> None:
        self.runs = 0
        self.__signature__ = inspect.Signature(
            [
                inspect.Parameter(
                    f"p{position}",
                    inspect.Parameter.KEYWORD_ONLY,
                    annotation=annotation,
                    default=inspect.Parameter.empty if needed else None,
                )
                for position, ((annotation, _), needed) in enumerate(zip(kinds, required, strict=True))
            ]
        )

    def __call__(self, **arguments: Any) -> str:
        self.runs += 1
        return "ran"


@given(st.data(), st.lists(st.tuples(KINDS, st.booleans()), max_size=4))
def test_what_the_schema_accepts_the_binder_accepts(data: st.DataObject, drawn: list[tuple[Kind, bool]]) -> None:
    """R18: values of the declared types, with optional ones left out at will, satisfy the schema and reach the tool."""
    recorder = Recorder([kind for kind, _ in drawn], [needed for _, needed in drawn])
    callback = FunctionToolCallback(recorder)
    values = {
        f"p{position}": data.draw(kind[1])
        for position, (kind, needed) in enumerate(drawn)
        if needed or data.draw(st.booleans())
    }
    schema = dict(callback.definition.input_schema)
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(values)
    assert callback.call(json.dumps(values)) == "ran"
    assert recorder.runs == 1


def failure(callback: FunctionToolCallback, text: str) -> ToolExecutionException | None:
    try:
        callback.call(text)
    except ToolExecutionException as error:
        return error
    return None


@given(KINDS, JSON, st.booleans())
def test_any_value_either_fits_or_is_told(kind: Kind, value: Any, needed: bool) -> None:
    """R5, R18: whatever value is sent, the tool runs once or the model is told; if the schema accepts it, it runs."""
    recorder = Recorder([kind], [needed])
    callback = FunctionToolCallback(recorder)
    error = failure(callback, json.dumps({"p0": value}))
    assert recorder.runs == (1 if error is None else 0)
    if error is not None:
        assert isinstance(error.__cause__, ToolArgumentsError)
        assert "p0" in str(error)
        assert not Draft202012Validator(dict(callback.definition.input_schema)).is_valid({"p0": value})


@given(TEXT | JSON_LIKE | JSON.map(json.dumps))
def test_any_text_either_fits_or_is_told(text: str) -> None:
    """R5: no text, JSON or not, ends in anything but a run of the tool or a text for the model."""
    recorder = Recorder([(int, st.integers())], [True])
    error = failure(FunctionToolCallback(recorder), text)
    assert recorder.runs == (1 if error is None else 0)
    if error is not None:
        assert isinstance(error.__cause__, ToolArgumentsError)
        assert str(error).startswith("The tool Recorder was not called")
