"""Types that are wanted as answers, and their schemas."""

from jsonschema import Draft202012Validator
from pydantic import BaseModel

from vernal.models.structured import StructuredOutput


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
