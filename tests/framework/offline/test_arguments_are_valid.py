"""Whatever the schema and the prompt: nothing is raised, and what is called satisfies the schema."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from vernal.models.offline import OfflineChatModel
from vernal.models.offline.schemas import NOTHING, accepts, least
from vernal.tools.callback import ToolCallback
from vernal.tools.context import ToolContext
from vernal.tools.definition import ToolDefinition
from vernal.values.messages import AssistantMessage, ToolResponse, ToolResponseMessage, UserMessage
from vernal.values.options import ChatOptions, ToolCallingChatOptions
from vernal.values.prompt import Prompt
from vernal.values.responses import ChatResponse

MODEL = OfflineChatModel(today="2025-03-05")

NAMES = st.sampled_from(
    [
        "city",
        "order_id",
        "amount",
        "from",
        "to",
        "when",
        "text",
        "items",
        "tags",
        "on",
        "priority",
        "size",
        "ünï",
        "x",
        "",
    ]
)
PIECES = st.sampled_from(
    [
        "What is", "the", "weather", "in", "Amsterdam", "and", ",", "Paris", "42", "-3.5", "1e999", "order", "A-17",
        "to", "bob@example.com", "https://example.com/a", "tomorrow", "2025-02-30", "2025-04-01", "12:30", "99:99",
        '"quoted"', "high", "low", "true", "not", "saying", ":", "北京的天气", "{", '{"city": "Rome", "size": 3}',
        "[[[", "\n", "?", "7 / 0", "2 + 3 * (4", "٣", "²", "text", "size", "'", "9" * 320, "50%", "$5",
        "the 3rd", "for 3 days", "İ", "ß",
    ]
)  # fmt: skip
PROMPTS = st.one_of(st.lists(PIECES, max_size=14).map(" ".join), st.text(max_size=60))

NUMBERS = st.one_of(st.integers(-10, 100), st.sampled_from([0.5, -1.5, 2.0]))
SCALARS = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "minLength": st.integers(0, 12),
            "maxLength": st.integers(0, 12),
            "pattern": st.sampled_from(["^[A-Z]", r"\d", "^a+$"]),
            "format": st.sampled_from(["date", "date-time", "email", "uri", "uuid", "time", "duration", "color"]),
            "description": st.sampled_from(["Name of the city", "E-mail address", "The text", ""]),
            "default": st.one_of(st.none(), st.just("x"), st.just(3)),
        },
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={
            "minimum": NUMBERS,
            "maximum": NUMBERS,
            "exclusiveMinimum": NUMBERS,
            "exclusiveMaximum": NUMBERS,
            "multipleOf": st.sampled_from([1, 2, 0.5, 0.1]),
        },
    ),
    st.sampled_from(
        [{"type": "boolean"}, {"type": "null"}, {}, True, False, {"const": 3}, {"type": ["string", "null"]}]
    ),
    st.lists(st.sampled_from(["high", "low", 1, 2.5, True, None, "on"]), max_size=4).map(
        lambda values: {"enum": values}
    ),
    st.sampled_from([{"$ref": "#/$defs/Address"}, {"$ref": "#/$defs/Nothing"}, {"$ref": "#"}, {"$ref": "other.json"}]),
    st.sampled_from([{"not": {"type": "string"}}, {"type": "string", "if": {"const": "a"}, "then": False}]),
)


def _objects(members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(NAMES, members, max_size=4).flatmap(
        lambda properties: st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.just(properties),
                "required": st.lists(st.sampled_from([*properties, "absent"]), max_size=3, unique=True),
            },
            optional={
                "additionalProperties": st.one_of(st.booleans(), st.just({"type": "string"})),
                "minProperties": st.integers(0, 3),
                "allOf": st.just([{"properties": {"city": {"minLength": 3}}, "required": ["city"]}]),
            },
        )
    )


SCHEMAS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        _objects(inner),
        st.fixed_dictionaries(
            {"type": st.just("array"), "items": inner},
            optional={"minItems": st.integers(0, 3), "maxItems": st.integers(0, 3), "uniqueItems": st.booleans()},
        ),
        st.lists(inner, min_size=1, max_size=3).map(lambda options: {"anyOf": options}),
        st.lists(inner, min_size=1, max_size=3).map(lambda options: {"oneOf": options}),
    ),
    max_leaves=6,
)
ADDRESS = {"type": "object", "properties": {"city": {"type": "string"}, "to": {"$ref": "#/$defs/Address"}}}
TOOL_SCHEMAS = _objects(SCHEMAS).map(lambda schema: {**schema, "$defs": {"Address": ADDRESS}})
JSON_VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-5, 5), st.floats(-5, 5), st.sampled_from(["", "a", "high", "2025"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)


class OfferedTool(ToolCallback):
    """A tool that is only looked at."""

    def __init__(self, name: str, schema: Any) -> None:
        self._definition = ToolDefinition(name, "Weather and orders of a city.", schema)

    @property
    def definition(self) -> ToolDefinition:
        return self._definition

    def call(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
        return tool_input


def ask(prompt: Prompt) -> ChatResponse:
    return asyncio.run(MODEL.acall(prompt))


def is_valid(schema: Any, value: Any) -> bool:
    """What jsonschema says; a schema that it cannot read is satisfied by nothing."""
    try:
        return bool(Draft202012Validator(schema).is_valid(value))
    except Exception:  # noqa: BLE001  # of unreadable schemas it raises errors of many libraries
        return False


@settings(deadline=None)
@given(
    schemas=st.lists(TOOL_SCHEMAS, min_size=1, max_size=3),
    prompt=PROMPTS,
    choice=st.sampled_from([None, "required", "tool_0", "none"]),
    result=st.one_of(JSON_VALUES.map(json.dumps), st.text(max_size=20)),
)
def test_arguments_satisfy_the_schema_in_every_round(
    schemas: list[Any], prompt: str, choice: str | None, result: str
) -> None:
    """Every call has arguments that jsonschema accepts, no call is made twice, and the turn comes to an end."""
    tools = [OfferedTool(f"tool_{index}", schema) for index, schema in enumerate(schemas)]
    options = ToolCallingChatOptions(tool_callbacks=tools, tool_choice=choice)
    messages: list[Any] = [UserMessage(prompt)]
    made: list[tuple[str, str]] = []
    for _ in range(8):
        response = ask(Prompt(messages, options))
        for call in response.tool_calls:
            schema = schemas[int(call.name.removeprefix("tool_"))]
            assert is_valid(schema, json.loads(call.arguments)), (schema, call.arguments)
            made.append((call.name, call.arguments))
        if not response.has_tool_calls:
            break
        messages.append(AssistantMessage(None, response.tool_calls))
        messages.append(ToolResponseMessage(ToolResponse(call.id, call.name, result) for call in response.tool_calls))
    assert response.text
    assert len(made) == len(set(made))


@settings(deadline=None)
@given(schema=TOOL_SCHEMAS, prompt=PROMPTS)
def test_output_of_a_schema_satisfies_it(schema: Any, prompt: str) -> None:
    """With `output_schema` the answer is JSON that satisfies it, or else the sentence that says what the model is."""
    response = ask(Prompt(prompt, ChatOptions(output_schema=schema)))
    assert response.text is not None
    if not response.text.startswith("I am vernal's offline model"):
        assert is_valid(schema, json.loads(response.text))


@settings(deadline=None)
@given(schema=st.one_of(SCHEMAS, JSON_VALUES), value=JSON_VALUES)
def test_nothing_is_accepted_that_jsonschema_refuses(schema: Any, value: Any) -> None:
    """`accepts` is at most as generous as jsonschema, and never raises, whatever stands in place of a schema."""
    root = {"$defs": {"Address": ADDRESS}, **schema} if isinstance(schema, dict) else {}
    if accepts(root if root else schema, value, root) and isinstance(schema, dict | bool):
        assert is_valid(root if root else schema, value)


@settings(deadline=None)
@given(schema=SCHEMAS)
def test_the_least_value_satisfies_the_schema(schema: Any) -> None:
    """What stands for an unsaid value satisfies its schema."""
    root = {"$defs": {"Address": ADDRESS}, **schema} if isinstance(schema, dict) else {}
    value = least(root if root else schema, root)
    assert value is NOTHING or is_valid(root if root else schema, value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 1, "maximum": 3},
        {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "^x"}}, "required": ["a"]},
        {"oneOf": [{"type": "integer"}, {"multipleOf": 2}]},
        {"allOf": [{"type": "string"}, {"maxLength": 2}]},
    ],
)
@settings(deadline=None)
@given(value=st.one_of(JSON_VALUES, st.just({"a": "xy"}), st.just(["a", "b"]), st.integers(0, 4), st.just(2.0)))
def test_ordinary_schemas_are_judged_as_jsonschema_does(schema: Any, value: Any) -> None:
    """For what tool schemas usually say, `accepts` and jsonschema agree both ways."""
    Draft202012Validator.check_schema(schema)
    assert accepts(schema, value, schema) == is_valid(schema, value)


@pytest.mark.parametrize(
    "keywords",
    [
        {"properties": 5, "required": {"a": 1}, "allOf": 3},
        {"properties": {"city": {"type": "string", "pattern": "("}}, "required": ["city"]},
        {"properties": {"city": {"type": "town"}}, "required": ["city"]},
        {"properties": {"city": {"type": ["string", 3], "minLength": "two"}}, "required": ["city"]},
        {"properties": {"city": {"anyOf": "x", "enum": 7}}, "required": ["city"]},
        {"properties": {"city": {"$ref": "https://example.com/city"}}, "required": ["city"]},
        {"properties": {"city": {"$ref": "#"}}, "required": ["city"]},
    ],
)
def test_a_schema_that_is_none_is_no_error(keywords: Any) -> None:
    """A tool whose schema has nonsense in it is not called, and the answer still comes."""
    schema = {"type": "object", **keywords}
    assert not is_valid(schema, {"city": "Oslo"})
    response = ask(Prompt("Weather in Oslo", ToolCallingChatOptions(tool_callbacks=[OfferedTool("weather", schema)])))
    assert not response.has_tool_calls
    assert response.text


@pytest.mark.parametrize("name", ["_", "a-b.c", "getX2", "天气", "🌦"])
@pytest.mark.parametrize("prompt", ["", "weather", "find 3", "天气", "🌦 in Oslo", "_"])
def test_names_of_any_kind_are_no_error(name: str, prompt: str) -> None:
    """A tool may have any name that is not blank."""
    schema = {"type": "object", "properties": {name: {"type": "integer"}}, "required": [name]}
    tools = [OfferedTool(name, schema), OfferedTool("find_x", schema)]
    assert ask(Prompt(prompt, ToolCallingChatOptions(tool_callbacks=tools))).generations
