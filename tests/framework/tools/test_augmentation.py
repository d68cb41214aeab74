"""Tools that ask the model for more than they take themselves."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from vernal import (
    AugmentedArguments,
    AugmentedToolCallback,
    ChatClient,
    ToolCallback,
    ToolContext,
    ToolDefinition,
    ToolMetadata,
    augmented_tools,
    tool,
)
from vernal.testing import ScriptedChatModel, tool_call
from vernal.tools.exceptions import InvalidToolError, ToolArgumentsError


@dataclass
class Thought:
    name: Annotated[str, Field(description="Who asks")]
    age: int = 0


class Reason(BaseModel):
    reason: str = Field(description="Why the tool is called")


SCHEMA = {
    "$id": "x",
    "type": "object",
    "title": "T",
    "properties": {"originalField": {"type": "integer", "minimum": 1}},
    "required": ["originalField"],
    "additionalProperties": False,
}


class Delegate(ToolCallback):
    """Keeps what it is called with."""

    def __init__(self, schema: dict[str, Any] | None = None) -> None:
        self.schema = SCHEMA if schema is None else schema
        self.calls: list[tuple[str, ToolContext | None]] = []

    @property
    def definition(self) -> ToolDefinition:
        return ToolDefinition("search", "Search.", self.schema)

    @property
    def metadata(self) -> ToolMetadata:
        return ToolMetadata(return_direct=True, effects="write")  # type: ignore[arg-type]  # a str becomes the member

    async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
        self.calls.append((tool_input, tool_context))
        return "found"


GIVEN = '{"originalField": 7, "name": "John", "age": 30}'


@pytest.mark.parametrize("wrong", [None, int, dict, "Thought"])
def test_only_dataclasses_and_models_can_be_asked_for(wrong: Any) -> None:
    """Another kind of type, or none, is refused (AUG-01, AUG-03, AUG-12); a schema that is none is the tool's own
    error, since schemas are mappings (AUG-16)."""
    with pytest.raises(InvalidToolError, match="dataclass or a pydantic model"):
        AugmentedToolCallback(Delegate(), wrong)


def test_a_type_without_fields_and_a_missing_delegate_are_refused() -> None:
    """There must be something to ask for, and a tool to wrap (AUG-01, AUG-03)."""

    @dataclass
    class Empty:
        pass

    with pytest.raises(InvalidToolError, match="no fields"):
        AugmentedToolCallback(Delegate(), Empty)
    missing: Any = None
    with pytest.raises(TypeError, match="delegate"):
        AugmentedToolCallback(missing, Thought)


def test_fields_that_the_tool_has_already_are_refused() -> None:
    """The tool's own argument would be taken away from it."""

    @dataclass
    class Clash:
        originalField: int  # noqa: N815  # the name is what the test is about

    with pytest.raises(InvalidToolError, match="originalField"):
        AugmentedToolCallback(Delegate(), Clash)


def test_the_schema_has_both_and_keeps_all_else() -> None:
    """Name and description stay, new fields are added (AUG-02, AUG-04, AUG-11, AUG-13, AUG-17, AUG-18)."""
    definition = AugmentedToolCallback(Delegate(), Thought).definition
    assert (definition.name, definition.description) == ("search", "Search.")
    assert definition.input_schema == {
        **SCHEMA,
        "properties": {
            "originalField": {"type": "integer", "minimum": 1},
            "name": {"type": "string", "description": "Who asks"},
            "age": {"type": "integer", "default": 0},
        },
        "required": ["originalField", "name"],
    }
    assert "required" in SCHEMA
    assert SCHEMA["required"] == ["originalField"]


def test_a_schema_without_properties_gets_some() -> None:
    """Properties and required are made where there are none (AUG-14); no empty description appears (AUG-15)."""
    schema = AugmentedToolCallback(Delegate({"type": "object"}), Reason).definition.input_schema
    assert schema["properties"] == {"reason": {"type": "string", "description": "Why the tool is called"}}
    assert schema["required"] == ["reason"]


@pytest.mark.parametrize(("remove", "passed"), [(True, {"originalField": 7}), (False, json.loads(GIVEN))])
def test_the_consumer_gets_the_extra_arguments_and_the_tool_the_rest(remove: bool, passed: dict[str, Any]) -> None:
    """Parsed for the consumer; removed from the tool's input, or left as they came (AUG-05, AUG-06, AUG-07, AUG-09)."""
    delegate, told = Delegate(), list[AugmentedArguments[Thought]]()
    callback = AugmentedToolCallback(delegate, Thought, told.append, remove=remove)
    context = ToolContext({"tenant": "acme"})
    assert callback.call(GIVEN, context) == "found"
    assert told == [AugmentedArguments(callback.definition, GIVEN, Thought("John", 30))]
    ((tool_input, given_context),) = delegate.calls
    assert json.loads(tool_input) == passed
    assert given_context is context
    assert remove or tool_input == GIVEN


def test_the_consumer_may_be_absent_or_asynchronous() -> None:
    """Without one the tool runs all the same (AUG-08)."""
    delegate, told = Delegate(), list[str]()

    async def consume(given: AugmentedArguments[Thought]) -> None:
        await asyncio.sleep(0)
        told.append(given.arguments.name)

    AugmentedToolCallback(delegate, Thought).call(GIVEN)
    AugmentedToolCallback(delegate, Thought, consume).call(GIVEN)
    assert told == ["John"]
    assert len(delegate.calls) == 2


def test_extra_arguments_that_do_not_fit_are_told_to_the_model() -> None:
    """The tool does not run (R5)."""
    delegate = Delegate()
    with pytest.raises(ToolArgumentsError, match=r"age: .*integer"):
        AugmentedToolCallback(delegate, Thought).call('{"name": "John", "age": "many"}')
    assert not delegate.calls


def test_metadata_and_origin_are_the_delegates() -> None:
    """A direct tool stays direct (AUG-10)."""
    delegate = Delegate()
    callback = AugmentedToolCallback(delegate, Thought)
    assert callback.metadata == delegate.metadata
    assert callback.origin == delegate.origin


@dataclass
class Weather:
    asked: list[str] = field(default_factory=list)

    @tool
    def get_weather(self, city: str) -> str:
        """Weather of a city."""
        self.asked.append(city)
        return "sunny"


def test_tools_of_an_object_can_ask_why() -> None:
    """In a turn the reasons are consumed, and the tools get their own arguments only."""
    reasons: list[str] = []
    weather = Weather()
    tools = augmented_tools(
        weather, argument_type=Reason, consumer=lambda given: reasons.append(given.arguments.reason)
    )
    model = ScriptedChatModel([tool_call("get_weather", city="Oslo", reason="a trip"), "Sunny."])
    assert ChatClient(model).prompt("?").tools(*tools).call().content() == "Sunny."
    assert (weather.asked, reasons) == (["Oslo"], ["a trip"])
