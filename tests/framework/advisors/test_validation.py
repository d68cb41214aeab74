"""Structured output, and the advisor that asks again."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from vernal import (
    HIGHEST_PRECEDENCE,
    LOWEST_PRECEDENCE,
    ChatClient,
    ChatResponse,
    ChatResponseMetadata,
    StructuredOutputError,
    StructuredOutputValidationAdvisor,
    Usage,
    UsageError,
    tool,
)
from vernal.testing import ScriptedChatModel, tool_call


class Person(BaseModel):
    name: str
    age: int


@dataclass
class Point:
    x: int
    y: int = 0


class Movie(TypedDict):
    title: str


GOOD, BAD = '{"name": "Ada", "age": 36}', '{"name": "Ada", "age": "thirty"}'
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def used(text: str, prompt: int, completion: int) -> ChatResponse:
    usage = Usage(prompt, completion)
    return ChatResponse(ChatResponse.of(text).generations, ChatResponseMetadata(usage=usage))


def ask(script: list[Any], **options: Any) -> tuple[ScriptedChatModel, ChatResponse]:
    model = ScriptedChatModel(script)
    advisor = StructuredOutputValidationAdvisor(**({"output_type": Person} | options))
    response = ChatClient(model).prompt("Who?").advisors(advisor).call().chat_response()
    assert response is not None
    return model, response


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "Either output_type or output_json_schema must be set"),
        ({"output_type": Person, "output_json_schema": SCHEMA}, "not both"),
        ({"output_type": Person, "advisor_order": HIGHEST_PRECEDENCE}, "must be between"),
        ({"output_type": Person, "advisor_order": LOWEST_PRECEDENCE}, "must be between"),
        ({"output_type": Person, "max_repeat_attempts": -1}, "greater than or equal to 0"),
        ({"output_json_schema": "{"}, "Failed to parse JSON schema"),
        ({"output_json_schema": {"type": "nonsense"}}, "Failed to parse JSON schema"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, Any], said: str) -> None:
    """Type or schema, not both; attempts and order in range (SOV-01)."""
    with pytest.raises(ValueError, match=said):
        StructuredOutputValidationAdvisor(**options)


def test_defaults() -> None:
    """Three attempts, behind all but the model, under its own name (SOV-01, SOV-13)."""
    advisor = StructuredOutputValidationAdvisor(output_json_schema=SCHEMA)
    assert (advisor.max_repeat_attempts, advisor.order) == (3, LOWEST_PRECEDENCE - 2000)
    assert advisor.name == "Structured Output Validation Advisor"
    assert StructuredOutputValidationAdvisor(output_type=Person, advisor_order=5).order == 5


@pytest.mark.parametrize(
    ("script", "attempts", "asked", "text"),
    [
        ([GOOD], 3, 1, GOOD),
        ([BAD, GOOD], 2, 2, GOOD),
        ([BAD, BAD, BAD], 2, 3, BAD),
        ([BAD], 0, 1, BAD),
        (["", "  ", "not json at all", '{"name"', GOOD], 4, 5, GOOD),
        (['{"name": "Ada"}', f"```json\n{GOOD}\n```"], 3, 2, f"```json\n{GOOD}\n```"),
    ],
)
def test_it_asks_until_the_answer_is_valid(script: list[str], attempts: int, asked: int, text: str) -> None:
    """Valid answers go back, invalid ones are asked for again, the last goes back as it is (SOV-03..06, SOV-08)."""
    model, response = ask(list(script), max_repeat_attempts=attempts)
    assert len(model.requests) == asked
    assert response.text == text


@pytest.mark.parametrize("script", [[used(BAD, 10, 20), used(GOOD, 1, 2)], [used(BAD, 10, 20), used(BAD, 1, 2)]])
def test_usage_is_summed_over_the_attempts(script: list[ChatResponse]) -> None:
    """Success and exhaustion both cost what all attempts cost (SOV-07, R22)."""
    _, response = ask(script, max_repeat_attempts=1)
    usage = response.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (11, 22, 33)


def test_the_complaint_follows_the_users_text_and_does_not_pile_up() -> None:
    """Each repetition is made from the original prompt (SOV-09)."""
    model, _ = ask([BAD, '{"age": 1}', GOOD])
    texts = [request.user_message.text for request in model.requests]
    assert texts[0] == "Who?"
    assert texts[1].startswith("Who?\nOutput JSON validation failed because of: age: ")
    assert texts[2].startswith("Who?\nOutput JSON validation failed because of: name: ")
    assert "age: Input" not in texts[2]


def test_a_schema_is_validated_with_its_nested_parts() -> None:
    """A JSON schema judges lists and nested objects too (SOV-10)."""
    schema = {"type": "array", "items": SCHEMA}
    model, response = ask(
        ['[{"name": 1}]', '[{"name": "Ada"}]'], output_type=None, output_json_schema=schema, max_repeat_attempts=1
    )
    assert response.text == '[{"name": "Ada"}]'
    assert "0.name" in model.requests[1].user_message.text


def test_tool_calls_pass_and_no_tool_runs_again() -> None:
    """Inside the loop each round's final text is judged, tool calls pass at once (SOV-14, SOV-15)."""
    ran = []

    @tool
    def look_up() -> str:
        """Look the person up."""
        ran.append(1)
        return "Ada, 36"

    model = ScriptedChatModel([tool_call("look_up"), BAD, GOOD])
    advisor = StructuredOutputValidationAdvisor(output_type=Person)
    assert ChatClient(model).prompt("Who?").tools(look_up).advisors(advisor).call().content() == GOOD
    assert (len(model.requests), ran) == (3, [1])


def test_a_stream_is_refused_when_it_is_read() -> None:
    """What has gone out cannot be asked for again (SOV-12)."""
    advisor = StructuredOutputValidationAdvisor(output_type=Person)
    texts = ChatClient(ScriptedChatModel([GOOD])).prompt("Who?").advisors(advisor).stream().content()
    with pytest.raises(UsageError, match="does not support streaming"):
        next(texts)


ENTITIES: list[tuple[Any, str, Any]] = [
    (Person, GOOD, Person(name="Ada", age=36)),
    (Person, f"```json\n{GOOD}\n```", Person(name="Ada", age=36)),
    (Point, '{"x": 1}', Point(1)),
    (Movie, '{"title": "M"}', {"title": "M"}),
    (list[int], '{"value": [1, 2]}', [1, 2]),
    (list[int], "[1, 2]", [1, 2]),
    (list[Person], f'{{"value": [{GOOD}]}}', [Person(name="Ada", age=36)]),
    (int | str, '{"value": "x"}', "x"),
    (bool, '{"value": true}', True),
    (Person | Point, '{"value": {"x": 1, "y": 2}}', Point(1, 2)),
]


@pytest.mark.parametrize(("kind", "text", "wanted"), ENTITIES)
def test_an_entity_is_an_object_of_the_wanted_type(kind: Any, text: str, wanted: object) -> None:
    """Models, dataclasses, TypedDicts, lists, unions and scalars, in both faces."""
    model = ScriptedChatModel([text, text])
    client = ChatClient(model)
    assert client.prompt("Who?").call().entity(kind) == wanted
    assert asyncio.run(client.prompt("Who?").acall().entity(kind)) == wanted
    assert "JSON schema" in model.requests[0].user_message.text


def test_an_answer_of_another_form_is_an_error_with_the_reasons() -> None:
    """The error says what does not fit, without the input's content, and has the text."""
    with pytest.raises(StructuredOutputError, match=r"no Person: age: Input should be a valid integer") as raised:
        ChatClient(ScriptedChatModel([BAD])).prompt("Who?").call().entity(Person)
    assert raised.value.text == BAD


def test_an_entity_can_be_asked_for_again() -> None:
    """`repeat_attempts` puts the validating advisor into the chain of this turn (SOV-15)."""
    model = ScriptedChatModel([BAD, GOOD])
    assert ChatClient(model).prompt("Who?").call().entity(Person, repeat_attempts=1).age == 36


def test_an_entity_must_be_the_first_terminal() -> None:
    """It changes the request, so it cannot come after the turn has run."""
    turn = ChatClient(ScriptedChatModel([GOOD])).prompt("Who?").call()
    turn.content()
    with pytest.raises(UsageError, match="first terminal"):
        turn.entity(Person)


def test_a_model_with_native_output_gets_the_schema_as_an_option() -> None:
    """No words are spent where the service takes a schema."""

    class Native(ScriptedChatModel):
        native_structured_output = True

    model = Native([GOOD])
    assert ChatClient(model).prompt("Who?").call().entity(Person).name == "Ada"
    options = model.requests[0].options
    assert options is not None
    assert options.output_schema is not None
    assert options.output_schema["required"] == ["name", "age"]
    assert model.requests[0].user_message.text == "Who?"
