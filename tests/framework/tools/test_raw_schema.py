"""Tools with an input of their own: a hand-written JSON schema, or one whole value (FTC, R5)."""

import json
from typing import Any

import pytest
from pydantic import BaseModel

from vernal.tools.context import NO_CONTEXT, ToolContext
from vernal.tools.exceptions import InvalidToolError, ToolArgumentsError, ToolExecutionException
from vernal.tools.function import FunctionToolCallback

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2},
        "days": {"type": "integer"},
        "unit": {"enum": ["c", "f"]},
        "legs": {"type": "array", "items": {"type": "object", "required": ["km"]}},
    },
    "required": ["city"],
    "additionalProperties": False,
}


def echo(**arguments: Any) -> Any:
    return arguments


def raw(schema: dict[str, Any] = SCHEMA) -> FunctionToolCallback:
    return FunctionToolCallback(echo, name="raw", input_schema=schema)


def complaint(callback: FunctionToolCallback, text: str) -> str:
    with pytest.raises(ToolExecutionException) as caught:
        callback.call(text)
    assert isinstance(caught.value.__cause__, ToolArgumentsError)
    return str(caught.value)


def test_arguments_are_passed_by_name_as_they_are() -> None:
    """FTC-11: the given schema is what the model is shown, and its members are the keyword arguments."""
    assert raw().definition.input_schema == SCHEMA
    assert json.loads(raw().call('{"city": "Oslo", "days": 2}')) == {"city": "Oslo", "days": 2}


def test_harmless_forms_are_accepted_here_too() -> None:
    """R5: the same forms as for typed parameters."""
    given = json.dumps({"city": "Oslo", "days": "2", "unit": None, "legs": '[{"km": 1}]'})
    assert json.loads(raw().call(f"```\n{given}\n```")) == {"city": "Oslo", "days": 2, "legs": [{"km": 1}]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "- city: missing; wanted: string"),
        ("{", "Wanted: a JSON object with the members city, days, unit, legs"),
        ('{"city": 5}', "- city: 5 was given; wanted: string"),
        ('{"city": "x"}', '- city: breaks the rule minLength: 2; "x" was given'),
        ('{"city": "xx", "unit": "k"}', '- unit: should be "c" or "f"; "k" was given'),
        ('{"city": "xx", "legs": [{}]}', "- legs.0.km: missing"),
        ('{"city": "xx", "more": 1}', "- the arguments: has unknown members; known are city, days, unit, legs"),
    ],
)
def test_what_does_not_fit_is_told(text: str, told: str) -> None:
    """R5: the model is told which field, why and what is allowed."""
    assert told in complaint(raw(), text)


def test_alternatives_are_told() -> None:
    """R5: of `anyOf` the trouble with each alternative is told."""
    callback = raw({"properties": {"x": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}}})
    assert "- x: [] was given; wanted: integer or boolean" in complaint(callback, '{"x": []}')


def test_only_what_the_function_takes_is_passed() -> None:
    """R5: members that the schema allows and the function does not know are ignored; a context is injected."""

    def f(city: str, context: ToolContext, days: int = 1) -> Any:
        return [city, days, context is NO_CONTEXT]

    callback = FunctionToolCallback(f, input_schema={"properties": {"city": {"type": "string"}}})
    assert json.loads(callback.call('{"city": "Oslo", "other": 1, "context": 2}')) == ["Oslo", 1, True]
    assert "- city: missing; wanted: string" in complaint(callback, "{}")


def test_a_schema_without_what_the_function_needs_is_refused() -> None:
    """R17: at registration, with the name of the parameter."""

    def f(city: str) -> None: ...

    with pytest.raises(InvalidToolError, match="tool 'f' has no property 'city', which its function needs"):
        FunctionToolCallback(f, input_schema={"type": "object", "properties": {}})


def test_what_is_no_schema_is_refused() -> None:
    """A text is refused at registration; a mapping that is no JSON schema when it is first needed."""
    with pytest.raises(InvalidToolError, match="a mapping"):
        FunctionToolCallback(echo, input_schema='{"type": "object"}')  # type: ignore[arg-type]  # what is tried
    with pytest.raises(ToolExecutionException, match="no JSON schema") as caught:
        raw({"type": "objekt"}).call("{}")
    assert isinstance(caught.value.__cause__, InvalidToolError)


def test_references_reach_no_network() -> None:
    """R28: a remote reference in a schema is an error, not a request."""
    callback = raw({"properties": {"x": {"$ref": "http://127.0.0.1:1/schema.json"}}})
    with pytest.raises(ToolExecutionException, match="Unresolvable"):
        callback.call('{"x": 1}')


class Request(BaseModel):
    city: str
    days: int = 1


def test_one_value_takes_the_whole_input() -> None:
    """FTC-02, FTC-03, FTC-11: with input_type, the function takes one value of that type, and the context by type."""

    def f(request: Request, context: ToolContext) -> Any:
        return [type(request).__name__, request.city, request.days, dict(context)]

    callback = FunctionToolCallback(f, input_type=Request)
    assert callback.definition.input_schema["required"] == ["city"]
    assert callback.definition.input_schema["type"] == "object"
    got = callback.call('{"city": "Oslo", "days": "3"}', ToolContext({"a": 1}))
    assert json.loads(got) == ["Request", "Oslo", 3, {"a": 1}]
    assert "- city: missing; wanted: string" in complaint(callback, "")


def test_plain_values_may_be_the_whole_input() -> None:
    """FTC-01, FTC-07: a JSON string is decoded, and an empty one is a value."""
    received: list[str] = []
    callback = FunctionToolCallback(received.append, name="note", input_type=str)
    callback.call('"test string param"')
    callback.call('""')
    assert received == ["test string param", ""]
    assert "not called" in complaint(callback, "5")
    assert "not called" in complaint(callback, "nill")


def test_a_supplier_runs_whatever_the_input() -> None:
    """FTC-04: a function without parameters needs no input."""
    callback = FunctionToolCallback(lambda: 7, name="seven", input_type=Request)
    assert callback.call("anything") == "7"


def test_a_schema_beside_the_type_is_what_the_model_sees() -> None:
    """FTC-11: an explicit schema wins over generation; both are checked."""

    def f(request: Request) -> Any:
        return request.city

    schema = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 4}}}
    callback = FunctionToolCallback(f, input_type=Request, input_schema=schema)
    assert callback.definition.input_schema == schema
    assert callback.call('{"city": "Oslo"}') == "Oslo"
    assert "breaks the rule maxLength: 4" in complaint(callback, '{"city": "Amsterdam"}')
    assert "- city: missing" in complaint(callback, "{}")


def test_a_function_of_two_values_is_refused() -> None:
    """FTC-10: with input_type there is but one argument."""

    def f(a: str, b: str) -> None: ...

    with pytest.raises(InvalidToolError, match="it also needs 'b'"):
        FunctionToolCallback(f, input_type=str)
    with pytest.raises(InvalidToolError, match="of tool 'f' has no JSON form"):
        FunctionToolCallback(lambda x: x, name="f", input_type=type("Odd", (), {}))
