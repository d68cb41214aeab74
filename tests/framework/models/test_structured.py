"""Types that are wanted as answers, and their schemas."""

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from vernal.models.structured import SchemaOutput, StructuredOutput, StructuredOutputError


class Tree(BaseModel):
    """A type that refers to itself."""

    name: str
    children: list["Tree"] = []


def test_a_type_that_refers_to_itself_has_an_object_at_its_root() -> None:
    """Services want an object there, not a reference to one (R18)."""
    output = StructuredOutput(Tree)
    assert output.schema["type"] == "object"
    assert "$ref" not in output.schema
    value = {"name": "a", "children": [{"name": "b", "children": []}]}
    Draft202012Validator(output.schema).validate(value)
    assert not Draft202012Validator(output.schema).is_valid({"name": "a", "children": [{}]})
    assert output.convert('{"name": "a", "children": [{"name": "b"}]}').children[0].name == "b"


TREE = '{"name": "oak"}'


@pytest.mark.parametrize(
    "answer",
    [
        TREE,
        f"```json\n{TREE}\n```",
        f"Here it is:\n```json\n{TREE}\n```\nAnything else?",
        f"Here it is: {TREE} Anything else?",
        f'<think>Perhaps {{"name": 1}}, or [x], or {{</think>{TREE}',
        f'First I had {{"name": "elm"}}. Now: {TREE}',
        f'{{"note": "draft"}}\n{TREE}\n[1]',
    ],
)
def test_the_object_is_found_in_what_the_model_says_around_it(answer: str) -> None:
    """Models explain and think beside the JSON they were asked for; the last that fits counts (Instructor)."""
    assert StructuredOutput(Tree).convert(answer).name == "oak"
    assert SchemaOutput(StructuredOutput(Tree).schema).faults(answer) == []


@pytest.mark.parametrize(
    "answer", ["No idea.", "Some [brackets] and {braces}.", '{"name": 1} or {"name": 2}', "[" * 9999]
)
def test_what_fits_nowhere_is_refused(answer: str) -> None:
    """The reasons are those of the last object, or that there is none."""
    with pytest.raises(StructuredOutputError, match=r"is no JSON|name: Input should be a valid string"):
        StructuredOutput(Tree).convert(answer)


def test_a_wrapped_value_is_found_too() -> None:
    """A list travels as `{"value": …}`, or as itself."""
    assert StructuredOutput(list[int]).convert('Sure: {"value": [1, 2]}') == [1, 2]
    assert StructuredOutput(list[int]).convert("Sure: [1, 2]") == [1, 2]
