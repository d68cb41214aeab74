"""Structured output: an answer as an object of a Python type, or as JSON that satisfies a schema."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar, cast

from vernal.errors import VernalError
from vernal.values.arguments import without_fence

T = TypeVar("T")

_INSTRUCTION = """\
Answer with JSON only, without explanation and without a code fence. The JSON must satisfy this JSON schema:
{schema}"""
_WANTED = "a type that pydantic knows is wanted, such as a pydantic model, a dataclass or list[int]"

_OPENING = re.compile(r"[{\[]")
_MOST_BRACKETS = 1000
"""How many brackets in a text are tried: a text of nothing else must not take long to refuse."""

MISSING: Any = object()
"""Stands for an object that cannot be read yet."""


class StructuredOutputError(VernalError):
    """The model's answer is no object of the wanted type; `text` is what it answered."""

    def __init__(self, message: str, text: str | None) -> None:
        super().__init__(message)
        self.text = text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.text)


class StructuredOutput(Generic[T]):
    """A wanted type: its schema for the model, and the conversion of the answer.

    A type whose JSON is no object (a list, a union, a scalar) is wrapped as `{"value": …}`, since services want an
    object.
    """

    def __init__(self, kind: type[T]) -> None:
        from pydantic import TypeAdapter
        from pydantic.errors import PydanticUserError

        if isinstance(kind, str) or kind is None:
            raise TypeError(f"the wanted type is {kind!r}; {_WANTED}")
        self.name = getattr(kind, "__name__", repr(kind))
        try:
            self._adapter: TypeAdapter[T] = TypeAdapter(kind)
            schema = _with_own_root(self._adapter.json_schema())
        except PydanticUserError as error:
            reason = str(error.message).partition(". ")[0]
            raise TypeError(f"the wanted type is {kind!r}, which has no JSON form ({reason}); {_WANTED}") from error
        self._wrapped = schema.get("type") != "object"
        self.schema: dict[str, Any] = _wrap(schema) if self._wrapped else schema

    @property
    def instruction(self) -> str:
        """What a model without native structured output is told."""
        return _INSTRUCTION.format(schema=json.dumps(self.schema, ensure_ascii=False))

    def convert(self, text: str | None) -> T:
        """The object that `text` is the JSON of, or has the JSON of somewhere, such as in a code fence or behind an
        explanation; of several that fit the last.

        Raises:
            StructuredOutputError: the text has no such JSON.
        """
        faults, value = self._read(text)
        if faults:
            raise StructuredOutputError(f"the answer is no {self.name}: {'; '.join(faults)}", text)
        return cast("T", value)

    def faults(self, text: str | None) -> list[str]:
        """Why `text` is not the JSON of such an object, one reason each; none where it is."""
        return self._read(text)[0]

    def partial(self, text: str) -> T:
        """The object as far as `text`, the beginning of an answer, tells of it; `MISSING` where that is none yet.

        A text that is cut off is taken as far as it goes. Where that is not valid the last thing is left out, an entry
        or an element, and if need be what holds it: so an object appears with its last required field.
        """
        from pydantic import ValidationError
        from pydantic_core import from_json, to_json

        try:
            value = from_json(_without_open_fence(text), allow_partial="trailing-strings")
        except ValueError:
            return cast("T", MISSING)
        if self._wrapped and isinstance(value, dict):
            value = value.get("value", MISSING)
            if value is MISSING:
                return cast("T", MISSING)
        for pruned in _prunings(value):
            try:
                return self._adapter.validate_json(to_json(pruned))
            except ValidationError:
                continue
        return cast("T", MISSING)

    def _read(self, text: str | None) -> tuple[list[str], Any]:
        values, fault = _parsed(text)
        if fault:
            return [fault], None
        readings = [self._as_object(value) for value in reversed(values)]
        return next((reading for reading in readings if not reading[0]), readings[0])

    def _as_object(self, value: Any) -> tuple[list[str], Any]:
        from pydantic import ValidationError

        if self._wrapped and isinstance(value, dict) and value.keys() == {"value"}:
            value = value["value"]
        try:
            return [], self._adapter.validate_json(json.dumps(value))
        except ValidationError as error:
            return [
                f"{'.'.join(map(str, each['loc'])) or 'the answer'}: {each['msg']}"
                for each in error.errors(include_input=False, include_url=False)
            ], None


class SchemaOutput:
    """A wanted JSON schema.

    Raises:
        ValueError: the schema is no valid JSON schema.
    """

    def __init__(self, schema: Mapping[str, Any] | str) -> None:
        from jsonschema import SchemaError
        from jsonschema.validators import validator_for

        try:
            parsed = json.loads(schema) if isinstance(schema, str) else dict(schema)
            kind = validator_for(parsed)
            kind.check_schema(parsed)
        except (ValueError, SchemaError) as error:
            raise ValueError(f"Failed to parse JSON schema: {getattr(error, 'message', error)}") from None
        self._validator = kind(parsed)

    def faults(self, text: str | None) -> list[str]:
        """Why `text` is not such JSON, one reason each; none where it is, or has some."""
        values, fault = _parsed(text)
        if fault:
            return [fault]
        faults = [
            [
                f"{'.'.join(map(str, error.absolute_path)) or 'the answer'}: {error.message}"
                for error in self._validator.iter_errors(value)
            ]
            for value in reversed(values)
        ]
        return min(faults, key=bool)


def _parsed(text: str | None) -> tuple[list[Any], str]:
    """The JSON value that `text` is, or those that stand in it; why there are none."""
    if text is None or not text.strip():
        return [], "the answer is empty"
    try:
        return [json.loads(without_fence(text))], ""
    except (ValueError, RecursionError) as error:
        values = list(_within(text))
        return values, "" if values else f"the answer is no JSON ({error})"


def _within(text: str) -> Iterator[Any]:
    """The JSON objects and arrays in a text that says more than those."""
    decoder, position = json.JSONDecoder(), 0
    for _ in range(_MOST_BRACKETS):
        opening = _OPENING.search(text, position)
        if opening is None:
            return
        position = opening.end()
        try:
            value, position = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            continue
        yield value


def _prunings(value: Any) -> Iterator[Any]:
    """`value` as it is, then without its last and innermost entry or element, then without what held that, …"""
    yield value
    path, node = [], value
    while isinstance(node, dict | list) and node:
        key = next(reversed(node)) if isinstance(node, dict) else -1
        path.append((node, key))
        node = node[key]
    for holder, key in reversed(path):
        del holder[key]
        yield value


def _without_open_fence(text: str) -> str:
    """`text` without the code fence that it begins with, if it does."""
    text = text.lstrip()
    return text.partition("\n")[2] if text.startswith("`") else text


def _with_own_root(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type that refers to itself, written out at its root, where services want an object."""
    target = schema.get("$defs", {}).get(str(schema.get("$ref")).rpartition("/")[2])
    return schema if target is None else {**target, "$defs": schema["$defs"]}


def _wrap(schema: dict[str, Any]) -> dict[str, Any]:
    definitions = schema.pop("$defs", None)
    wrapped: dict[str, Any] = {"type": "object", "properties": {"value": schema}, "required": ["value"]}
    return {**wrapped, "$defs": definitions} if definitions else wrapped
