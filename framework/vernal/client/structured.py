"""Structured output: an answer as an object of a Python type."""

import json
import re
from typing import Any, Generic, TypeVar

from vernal.advisors.model import OUTPUT_FORMAT
from vernal.errors import VernalError
from vernal.values.exchange import ChatClientRequest
from vernal.values.options import as_tool_calling

T = TypeVar("T")

_FENCED = re.compile(r"\s*```\w*\s*(.*?)\s*```\s*", re.DOTALL)

_INSTRUCTION = """\
Answer with JSON only, without explanation and without a code fence. The JSON must satisfy this JSON schema:
{schema}"""


class StructuredOutputError(VernalError):
    """The model's answer is no object of the wanted type; `text` is what it answered."""

    def __init__(self, message: str, text: str | None) -> None:
        super().__init__(message)
        self.text = text


class StructuredOutput(Generic[T]):
    """The wanted type: its schema for the model, and the conversion of the answer.

    A type whose JSON is no object (a list, a scalar) is wrapped as `{"value": …}`, since services want an object.
    """

    def __init__(self, kind: type[T]) -> None:
        from pydantic import TypeAdapter

        self.name = getattr(kind, "__name__", repr(kind))
        self._adapter: TypeAdapter[T] = TypeAdapter(kind)
        schema = self._adapter.json_schema()
        self._wrapped = schema.get("type") != "object" and "$ref" not in schema
        self.schema: dict[str, Any] = _wrap(schema) if self._wrapped else schema

    def context(self) -> dict[str, Any]:
        """The entries of the request's context that ask for this output by instruction."""
        return {OUTPUT_FORMAT: _INSTRUCTION.format(schema=json.dumps(self.schema, ensure_ascii=False))}

    def natively(self, request: ChatClientRequest) -> ChatClientRequest:
        """The request for a model that takes the schema as an option."""
        request.context.pop(OUTPUT_FORMAT, None)
        options = as_tool_calling(request.prompt.options).copy(output_schema=self.schema)
        return request.with_prompt(request.prompt.with_options(options))

    def convert(self, text: str | None) -> T:
        """The object that `text` is the JSON of; a code fence around it is taken off.

        Raises:
            StructuredOutputError: the text is no such JSON.
        """
        from pydantic import ValidationError

        fenced = _FENCED.fullmatch(text or "")
        try:
            value = json.loads(fenced[1] if fenced is not None else text or "")
            if self._wrapped and isinstance(value, dict) and value.keys() == {"value"}:
                value = value["value"]
            return self._adapter.validate_json(json.dumps(value))
        except ValidationError as error:
            faults = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'the answer'}: {e['msg']}" for e in error.errors())
            raise StructuredOutputError(f"the answer is no {self.name}: {faults}", text) from None
        except ValueError as error:
            raise StructuredOutputError(f"the answer is no {self.name}: it is no JSON ({error})", text) from None


def _wrap(schema: dict[str, Any]) -> dict[str, Any]:
    definitions = schema.pop("$defs", None)
    wrapped: dict[str, Any] = {"type": "object", "properties": {"value": schema}, "required": ["value"]}
    return {**wrapped, "$defs": definitions} if definitions else wrapped
