"""Structured output: the JSON that a schema asks for, from what tools gave and what the prompt says."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from vernal.models.offline.facts import Facts
from vernal.models.offline.filling import fill
from vernal.models.offline.matching import OfferedTool, vocabulary
from vernal.models.offline.reading import Reading, read
from vernal.models.offline.schemas import NOTHING, Schema, accepts, kinds, least, properties, resolve
from vernal.tools.definition import ToolDefinition
from vernal.values.messages import Message, SystemMessage, UserMessage

_JSON = json.JSONDecoder()
_INSTRUCTION = re.compile(r"\bJSON\b")


def instructed_schema(messages: Sequence[Message]) -> Schema | None:
    """The JSON schema that stands in the last user message or a system message beside the word JSON, if any."""
    texts = [message.text for message in messages if isinstance(message, UserMessage)][-1:]
    texts += [message.text for message in messages if isinstance(message, SystemMessage)]
    return next((found[0] for text in texts if (found := _schema_in(text)) is not None), None)


def without_instruction(text: str) -> str:
    """The prompt without the paragraph that asks for JSON of a schema; itself where there is none."""
    found, schema = _INSTRUCTION.search(text), _schema_in(text)
    if found is None or schema is None:
        return text
    before = text[: text.rfind("\n", 0, found.start()) + 1]
    return before if before.strip() else text[schema[1] :]


def structured(schema: Schema, text: str, results: Sequence[str], today: str | None) -> str | None:
    """The JSON text of a value that satisfies `schema`, None where none is found.

    Results of tools come first, then the prompt; what is required and nowhere said is the least value that the schema
    allows ("unknown", 0, an empty list).
    """
    reading = read(text, vocabulary([OfferedTool.of(ToolDefinition("answer", "", schema))]))
    value = _value(schema, reading, Facts.of(results), today)
    return None if value is NOTHING else json.dumps(value, ensure_ascii=False)


def _value(schema: Schema, reading: Reading, facts: Facts, today: str | None) -> Any:
    fitting = next(
        (value for value in facts.values if not isinstance(value, str) and accepts(schema, value, schema)), None
    )
    if fitting is not None:
        return fitting
    resolved = resolve(schema, schema)
    kind = (kinds(resolved) or ("",))[0]
    if kind == "array" and facts.values:
        item = {**resolve(resolved.get("items"), schema), **_definitions(schema)}
        items = [_value(item, reading, facts.only(index), today) for index in range(len(facts.values))]
        if not any(value is NOTHING for value in items) and accepts(schema, items, schema):
            return items
    if kind == "object":
        filling = fill(schema, reading, facts=facts, facts_first=True, invent=True, today=today)
        if filling.arguments:
            return filling.arguments[0]
    else:
        named = "items" if kind == "array" else "answer"
        wrapper = {
            "type": "object",
            "properties": {named: schema},
            "required": [named],
            **_definitions(schema),
        }
        filling = fill(wrapper, reading, facts=facts, facts_first=True, today=today)
        if filling.arguments and accepts(schema, filling.arguments[0][named], schema):
            return filling.arguments[0][named]
    return least(schema, schema, facts.worded or "unknown")


def _definitions(schema: Schema) -> Schema:
    """What references of a part of `schema` lead to."""
    return {key: schema[key] for key in ("$defs", "definitions") if key in schema}


def _schema_in(text: str) -> tuple[Schema, int] | None:
    """The first JSON schema in `text`, and where it ends."""
    if not _INSTRUCTION.search(text):
        return None
    position = text.find("{")
    while position >= 0:
        try:
            value, end = _JSON.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            if isinstance(value, Mapping) and ("$schema" in value or properties(value) or kinds(value)):
                return value, end
        position = text.find("{", end)
    return None
