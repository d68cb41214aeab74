"""Schemas of tool arguments: canonical, complete, and saying what the binder accepts (R18, SCH, SCU)."""

import datetime as dt
import enum
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from vernal.tools.context import ToolContext
from vernal.tools.function import FunctionToolCallback
from vernal.tools.parameters import ToolParam
from vernal.tools.schema import canonical, complete_object_schema


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    return dict(FunctionToolCallback(function).definition.input_schema)


class Month(enum.Enum):
    JANUARY = "JANUARY"
    FEBRUARY = "FEBRUARY"


class Address(BaseModel):
    """Where somebody lives."""

    street: str
    number: Annotated[int, Field(description="House number")]
    title: str = "home"


class Node(BaseModel):
    value: int
    children: list["Node"] = []


@dataclass
class Point:
    x: int
    y: int = 0


class Pair(NamedTuple):
    first: int
    second: str


class Options(TypedDict, total=False):
    verbose: bool


def test_parameters_become_an_object_in_order_of_declaration() -> None:
    """SCH-01: properties, required and additionalProperties, without $schema; members in order of declaration."""

    def person(name: str, age: int) -> None: ...

    assert json.dumps(schema_of(person)) == (
        '{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, '
        '"required": ["name", "age"], "additionalProperties": false}'
    )


def test_no_parameters_give_empty_members() -> None:
    """SCH-15, SCH-23: `properties` and `required` are present also when they are empty."""

    def ping() -> None: ...

    assert schema_of(ping) == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def test_tool_param_says_what_is_required_and_described() -> None:
    """SCH-02, SCH-04, SCH-14: ToolParam overrides what follows from the default, and goes before other descriptions."""

    def search(
        query: Annotated[str, Field(description="other"), ToolParam(description="What to find")],
        limit: Annotated[int, ToolParam(required=False, description="How many")],
        page: Annotated[int, ToolParam(required=True)] = 1,
    ) -> None:
        """Search.

        Args:
            query: something else
            page: Which page
        """

    schema = schema_of(search)
    assert schema["required"] == ["query", "page"]
    assert [schema["properties"][name]["description"] for name in ("query", "limit", "page")] == [
        "What to find",
        "How many",
        "Which page",
    ]


def test_required_optional_nullable_and_absent_are_four_things() -> None:
    """R18 (against SCH-06): null is allowed exactly where the type says so, and left out exactly where there is a
    default."""

    def four(a: str, b: str | None, c: str = "x", d: str | None = None) -> None: ...

    schema = schema_of(four)
    nullable = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert schema["required"] == ["a", "b"]
    assert schema["properties"] == {
        "a": {"type": "string"},
        "b": nullable,
        "c": {"type": "string", "default": "x"},
        "d": {**nullable, "default": None},
    }


def test_defaults_are_shown_where_they_are_json() -> None:
    """A default is shown in its JSON form; one that has none, or that is None for a type without null, is not."""

    def f(
        month: Month = Month.JANUARY,
        day: dt.date = dt.date(2026, 1, 2),
        where: Point = Point(1),  # noqa: B008  # never changed
        ratio: float = float("nan"),
        mark: Any = object(),  # noqa: B008  # the same
        days: int = None,  # type: ignore[assignment]  # noqa: RUF013  # what users write
    ) -> None: ...

    properties = schema_of(f)["properties"]
    assert properties["month"]["default"] == "JANUARY"
    assert properties["day"]["default"] == "2026-01-02"
    assert properties["where"]["default"] == {"x": 1, "y": 0}
    assert all("default" not in properties[name] for name in ("ratio", "mark", "days"))


def test_an_unconstrained_parameter_is_required_with_an_empty_schema() -> None:
    """SCH-07: `Any`, and no annotation at all, give `{}` and stay required."""

    def anything(value: Any, other) -> None: ...  # type: ignore[no-untyped-def]  # what users write

    schema = schema_of(anything)
    assert schema["properties"] == {"value": {}, "other": {}}
    assert schema["required"] == ["value", "other"]


def test_nested_objects_are_complete_and_in_place() -> None:
    """SCH-10, SCH-18, SCH-19, SCH-24, SCH-27: nested objects have required and additionalProperties, descriptions come
    from class and field, and what is used once stands in its place, without $defs and titles."""

    def move(to: Address, by: list[Point]) -> None: ...

    schema = schema_of(move)
    assert "$defs" not in schema
    assert schema["properties"]["to"] == {
        "type": "object",
        "description": "Where somebody lives.",
        "properties": {
            "street": {"type": "string"},
            "number": {"type": "integer", "description": "House number"},
            "title": {"type": "string", "default": "home"},
        },
        "required": ["street", "number"],
        "additionalProperties": False,
    }
    assert schema["properties"]["by"]["items"]["required"] == ["x"]


def test_a_parameters_description_goes_before_that_of_its_class() -> None:
    """SCH-14: the description of a parameter overrides the class description of its type."""

    def move(to: Annotated[Address, Field(description="The new home")]) -> None: ...

    assert schema_of(move)["properties"]["to"]["description"] == "The new home"


def test_mappings_stay_open() -> None:
    """SCH-20: a mapping keeps the schema of its values, and never becomes closed."""

    def count(words: dict[str, int]) -> None: ...

    schema = schema_of(count)
    assert schema["properties"]["words"] == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert schema["additionalProperties"] is False


def test_enums_and_literals_list_their_values() -> None:
    """SCH-21: the values stand in order of declaration."""

    def book(month: Month, size: Literal["s", "m"]) -> None: ...

    properties = schema_of(book)["properties"]
    assert properties["month"] == {"type": "string", "enum": ["JANUARY", "FEBRUARY"]}
    assert properties["size"] == {"type": "string", "enum": ["s", "m"]}


def test_the_injected_context_is_left_out() -> None:
    """SCH-13, SCH-16: parameters that the engine fills are in neither properties nor required."""

    class Tools:
        def run(self, a: int, context: ToolContext, other: ToolContext | None = None) -> None: ...

    assert list(schema_of(Tools().run)["properties"]) == ["a"]


def test_kwargs_open_the_schema() -> None:
    """`**kwargs` take further members: any, or those of their annotation."""

    def tag(name: str, **labels: str) -> None: ...
    def free(**anything: Any) -> None: ...

    assert schema_of(tag) == {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": {"type": "string"},
    }
    assert schema_of(free)["additionalProperties"] is True


def test_recursive_types_stand_once_at_the_root() -> None:
    """SCH-25, SCH-26, SCH-28, SCH-31: $defs is at the root, before properties, one for both parameters, closed; every
    reference resolves."""

    def compare(left: Node, right: Node) -> None: ...

    schema = schema_of(compare)
    assert list(schema) == ["type", "$defs", "properties", "required", "additionalProperties"]
    assert list(schema["$defs"]) == ["Node"]
    assert schema["$defs"]["Node"]["additionalProperties"] is False
    assert schema["properties"]["left"] == schema["properties"]["right"] == {"$ref": "#/$defs/Node"}
    Draft202012Validator(schema).validate({"left": {"value": 1, "children": [{"value": 2}]}, "right": {"value": 3}})


def filter_type(description: str) -> Any:
    class Filter(BaseModel):
        value: int
        children: "list[Filter]" = []

    Filter.__doc__ = description
    return Filter


def test_colliding_names_are_made_short_and_different() -> None:
    """SCH-29, SCH-30: of two types of one name the second becomes `Filter_2`, with every reference to it."""
    first, second = filter_type("first"), filter_type("second")

    def search(a: first, b: second) -> None: ...  # type: ignore[valid-type]  # made at run time

    schema = schema_of(search)
    assert list(schema["$defs"]) == ["Filter", "Filter_2"]
    assert schema["properties"]["b"] == {"$ref": "#/$defs/Filter_2"}
    assert schema["$defs"]["Filter_2"]["description"] == "second"
    assert schema["$defs"]["Filter_2"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Filter_2"}
    assert schema["$defs"]["Filter"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Filter"}


def test_what_is_used_often_stands_once() -> None:
    """A type that several parameters use is one definition: repeated in place, nested types would grow without end."""

    def route(start: Point, end: Point) -> None: ...

    schema = schema_of(route)
    assert schema["properties"] == {"start": {"$ref": "#/$defs/Point"}, "end": {"$ref": "#/$defs/Point"}}


def test_a_property_called_title_stays() -> None:
    """Only the keyword `title` is left out, never a property of that name, nor what stands in a default."""

    def note(title: str, extra: dict[str, str] = {"title": "x"}) -> None: ...  # noqa: B006  # never changed

    properties = schema_of(note)["properties"]
    assert properties["title"] == {"type": "string"}
    assert properties["extra"]["default"] == {"title": "x"}


def test_a_discriminated_union_has_no_dangling_mapping() -> None:
    """R18: what refers to definitions by other means than `$ref` is left out with the definitions it names."""

    class Cat(BaseModel):
        kind: Literal["cat"]

    class Dog(BaseModel):
        kind: Literal["dog"]

    def adopt(pet: Annotated[Cat | Dog, Field(discriminator="kind")]) -> None: ...

    schema = schema_of(adopt)
    assert "mapping" not in json.dumps(schema)
    assert [choice["properties"]["kind"]["const"] for choice in schema["properties"]["pet"]["oneOf"]] == ["cat", "dog"]


def test_a_root_reference_is_resolved() -> None:
    """A schema that only refers to a recursive definition becomes that definition, with the definition beside it."""
    root = canonical(Node.model_json_schema())
    assert root["type"] == "object"
    assert root["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    Draft202012Validator(root).validate({"value": 1, "children": [{"value": 2}]})


def test_further_python_types_have_schemas() -> None:
    """Tuples, named tuples, typed dictionaries and dates are described (formats are kept, against SCH-12)."""

    def f(a: tuple[int, str], b: Pair, c: Options, d: dt.datetime, e: dt.timedelta) -> None: ...

    properties = schema_of(f)["properties"]
    assert properties["a"]["prefixItems"] == properties["b"]["prefixItems"] == [{"type": "integer"}, {"type": "string"}]
    assert properties["c"]["required"] == []
    assert properties["d"] == {"type": "string", "format": "date-time"}
    assert properties["e"] == {"type": "string", "format": "duration"}


def test_generation_is_safe_in_threads() -> None:
    """SCH-32: many generations at once give the same schema."""

    def make() -> Callable[..., Any]:
        def compare(left: Node, right: Node | None = None) -> None: ...

        return compare

    expected, results = schema_of(make()), []
    threads = [threading.Thread(target=lambda: results.append(schema_of(make()))) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 24


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"type": "object", "additionalProperties": False}, {"type": "object", "additionalProperties": False}),
        ({"additionalProperties": False}, {"type": "object", "additionalProperties": False}),
        ({}, {"type": "object"}),
    ],
)
def test_hand_written_object_schemas_are_completed(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """SCU-01 to SCU-03, MCP-12: providers insist on `type` and `properties`."""
    assert complete_object_schema(given) == {**expected, "properties": {}}


def test_other_hand_written_schemas_stay() -> None:
    """SCU-04, SCU-05: present properties are kept, and what is no object gets none."""
    given = {"type": "object", "properties": {"a": {}}}
    assert complete_object_schema(given) == given
    assert complete_object_schema({"type": "string"}) == {"type": "string"}
