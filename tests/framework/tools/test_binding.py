"""Arguments are bound and validated before the tool is called (R5, MTC, JSN)."""

import datetime as dt
import enum
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, Field

from vernal.tools.exceptions import ToolArgumentsError, ToolExecutionException
from vernal.tools.function import FunctionToolCallback


class Unit(enum.Enum):
    CELSIUS = "celsius"
    FAHRENHEIT = "fahrenheit"


class Priority(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Leg(BaseModel):
    start: str
    km: int = 3


@dataclass
class Person:
    name: str
    age: int | None = None


def result(function: Callable[..., Any], text: str) -> Any:
    return json.loads(FunctionToolCallback(function).call(text))


def complaint(function: Callable[..., Any], text: str) -> str:
    """What the model is told; the function must not be called."""
    called: list[Any] = []

    def never(**arguments: Any) -> None:
        called.append(arguments)

    never.__signature__ = __import__("inspect").signature(function)  # type: ignore[attr-defined]  # Python's own way
    with pytest.raises(ToolExecutionException) as caught:
        FunctionToolCallback(never, name="book").call(text)
    assert isinstance(caught.value.__cause__, ToolArgumentsError)
    assert called == []
    return str(caught.value)


def book(
    city: str,
    days: Annotated[int, Field(ge=1)] = 3,
    price: float = 1.5,
    urgent: bool = False,
    unit: Unit = Unit.CELSIUS,
    legs: list[Leg] = [],  # noqa: B006  # never changed
    note: str | None = "none",
    on: dt.date | None = None,
) -> list[Any]:
    return [city, days, price, urgent, unit, legs, note, on]


PLAIN = ["Oslo", 3, 1.5, False, "celsius", [], "none", None]


def with_city(**changes: Any) -> str:
    return json.dumps({"city": "Oslo", **changes})


def test_defaults_are_those_of_the_function() -> None:
    """MTC-10, JSN-02 (R5 instead): what is absent has the function's default, unknown members are ignored."""
    assert result(book, '{"city": "Oslo", "unknown": [1]}') == PLAIN


@pytest.mark.parametrize(
    ("annotation", "given", "expected"),
    [
        (list[str], ["one", "two"], ["one", "two"]),
        (dict[str, int], {"one": 1}, {"one": 1}),
        (list[dict[str, int]], [{"one": 1}], [{"one": 1}]),
        (Any, {"a": [None]}, {"a": [None]}),
        (Unit, "celsius", Unit.CELSIUS),
        (dt.datetime, "2026-04-19T07:12:00", dt.datetime(2026, 4, 19, 7, 12)),
        (Person, {"name": "foo", "age": 7}, Person("foo", 7)),
        (tuple[int, str], [1, "a"], (1, "a")),
        (set[int], [1, 2], {1, 2}),
        (float, 1, 1.0),
    ],
)
def test_arguments_have_the_declared_types(annotation: Any, given: Any, expected: Any) -> None:
    """MTC-01 to MTC-05, JSN-04, JSN-07: nested types, enums, dates and classes are what the function receives."""
    received: list[Any] = []

    def f(value: annotation) -> None:
        received.append(value)

    FunctionToolCallback(f).call(json.dumps({"value": given}))
    assert received == [expected]
    assert type(received[0]) is type(expected)


@pytest.mark.parametrize("text", ["", "  \n", "null", "{}"])
def test_no_arguments_run_only_what_needs_none(text: str) -> None:
    """R5 (against MTC-08): blank and null mean `{}`."""

    def ping(times: int = 1) -> int:
        return times

    assert result(ping, text) == 1
    assert "- city: missing; wanted: string" in complaint(book, text)


HARMLESS = [
    ("```json\n" + with_city() + "\n```", PLAIN),
    (json.dumps(with_city()), PLAIN),
    (with_city(days="5"), ["Oslo", 5, *PLAIN[2:]]),
    (with_city(days=5.0), ["Oslo", 5, *PLAIN[2:]]),
    (with_city(days="1.5E7"), ["Oslo", 15_000_000, *PLAIN[2:]]),
    (with_city(days="1.5E12"), ["Oslo", 1_500_000_000_000, *PLAIN[2:]]),
    (with_city(price="2.5"), ["Oslo", 3, 2.5, *PLAIN[3:]]),
    (with_city(price="2"), ["Oslo", 3, 2.0, *PLAIN[3:]]),
    (with_city(urgent="True"), ["Oslo", 3, 1.5, True, *PLAIN[4:]]),
    (with_city(days=None, unit=None, legs=None), PLAIN),
    (with_city(note=None), [*PLAIN[:6], None, None]),
    (with_city(legs='[{"start": "a", "km": "4"}]'), [*PLAIN[:5], [{"start": "a", "km": 4}], "none", None]),
    (with_city(legs=['{"start": "a"}']), [*PLAIN[:5], [{"start": "a", "km": 3}], "none", None]),
    (with_city(legs=[{"start": "a", "km": None}]), [*PLAIN[:5], [{"start": "a", "km": 3}], "none", None]),
    (with_city(on="null"), PLAIN),
    (with_city(on="None", note="None"), [*PLAIN[:6], "None", None]),
]


@pytest.mark.parametrize("kind", [Literal[1, 2, 3], Literal[2], Literal[1, 2, None], Priority])
def test_a_number_that_is_listed_may_be_written_as_text(kind: Any) -> None:
    """R5: where the schema lists numbers."""

    def take(level: Any) -> Any:
        return level

    take.__annotations__["level"] = kind
    assert result(take, '{"level": "2"}') == 2
    assert "level" in complaint(take, '{"level": "4"}')


@pytest.mark.parametrize(("text", "expected"), HARMLESS)
def test_harmless_forms_are_accepted(text: str, expected: list[Any]) -> None:
    """R5, JSN-04, JSN-05, JSN-06: what plainly means the right thing is taken for it."""
    assert result(book, text) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nill", "Wanted: a JSON object with the members city, days"),
        ("[1]", "Wanted: a JSON object with the members"),
        ('{"city": "Oslo"} {"city": "Paris"}', "Wanted: a JSON object"),
        ("{'city': 'Oslo'}", "Wanted: a JSON object"),
        ('{"city": "Oslo", "price": NaN}', "Wanted: a JSON object"),
        (with_city(city=5), "- city: 5 was given; wanted: string"),
        (with_city(city=None), "- city: null was given; wanted: string"),
        (with_city(days=True), "- days: true was given; wanted: integer"),
        (with_city(days="many"), '- days: "many" was given; wanted: integer'),
        (with_city(days=1.5), "- days: 1.5 was given; wanted: integer"),
        (with_city(days="1e999999999"), "wanted: integer"),
        (with_city(days=0), "- days: should be greater than or equal to 1; 0 was given"),
        (with_city(price="1e999"), "- price:"),
        (with_city(urgent=1), "- urgent: 1 was given; wanted: boolean"),
        (with_city(unit="kelvin"), "- unit: should be 'celsius' or 'fahrenheit'; \"kelvin\" was given"),
        (with_city(legs=678), "- legs: 678 was given; wanted: array"),
        (with_city(legs=[{"km": "x"}]), "- legs.0.start: missing; wanted: string"),
        (with_city(legs=[{"km": "x"}]), '- legs.0.km: "x" was given; wanted: integer'),
        (with_city(legs=[5]), "- legs.0: 5 was given; wanted: object"),
        (with_city(note=5), "- note: 5 was given; wanted: string or null"),
        (with_city(on=5), "- on:"),
        (with_city(on="tomorrow"), "- on:"),
    ],
)
def test_what_does_not_fit_is_told_and_not_run(text: str, told: str) -> None:
    """R5, MTC-06, MTC-07, FTC-08: the model is told which field, why and what is allowed; the tool does not run."""
    message = complaint(book, text)
    assert told in message
    assert message.startswith("The tool book was not called")
    for internal in ("pydantic", "validation error", "dict", "instance of", "Leg", "Traceback", "errors."):
        assert internal not in message


def test_a_users_own_validator_speaks_to_the_model() -> None:
    """R5: the message of a ValueError in a validator is told as it is."""

    def even(value: int) -> int:
        if value % 2:
            raise ValueError("an even number is needed")
        return value

    def f(n: Annotated[int, AfterValidator(even)]) -> None: ...

    assert "- n: an even number is needed; 3 was given" in complaint(f, '{"n": 3}')


def test_complaints_are_brief() -> None:
    """R5: at most five complaints are told, and long values are cut."""

    def f(items: list[int], text: int) -> None: ...

    message = complaint(f, json.dumps({"items": ["x"] * 9, "text": "y" * 1000}))
    assert message.count("\n- ") == 6
    assert "- and 5 more" in message
    assert len(message) < 500


def test_unions_are_described_by_their_members() -> None:
    """R5: an error in a union names what is allowed, and not the validator's names of its members."""

    def f(value: int | Leg) -> None: ...

    message = complaint(f, '{"value": "x"}')
    assert '- value: "x" was given; wanted: integer or object' in message
    assert "Leg" not in message


def test_a_union_takes_what_fits_as_it_is() -> None:
    """R5: nothing is repaired where the text itself is allowed."""

    def f(value: int | str) -> Any:
        return value

    assert result(f, '{"value": "5"}') == "5" or FunctionToolCallback(f).call('{"value": "5"}') == "5"


def test_kwargs_are_validated() -> None:
    """`**labels: int` takes further members, each validated and repaired as a parameter is."""

    def f(name: str, **labels: int) -> Any:
        return [name, labels]

    assert result(f, '{"name": "a", "x": 1, "y": "2"}') == ["a", {"x": 1, "y": 2}]
    assert '- x: "b" was given; wanted: integer' in complaint(f, '{"name": "a", "x": "b"}')


def test_kwargs_cannot_take_the_object_of_a_method() -> None:
    """R5: a member called `self` does not collide with the bound object."""

    class Tools:
        def f(self, **more: Any) -> Any:
            return more

    assert result(Tools().f, '{"self": 1, "a": 2}') == {"a": 2}


def test_deep_and_broken_texts_are_told() -> None:
    """R5: nesting beyond all measure and broken unicode end in a text for the model like all else."""
    assert "not called" in complaint(book, with_city()[:-1] + ', "x": ' + "[" * 100_000 + "]" * 100_000 + "}")
    assert "not called" in complaint(book, '{"city": "\\ud800"}')


def test_mutable_defaults_are_not_shared() -> None:
    """A default list that a tool changes is whole again for the next call."""

    def f(items: list[int] = []) -> Any:  # noqa: B006  # what is tried
        items.append(1)
        return items

    callback = FunctionToolCallback(f)
    assert [callback.call("{}"), callback.call("{}")] == ["[1]", "[1]"]
