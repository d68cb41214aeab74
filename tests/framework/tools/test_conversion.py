"""Results of every kind have one form for the model (R15, CVT)."""

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import json
import sys
import types
import uuid
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr

from vernal.tools.conversion import NO_RESULT, DefaultToolCallResultConverter, ToolCallResultConverter
from vernal.tools.exceptions import ToolExecutionException
from vernal.tools.function import FunctionToolCallback
from vernal.tools.result import ToolResult
from vernal.values.messages import Media

PNG = b"\x89PNG\r\n\x1a\n0000"


class Colour(enum.Enum):
    RED = "red"


class Size(enum.StrEnum):
    SMALL = "s"


class Model(BaseModel):
    name: str = Field(default="test", serialization_alias="fullName")
    ratio: float = float("nan")
    key: SecretStr = SecretStr("secret")


@dataclasses.dataclass
class Record:
    name: str
    value: Any


def converted(value: Any) -> str:
    return DefaultToolCallResultConverter().convert(value, Any)


@pytest.mark.parametrize(
    "text", ["test", "", '{"a": 1}', "3 strings processed: [one]", "true story", 'quotes " and \n newlines \\', "日本"]
)
def test_text_stays_as_it_is(text: str) -> None:
    """R15 (against CVT-03, CVT-11, CVT-13; as CVT-12): text is neither quoted nor escaped."""
    assert converted(text) == text


def test_none_has_one_form_for_all_kinds_of_tools() -> None:
    """R15 (against CVT-01, CVT-02, CVT-04, FTC-09): annotated or not, plain or async, function or method."""

    def plain() -> None: ...
    def lookup() -> str | None:
        return None

    def bare():  # type: ignore[no-untyped-def]  # what users write
        pass

    async def later() -> None: ...

    class Tools:
        def method(self) -> None: ...

    functions = (plain, lookup, bare, later, Tools().method)
    assert {FunctionToolCallback(function).call("{}") for function in functions} == {NO_RESULT}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["one", "two", "three"], '["one","two","three"]'),
        ({"name": "test", "value": 42}, '{"name":"test","value":42}'),
        ([], "[]"),
        ({}, "{}"),
        ((), "[]"),
        (42, "42"),
        (True, "true"),
        (1.5, "1.5"),
        (Record("test", 42), '{"name":"test","value":42}'),
        (Record("a", {1}), '{"name":"a","value":[1]}'),
        (Model(), '{"fullName":"test","ratio":null,"key":"**********"}'),
        ([Model(ratio=1)], '[{"fullName":"test","ratio":1.0,"key":"**********"}]'),
        (Colour.RED, '"red"'),
        (Size.SMALL, "s"),
        ([Size.SMALL, Colour.RED], '["s","red"]'),
        (dt.datetime(2026, 1, 2, 3, 4), '"2026-01-02T03:04:00"'),
        (dt.timedelta(days=1), '"P1D"'),
        (decimal.Decimal("1.10"), '"1.10"'),
        (uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (frozenset([1]), "[1]"),
        (collections.deque([1, 2]), "[1,2]"),
        (range(3), "[0,1,2]"),
        ({1: 2, None: 3}, '{"1":2,"None":3}'),
        (types.MappingProxyType({"a": {"b": types.MappingProxyType({})}}), '{"a":{"b":{}}}'),
        ({"a": 1}.keys(), '["a"]'),
        ({"data": b"\xff"}, '{"data":"_w=="}'),
        (["日本"], '["日本"]'),
    ],
)
def test_objects_become_compact_json(value: Any, expected: str) -> None:
    """R15, CVT-05, CVT-06, CVT-07, CVT-09, CVT-10: each kind of value has its JSON form."""
    assert converted(value) == expected


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"a": -float("inf")}, Record("a", float("nan"))])
def test_numbers_that_json_does_not_know_become_null(value: Any) -> None:
    """R15: NaN never produces invalid JSON."""
    text = converted(value)
    assert "null" in text
    json.loads(text, parse_constant=pytest.fail)


TEXT = st.text('aZ 1"\\\n{é日🙂')
SIMPLE = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
EXOTIC = (
    SIMPLE
    | st.decimals()
    | st.dates()
    | st.datetimes()
    | st.timedeltas()
    | st.uuids()
    | st.sampled_from([*Colour, *Size])
    | st.binary()
    | st.builds(Model, ratio=st.floats())
    | st.frozensets(st.integers())
)
VALUES = st.recursive(
    EXOTIC,
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(TEXT | st.integers() | st.none(), inner)
        | st.builds(Record, name=st.just("n"), value=inner)
        | st.tuples(inner, inner)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_every_value_becomes_text_or_valid_json(value: Any) -> None:
    """R15: whatever the value, the model gets a text; of all but texts, None and media it is valid JSON."""
    text = converted(value)
    assert isinstance(text, str)
    if value is not None and not isinstance(value, str) and not isinstance(text, ToolResult):
        json.loads(text, parse_constant=pytest.fail)


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [
        (PNG, "image/png"),
        (bytearray(b"\xff\xd8\xff.."), "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF1234WEBP", "image/webp"),
        (memoryview(b"%PDF-1.7"), "application/pdf"),
        (b"anything", "application/octet-stream"),
    ],
)
def test_bytes_become_media(data: Any, mime_type: str) -> None:
    """R15: bytes are media of the type that they show, beside a short text."""
    result = converted(data)
    assert isinstance(result, ToolResult)
    assert result.media == (Media(mime_type, bytes(data)),)
    assert result == f"[{mime_type}: {len(bytes(data))} bytes]"


def test_media_and_lists_with_media_become_media() -> None:
    """R15: texts among media stay in their place; names and addresses are told."""
    chart, page = Media("image/png", PNG, name="chart.png"), Media("text/html", url="https://example.org")
    result = converted(["See:", chart, page])
    assert isinstance(result, ToolResult)
    assert result.media == (chart, page)
    assert result == "See:\n[chart.png, image/png: 12 bytes]\n[text/html: https://example.org]"


def test_images_become_png(monkeypatch: pytest.MonkeyPatch) -> None:
    """R15, CVT-08: an image of PIL is saved as PNG, without PIL being imported on its account."""

    class Image:
        def save(self, to: BytesIO, format: str) -> None:  # noqa: A002  # as PIL calls it
            to.write(PNG if format == "PNG" else b"")

    assert "PIL" not in sys.modules
    module = types.ModuleType("PIL.Image")
    module.Image = Image  # type: ignore[attr-defined]  # a stand-in for the real module
    monkeypatch.setitem(sys.modules, "PIL.Image", module)
    result = converted(Image())
    assert isinstance(result, ToolResult)
    assert result.media == (Media("image/png", PNG),)


def test_arrays_become_lists() -> None:
    """R15: what can turn itself into a list, as the arrays of numpy can, is that list."""

    class Array:
        def tolist(self) -> list[int]:
            return [1, 2]

    assert converted({"values": Array()}) == '{"values":[1,2]}'


def test_iterators_within_results_are_consumed() -> None:
    """R15: also where they are part of an object."""

    def numbers() -> Iterator[int]:
        yield from (1, 2)

    assert converted({"numbers": numbers(), "mapped": map(str, [3])}) == '{"numbers":[1,2],"mapped":["3"]}'


def test_what_has_no_form_is_a_clear_error() -> None:
    """R15, CVT-15: the text names the type and the cure; a cycle ends the same way, as a failure of the tool."""
    cycle: list[Any] = []
    cycle.append(cycle)
    for value, kind in ((object(), "object"), (cycle, "list"), ({"a": print}, "dict")):
        with pytest.raises(TypeError, match=f"the tool returned a {kind} that cannot become JSON.*result_converter"):
            converted(value)
    with pytest.raises(ToolExecutionException) as caught:
        FunctionToolCallback(lambda: cycle, name="cycle").call("{}")
    assert isinstance(caught.value.__cause__, TypeError)


def test_a_tool_result_passes() -> None:
    """A tool that returns a ToolResult has said all itself."""
    result = ToolResult("no", is_error=True)
    assert FunctionToolCallback(lambda: result, name="f").call("{}") is result


def test_a_custom_converter_gets_result_and_return_type() -> None:
    """TDU-07: the converter of a tool replaces the default; what is no text is refused."""

    class Loud(ToolCallResultConverter):
        def convert(self, result: Any, return_type: Any) -> str:
            return f"{result}! {return_type}"

    class Wrong(ToolCallResultConverter):
        def convert(self, result: Any, return_type: Any) -> str:
            return 3  # type: ignore[return-value]  # what is tried

    def f() -> int:
        return 1

    def g():  # type: ignore[no-untyped-def]  # what users write
        return 1

    assert FunctionToolCallback(f, result_converter=Loud()).call("{}") == "1! <class 'int'>"
    assert FunctionToolCallback(g, result_converter=Loud()).call("{}") == "1! typing.Any"
    with pytest.raises(ToolExecutionException, match=r"Wrong.convert gave 3; a str is wanted"):
        FunctionToolCallback(f, result_converter=Wrong()).call("{}")
