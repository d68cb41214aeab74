"""Lines of the specification that the other tests of tools do not carry."""

from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import pytest
from pydantic import Field

from vernal import (
    ChatClient,
    FunctionToolCallback,
    ToolCallback,
    ToolContext,
    ToolDefinition,
    ToolMetadata,
    ToolParam,
    tool,
    tool_callbacks,
)
from vernal.testing import ScriptedChatModel, tool_call
from vernal.tools.conversion import NO_RESULT, DefaultToolCallResultConverter
from vernal.tools.schema import complete_object_schema
from vernal.values.arguments import parse_arguments


class Generics:
    """Tools with generic parameters."""

    @tool
    def entries(self, numbers: dict[str, int]) -> str:
        """Count entries."""
        return f"{len(numbers)} entries processed, {sum(numbers.values())} in all"

    @tool
    def rows(self, rows: list[dict[str, int]]) -> str:
        """Add rows."""
        return str(sum(value for row in rows for value in row.values()))


class Kinds:
    """Tools of every kind of result."""

    def __init__(self) -> None:
        self.done: list[str] = []

    @tool
    def nothing(self) -> None:
        """Do something."""
        self.done.append("nothing")

    @tool
    def say(self, text: str) -> None:
        """Say something."""
        self.done.append(text)

    @tool
    def one(self) -> int:
        """One number."""
        return 1

    @tool
    def many(self) -> list[str]:
        """Many texts."""
        return ["a", "b"]

    @tool
    def anything(self) -> object:
        """Any object."""
        return {"a": 1}


def by_name(*objects: object) -> dict[str, ToolCallback]:
    return {callback.definition.name: callback for callback in tool_callbacks(*objects)}


def test_maps_and_nested_generics_keep_their_element_types() -> None:
    """Values of maps, and of maps in lists, are integers (MTC-02, MTC-03)."""
    tools = by_name(Generics())
    assert tools["entries"].call('{"numbers": {"one": 1, "two": "2"}}') == "2 entries processed, 3 in all"
    assert tools["rows"].call('{"rows": [{"a": 1}, {"b": 2}]}') == "3"


def test_every_kind_of_tool_works_through_a_client() -> None:
    """No arguments, no result, one value, a list and any object (MTC-14, MTP-06)."""
    kinds = Kinds()
    calls = (tool_call("nothing"), tool_call("say", text="hi"), tool_call("one"), tool_call("many"))
    model = ScriptedChatModel([(*calls, tool_call("anything")), "Done."])
    assert ChatClient(model).prompt("?").tools(kinds).call().content() == "Done."
    (*_, answers) = model.requests[-1].messages
    texts = [response.data for response in answers.responses]  # type: ignore[attr-defined]  # the tool message
    assert texts == [NO_RESULT, NO_RESULT, "1", '["a","b"]', '{"a":1}']
    assert sorted(kinds.done) == ["hi", "nothing"]


def test_a_callback_may_ignore_the_context_and_has_plain_metadata() -> None:
    """The default metadata are nothing special; a context is no error for who does not want it (TDU-10)."""

    class Plain(ToolCallback):
        @property
        def definition(self) -> ToolDefinition:
            return ToolDefinition("plain", "Plain.", {"type": "object"})

        def call(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
            return tool_input

    assert Plain().metadata == ToolMetadata()
    assert not Plain().metadata.return_direct
    assert Plain().call("{}", ToolContext({"a": 1})) == "{}"


def test_null_is_no_arguments_and_none_is_written_as_null() -> None:
    """What JSON has for nothing (JSN-01, JSN-03); text behind a value makes it no JSON (other than JSN-08)."""
    assert parse_arguments("null") == {}
    assert parse_arguments(None) == {}
    assert DefaultToolCallResultConverter().convert({"a": None}, dict) == '{"a":null}'
    assert parse_arguments('{"a": 1} and more') is None


def test_parameters_are_required_unless_they_have_a_default() -> None:
    """No marker and a marker without more are both required; pydantic's markers count as ours (SCH-03, SCH-05)."""

    def search(
        plain: str,
        described: Annotated[int, Field(description="How many", ge=1)],
        marked: Annotated[str, ToolParam(description="What for")],
        optional: Annotated[str, Field(description="Where")] = "here",
    ) -> str:
        """Search."""
        return ""

    schema = FunctionToolCallback(search).definition.input_schema
    assert schema["required"] == ["plain", "described", "marked"]
    assert schema["properties"]["described"] == {"description": "How many", "minimum": 1, "type": "integer"}
    assert schema["properties"]["marked"]["description"] == "What for"
    assert schema["properties"]["optional"] == {"default": "here", "description": "Where", "type": "string"}


def test_any_arguments_open_the_schema() -> None:
    """`**kwargs` is how a tool takes additional properties (SCH-08, SCH-11)."""

    def anything(**values: int) -> str:
        """Take anything."""
        return str(values)

    callback = FunctionToolCallback(anything)
    assert callback.definition.input_schema["additionalProperties"] == {"type": "integer"}
    assert callback.call('{"a": "1"}') == "{'a': 1}"


def test_properties_stand_in_the_order_of_declaration() -> None:
    """For classes as for functions (other than SCH-17); types are lower case (other than SCH-09)."""
    schema = FunctionToolCallback(lambda b, a: "", name="x", description="x").definition.input_schema
    assert list(schema["properties"]) == ["b", "a"]
    assert schema["type"] == "object"


def test_a_tool_needs_a_function() -> None:
    """None is refused where a type or a function is wanted (SCH-22, FTC-10)."""
    missing: Any = None
    with pytest.raises((TypeError, ValueError), match="function"):
        FunctionToolCallback(missing, name="x")


@pytest.mark.parametrize(
    ("given", "completed"),
    [
        ({"additionalProperties": False}, {"additionalProperties": False, "type": "object", "properties": {}}),
        ({}, {"type": "object", "properties": {}}),
    ],
)
def test_an_object_schema_is_completed(given: dict[str, Any], completed: dict[str, Any]) -> None:
    """Type and properties are added where they are missing (SCU-02, SCU-06: a schema is a mapping, never text)."""
    assert complete_object_schema(given) == completed


def test_schemas_can_be_made_in_many_threads() -> None:
    """240 at once in twelve threads are all complete (SCU-07, SCH-32)."""

    def make(number: int) -> dict[str, Any]:
        def function(items: list[str], count: int = number) -> str:
            """A tool."""
            return ""

        return dict(FunctionToolCallback(function).definition.input_schema)

    with ThreadPoolExecutor(12) as pool:
        schemas = list(pool.map(make, range(240)))
    assert all(list(schema["properties"]) == ["items", "count"] for schema in schemas)


def test_a_failing_tool_is_logged_with_its_own_frames(caplog: pytest.LogCaptureFixture) -> None:
    """The traceback begins in the tool; what leads to it is the engine (R11)."""

    def broken() -> str:
        """Fails."""
        raise ValueError("out of order")

    model = ScriptedChatModel([tool_call("broken"), "Sorry."])
    assert ChatClient(model).prompt("?").tools(broken).call().content() == "Sorry."
    (record,) = caplog.records
    assert record.exc_info is not None
    trace = record.exc_info[2]
    assert trace is not None
    assert trace.tb_frame.f_code.co_name == "broken"
