"""OpenAI's dialect of JSON schema (OAI-11, R18)."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from vernal_openai.schemas import closed_schema, is_strict, strict_schema, without_added_nulls

LEAVES: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer", "default": 3},
        {"type": ["string", "null"]},
        {"enum": ["a", "b"], "description": "which"},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"$ref": "#/$defs/Part"},
    ]
)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    """Schemas of objects with some of their properties required."""
    properties = draw(st.dictionaries(st.sampled_from("abcd"), inner, max_size=4))
    required = draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
    return {"type": "object", "properties": properties, "required": required}


INNER = st.recursive(
    LEAVES, lambda inner: objects(inner) | inner.map(lambda items: {"type": "array", "items": items}), max_leaves=6
)
PART = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}, "required": ["x"]}
SCHEMAS = objects(INNER).map(lambda schema: {**schema, "$defs": {"Part": PART}})


@given(SCHEMAS)
def test_every_schema_becomes_one_that_strict_mode_takes(schema: dict[str, Any]) -> None:
    """All properties are required, none other is allowed, whatever was optional takes null."""
    before = repr(schema)
    strict = strict_schema(schema)
    Draft202012Validator.check_schema(strict)
    assert is_strict(strict)
    assert "default" not in repr(strict)
    assert repr(schema) == before
    nulls = {name: None for name in schema["properties"] if name not in schema["required"]}
    strict_optional = {**strict, "required": [], "properties": {n: strict["properties"][n] for n in nulls}}
    assert Draft202012Validator(strict_optional).is_valid(nulls)


def test_nulls_that_stand_for_nothing_are_taken_out_again() -> None:
    """A null for what was optional is as good as nothing, one that the tool takes stays (R18)."""
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": ["string", "null"]},
            "c": {"type": "object", "properties": {"d": {"type": "string"}}},
            "e": {"type": "string"},
        },
        "required": ["e"],
    }
    assert without_added_nulls({"a": None, "b": None, "c": {"d": None}, "e": None, "z": None}, schema) == {
        "b": None,
        "c": {},
        "e": None,
        "z": None,
    }
    assert without_added_nulls([1], schema) == [1]


def test_objects_are_closed_unless_they_say_otherwise() -> None:
    """Closing adds `additionalProperties: false` to objects with properties, and to nothing else."""
    schema = {"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {"type": "string"}}}}
    assert closed_schema(schema) == {**schema, "additionalProperties": False}
