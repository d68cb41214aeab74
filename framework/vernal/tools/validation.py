"""What arguments are checked against: a callable's parameters, a whole type, or a JSON schema.

Imported when the first tool is registered, since it needs pydantic.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, get_args, get_origin

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict  # pydantic's own: before Python 3.12 it takes no other

from vernal.tools.complaints import Complaint, pydantic_complaints, schema_complaints
from vernal.tools.exceptions import InvalidToolError
from vernal.tools.parameters import UNSET, Parameter, ToolParam, ToolSignature
from vernal.tools.schema import Schema, canonical

_EXTRA = "**"


class Misfit(Exception):
    """Arguments do not fit; `complaints` say what is wrong."""

    def __init__(self, complaints: Iterable[Complaint]) -> None:
        super().__init__()
        self.complaints = tuple(complaints)


class TypeCheck:
    """Checks against Python types, strictly: what the schema says and no more (R5, R18).

    `validate_text` is the short way for text that fits; it raises `pydantic.ValidationError`.
    """

    __slots__ = ("schema", "validate_text")

    def __init__(self, adapter: "TypeAdapter[Any]", schema: Schema) -> None:
        self.validate_text = adapter.validator.validate_json
        self.schema = schema

    def check(self, value: Any) -> Any:
        """What the function gets for the JSON value `value`.

        Raises:
            Misfit: it does not fit.
        """
        try:
            return self.validate_text(json.dumps(value), strict=True)
        except ValidationError as error:
            raise Misfit(pydantic_complaints(error.errors(include_url=False), value)) from None


class SchemaCheck:
    """Checks against a JSON schema, which is compiled when it is first needed; references reach no network."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        self._validator: Any = None

    def check(self, value: Any) -> Any:
        """`value` itself.

        Raises:
            Misfit: it does not fit.
            InvalidToolError: the schema is none.
        """
        if self._validator is None:
            self._validator = _compiled(self.schema)
        complaints = schema_complaints(self._validator.iter_errors(value))
        if complaints:
            raise Misfit(complaints)
        return value


def _compiled(schema: Mapping[str, Any]) -> Any:
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry

    plain = dict(schema)
    kind = validator_for(plain, default=Draft202012Validator)
    try:
        kind.check_schema(plain)
    except SchemaError as error:
        raise InvalidToolError(f"the input_schema is no JSON schema: {error.message} at {error.json_path}") from error
    return kind(plain, registry=Registry())


def signature_check(tool: str, signature: ToolSignature, docs: Mapping[str, str]) -> TypeCheck:
    """The check for the parameters of a callable; `docs` describe parameters that do not describe themselves.

    Raises:
        InvalidToolError: a parameter's type has no JSON form; the text names it.
    """
    fields = {parameter.name: _field(parameter, docs.get(parameter.name, "")) for parameter in signature.parameters}
    try:
        adapter = _adapter(tool, fields, "ignore" if signature.extra is UNSET else "allow")
        if signature.extra is UNSET:
            return TypeCheck(adapter, _schema(adapter))
        schema = _schema(_adapter(tool, {**fields, _EXTRA: signature.extra}))
        opened = schema["properties"].pop(_EXTRA)
        required = [name for name in schema["required"] if name != _EXTRA]
        return TypeCheck(adapter, {**schema, "required": required, "additionalProperties": opened or True})
    except Exception as error:  # whatever pydantic raises for an annotation names a parameter that cannot be
        raise _bad_parameter(tool, {**fields, _EXTRA: signature.extra}, error) from error


def extras_check(annotation: Any) -> TypeCheck:
    """The check for what `**kwargs` of that annotation take."""
    adapter: TypeAdapter[Any] = TypeAdapter(dict[str, annotation])
    return TypeCheck(adapter, {})


def whole_check(tool: str, input_type: Any) -> TypeCheck:
    """The check for arguments that are one value of type `input_type`.

    Raises:
        InvalidToolError: the type has no JSON form.
    """
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(input_type)
        return TypeCheck(adapter, _schema(adapter))
    except Exception as error:
        raise InvalidToolError(f"the input_type {input_type!r} of tool {tool!r} has no JSON form: {error}") from error


class _Generator(GenerateJsonSchema):
    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  # the attribute of its base


def _schema(adapter: "TypeAdapter[Any]") -> Schema:
    return canonical(adapter.json_schema(schema_generator=_Generator))


def _adapter(tool: str, fields: Mapping[str, Any], extra: Any = "ignore") -> "TypeAdapter[Any]":
    arguments: Any = TypedDict(tool, dict(fields))  # type: ignore[misc]  # the fields are known at run time only
    return TypeAdapter(with_config(ConfigDict(extra=extra, allow_inf_nan=False))(arguments))


def _field(parameter: Parameter, doc: str) -> Any:
    """The annotation for pydantic: later metadata wins, so it runs from the docstring to the tool's own marks."""
    annotation, *marks = get_args(parameter.annotation) if _is_annotated(parameter) else (parameter.annotation,)
    default = parameter.default
    if isinstance(default, FieldInfo):
        marks.append(default)
        default = UNSET
    said = [mark for mark in marks if isinstance(mark, ToolParam)]
    metadata = [Field(description=doc)] if doc else []
    metadata += [Field(description=mark) if isinstance(mark, str) else mark for mark in marks if mark not in said]
    metadata += [Field(description=mark.description) for mark in said if mark.description]
    required = next((mark.required for mark in reversed(said) if mark.required is not None), default is UNSET)
    if not required:
        metadata.append(Field(default=None if default is UNSET else default))
    return Annotated[annotation, *metadata] if metadata else annotation


def _is_annotated(parameter: Parameter) -> bool:
    return get_origin(parameter.annotation) is Annotated


def _bad_parameter(tool: str, fields: Mapping[str, Any], error: Exception) -> InvalidToolError:
    for name, annotation in fields.items():
        try:
            if annotation is not UNSET:
                _schema(_adapter(tool, {name: annotation}))
        except Exception as reason:  # noqa: BLE001  # the same
            bare = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
            return InvalidToolError(
                f"parameter {name!r} of tool {tool!r} has the type {bare!r}, which has no JSON form a model can fill: "
                f"{_first_sentence(reason)}; use a type that pydantic knows, take it from the ToolContext, or bind it "
                "with functools.partial"
            )
    return InvalidToolError(f"the parameters of tool {tool!r} have no JSON form: {_first_sentence(error)}")


def _first_sentence(error: Exception) -> str:
    return re.split(r"\.\s|\.?\n|\.$", str(error), maxsplit=1)[0]
