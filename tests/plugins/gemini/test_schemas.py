"""Gemini's dialect of JSON schema (R18)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from vernal_gemini.schemas import KNOWN, KNOWN_IN_JSON, gemini_schema, json_schema, schema_member


class Node(BaseModel):
    """A node of a tree."""

    name: str
    children: list["Node"] = Field(default=[], max_length=9)
    parent: "Node | None" = None


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"type": ["string", "null"]}, {"nullable": True, "type": "string"}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"nullable": True, "type": "integer"}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"const": "a"}, {"enum": ["a"], "type": "string"}),
        ({"enum": [1, 2]}, {"description": "one of [1,2]", "type": "integer"}),
        ({"enum": ["a", None]}, {"enum": ["a"], "nullable": True, "type": "string"}),
        ({"type": "string", "format": "date"}, {"type": "string", "description": 'format: "date"'}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"type": "number", "multipleOf": 2}, {"type": "number", "description": "multipleOf: 2"}),
        ({"type": "object", "additionalProperties": False, "$schema": "x"}, {"type": "object"}),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"allOf": [{"type": "string"}], "description": "d"}, {"type": "string", "description": "d"}),
    ],
)
def test_a_schema_is_written_in_the_dialect(schema: dict[str, Any], wanted: dict[str, Any]) -> None:
    """What the dialect has no word for is told in the description."""
    assert gemini_schema(schema) == wanted


def test_references_are_written_out() -> None:
    """The dialect knows none; what stands beside a reference goes before what it refers to."""
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/City", "description": "Where to."}},
        "$defs": {"City": {"type": "string", "description": "A city."}},
    }
    assert gemini_schema(schema)["properties"]["a"] == {"type": "string", "description": "Where to."}


def test_a_schema_that_refers_to_itself_ends() -> None:
    """After a few levels it is any object; the text stays small."""
    written = gemini_schema(Node.model_json_schema())
    assert len(json.dumps(written)) < 10_000
    assert "$ref" not in json.dumps(written)


def test_what_the_dialect_has_no_words_for_is_sent_as_json_schema() -> None:
    """Maps, tuples and trees: the service refuses objects without properties and lists without items in its dialect."""
    for part in (
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "array", "prefixItems": [{"type": "integer"}]},
        {"anyOf": [{"type": "object", "properties": {}}, {"type": "null"}]},
    ):
        schema = {"type": "object", "properties": {"a": part}, "required": ["a"]}
        assert schema_member("parameters", schema) == {"parametersJsonSchema": schema}
    assert list(schema_member("responseSchema", Node.model_json_schema())) == ["responseJsonSchema"]
    plain = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert schema_member("parameters", plain) == {"parameters": plain}


def test_json_schema_has_only_words_that_the_service_knows() -> None:
    """Others are told in words, and nothing stands beside a reference."""
    schema = {
        "properties": {
            "a": {"$ref": "#/$defs/A", "description": "Where."},
            "b": {"const": "x", "type": "string"},
            "c": {"type": "string", "pattern": "^a", "maxLength": 5},
            "d": {"type": "integer", "exclusiveMinimum": 0, "default": 4},
        },
        "$defs": {"A": {"type": "object", "additionalProperties": True}},
    }
    written = json_schema(schema)
    assert written["properties"] == {
        "a": {"description": "Where.", "anyOf": [{"$ref": "#/$defs/A"}]},
        "b": {"type": "string", "enum": ["x"]},
        "c": {"type": "string", "description": 'pattern: "^a", maxLength: 5'},
        "d": {"type": "integer", "description": "exclusiveMinimum: 0"},
    }
    assert written["$defs"] == schema["$defs"]
    assert all(part.keys() <= KNOWN_IN_JSON for part in written["properties"].values())


def test_objects_say_that_they_are_and_require_only_what_they_have() -> None:
    """Tools of other makers leave out the type, and require names that no property has."""
    schema = {"properties": {"a": {"type": "string"}}, "required": ["a", "b"]}
    assert gemini_schema(schema) == {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


KINDS = st.sampled_from(["string", "integer", "number", "boolean", "null"])
SEVERAL = st.lists(KINDS, min_size=1, max_size=3, unique=True)
NAMES = st.text(max_size=4)
SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {"type": KINDS | st.lists(KINDS, min_size=1, max_size=3, unique=True)}, optional={"const": st.integers()}
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}, optional={"uniqueItems": st.booleans()}),
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(st.text(max_size=4), inner, max_size=3)}
        ),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
    ),
    max_leaves=8,
)


@given(SCHEMAS)
def test_every_schema_has_only_words_that_the_dialect_knows(schema: dict[str, Any]) -> None:
    """Whatever the schema, nothing is left that the service refuses, and the given one is untouched."""
    before = json.dumps(schema)
    stack: list[Any] = [gemini_schema(schema)]
    while stack:
        part = stack.pop()
        assert part.keys() <= KNOWN
        assert part.get("type") is None or isinstance(part["type"], str)
        stack += [
            *part.get("properties", {}).values(),
            *part.get("anyOf", ()),
            *([part["items"]] if "items" in part else []),
        ]
    assert json.dumps(schema) == before
