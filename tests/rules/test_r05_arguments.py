"""R5: arguments are bound and validated before the tool is called; what does not bind is told to the model."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.rules.strategies import ALL_FORMS, ARGUMENTS

from vernal import (
    ChatClient,
    ChatResponse,
    DefaultToolCallingManager,
    DefaultToolExecutionExceptionProcessor,
    FunctionToolCallback,
    ToolCall,
    ToolCallingAdvisor,
    ToolResponseMessage,
)
from vernal.testing import ScriptedChatModel

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
MEMBERS = st.fixed_dictionaries(
    {},
    optional={
        "n": st.one_of(st.integers(0, 3), st.sampled_from(["1", "x", 1.0, 1.5, None, True]), JSON),
        "kind": st.sampled_from(["a", "b", "c", 1, None]),
        "many": st.one_of(st.lists(st.integers(), max_size=2), st.just("[1]"), JSON),
        "other": JSON,
    },
)
TEXTS = st.one_of(
    MEMBERS.map(json.dumps),
    MEMBERS.map(lambda members: json.dumps(json.dumps(members))),
    MEMBERS.map(lambda members: f"```json\n{json.dumps(members)}\n```"),
    ARGUMENTS,
    st.text(max_size=12),
    st.integers(0, 1200).map(lambda depth: '{"many": ' + "[" * depth + "]" * depth + "}"),
    st.integers(0, 1200).map(lambda depth: '{"n": ' + '{"n":' * depth + "1" + "}" * depth + "}"),
    st.integers(0, 5000).map(lambda digits: f'{{"n": 1{"0" * digits}}}'),
    st.just('{"kind": "\\ud800", "n": 1}'),
)
INTERNALS = ("Traceback", "pydantic", "jsonschema", "TypedDict", "JSONDecodeError", "RecursionError", "<locals>")


@given(text=TEXTS)
def test_whatever_the_arguments_are_the_tool_gets_what_it_declares_or_the_model_is_told(text: str) -> None:
    """R5: under the strictest policy nothing ends the run; what reaches the tool is of the declared types; what does
    not is an error of a few lines without Python's internals; every form does the same."""
    told = []
    for form in ALL_FORMS:
        got: list[tuple[Any, ...]] = []

        def take(n: int, kind: Literal["a", "b"] = "a", many: list[int] | None = None) -> str:
            """Take."""
            got.append((n, kind, many))  # noqa: B023  # read within the loop
            return "taken"

        processor = DefaultToolExecutionExceptionProcessor(always_throw=True)
        manager = DefaultToolCallingManager(tool_execution_exception_processor=processor)
        model = ScriptedChatModel([ChatResponse.of(tool_calls=[ToolCall("1", "take", text)]), "done"])
        client = ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(tool_calling_manager=manager)).build()
        assert form.ask(client.prompt("Go on.").tools(take)).text == "done"
        message = model.requests[-1].messages[-1]
        assert isinstance(message, ToolResponseMessage)
        [response] = message.responses
        assert response.is_error == (not got)
        assert len(response.data) < 1200
        assert not any(internal in response.data for internal in INTERNALS)
        for n, kind, many in got:
            assert type(n) is int
            assert kind in ("a", "b")
            assert many is None or all(type(item) is int for item in many)
        told.append((response.data, got))
    assert all(each == told[0] for each in told)


SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "minimum": 0},
        "kind": {"enum": ["a", "b", None]},
        "many": {"type": "array", "items": {"type": "number"}},
    },
    "required": ["n"],
}


@given(members=MEMBERS)
def test_a_hand_written_schema_bounds_what_reaches_the_tool(members: dict[str, Any]) -> None:
    """R5: what the tool gets satisfies the schema, whatever harmless form it came in; what satisfies it gets there."""
    got: list[dict[str, Any]] = []

    def take(**values: Any) -> str:
        """Take."""
        got.append(values)
        return "taken"

    callback = FunctionToolCallback(take, input_schema=SCHEMA)
    text = json.dumps(members)
    model = ScriptedChatModel([ChatResponse.of(tool_calls=[ToolCall("1", "take", text)]), "done"])
    assert ChatClient(model).prompt("Go on.").tools(callback).call().content() == "done"
    valid = Draft202012Validator(SCHEMA)
    for values in got:
        assert valid.is_valid(values)
    if valid.is_valid(members) and "NaN" not in text and "Infinity" not in text:
        assert got == [members]
