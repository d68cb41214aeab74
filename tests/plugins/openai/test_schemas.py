"""OpenAI's dialect of JSON schema (OAI-11, R18)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from vernal import ToolDefinition
from vernal.http import decode_json
from vernal_openai.messages import encode_strict_tool
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


def test_alternatives_formats_and_references_are_written_as_strict_mode_wants_them() -> None:
    """Kinds of pydantic's schemas that strict mode refuses and that it has other words for."""
    schema = {
        "type": "object",
        "properties": {
            "pet": {"oneOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "discriminator": {"propertyName": "kind"}},
            "home": {"$ref": "#/$defs/A", "description": "Where."},
            "url": {"type": "string", "format": "uri"},
            "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "description": "Words."},
            "lit": {"enum": ["a", 1, None]},
        },
        "required": ["pet", "home", "url", "tags", "lit"],
        "$defs": {"A": {"type": "object", "properties": {}}},
    }
    strict = strict_schema(schema)
    assert is_strict(strict)
    assert strict["properties"] == {
        "pet": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]},
        "home": {"description": "Where.", "anyOf": [{"$ref": "#/$defs/A"}]},
        "url": {"type": "string", "description": 'format: "uri"'},
        "tags": {"type": "array", "items": {"type": "string"}, "description": "Words. (uniqueItems: true)"},
        "lit": {"enum": ["a", 1, None], "type": ["string", "integer", "null"]},
    }


@pytest.mark.parametrize(
    "part",
    [
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "additionalProperties": True},
        {"type": "array", "prefixItems": [{"type": "integer"}], "maxItems": 1},
        {"type": "array"},
        {"title": "Anything"},
        {"allOf": [{"type": "string"}]},
        {"$ref": "#/$defs/A", "description": "d"},
        {"type": "string", "format": "path"},
    ],
)
def test_what_strict_mode_has_no_words_for_is_not_sent_as_strict(part: dict[str, Any]) -> None:
    """Maps, tuples and anything at all stay what they are: the tool, or the answer, is sent without the flag."""
    schema = {"type": "object", "properties": {"a": part}, "required": ["a"], "additionalProperties": False}
    assert not is_strict(schema)
    if "$ref" not in part and "format" not in part:
        assert not is_strict(strict_schema(schema))
        sent = decode_json(encode_strict_tool(ToolDefinition("f", "", schema)))
        assert sent["function"] == {"name": "f", "parameters": schema}
