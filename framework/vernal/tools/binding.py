"""From the JSON text of a model's arguments to the arguments of a call (R5).

Imported when the first tool is registered, since it needs pydantic.
"""

import json
from collections.abc import Mapping
from typing import Any, Protocol

from pydantic import ValidationError

from vernal.tools.complaints import Complaint, explained, no_object
from vernal.tools.context import NO_CONTEXT, ToolContext
from vernal.tools.exceptions import InvalidToolError, ToolArgumentsError
from vernal.tools.parameters import UNSET, ToolSignature
from vernal.tools.repairs import repair
from vernal.tools.schema import complete_object_schema
from vernal.tools.validation import Misfit, SchemaCheck, TypeCheck, extras_check
from vernal.values.arguments import parse_arguments

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


class Check(Protocol):
    """What arguments are checked against."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The schema that says what fits."""

    def check(self, value: Any) -> Any:
        """What the JSON value means; raises `Misfit`."""


class Binder:
    """Makes the arguments of a call: for one callable, prepared once. Subclasses say how values are found."""

    __slots__ = ("_context", "_positional", "_tool")

    def __init__(self, tool: str, signature: ToolSignature) -> None:
        self._tool = tool
        self._context = tuple(signature.context.items())
        self._positional = signature.positional

    def bind(self, text: str, tool_context: ToolContext | None) -> Arguments:
        """The positional and the keyword arguments of the call.

        Raises:
            ToolArgumentsError: the arguments do not fit.
        """
        values = self._values(text)
        for name, optional in self._context:
            values[name] = tool_context if tool_context is not None or optional else NO_CONTEXT
        if not self._positional:
            return (), values
        return tuple(values.pop(name) for name in self._positional if name in values), values

    def read(self, text: str) -> Any:
        """The arguments as JSON values, with harmless forms repaired: what is judged before a call.

        Raises:
            ToolArgumentsError: the arguments do not fit.
        """
        raise NotImplementedError

    def _values(self, text: str) -> dict[str, Any]:
        raise NotImplementedError


class SignatureBinder(Binder):
    """Arguments are the parameters of the function; unknown members are ignored, or taken by its `**kwargs`."""

    __slots__ = ("_check", "_extras", "_fast", "_known", "_reserved")

    def __init__(self, tool: str, signature: ToolSignature, check: TypeCheck) -> None:
        super().__init__(tool, signature)
        self._check = check
        self._fast = check.validate_text
        self._extras = None if signature.extra is UNSET else extras_check(signature.extra)
        self._known = {parameter.name for parameter in signature.parameters}
        self._reserved = signature.reserved

    def read(self, text: str) -> Any:
        """The JSON values of the parameters."""
        value = parsed(self._tool, text, self._check)
        bound = settled(self._tool, value, self._check)
        if self._extras is not None:
            self._with_extras(bound, self._extras)
        return value

    def _values(self, text: str) -> dict[str, Any]:
        try:
            if is_plain(text):
                values: dict[str, Any] = self._fast(text, strict=True)
            else:
                values = bind_leniently(self._tool, text, self._check)
        except ValidationError:
            values = bind_leniently(self._tool, text, self._check)
        return values if self._extras is None else self._with_extras(values, self._extras)

    def _with_extras(self, values: dict[str, Any], check: TypeCheck) -> dict[str, Any]:
        extras = {key: value for key, value in values.items() if key not in self._known and key not in self._reserved}
        known = {key: value for key, value in values.items() if key in self._known}
        return {**known, **settled(self._tool, extras, check)}


class WholeBinder(Binder):
    """The arguments as a whole are one value, which the function's first parameter takes (FTC-01 to FTC-04)."""

    __slots__ = ("_check", "_parameter", "_shown")

    def __init__(self, tool: str, signature: ToolSignature, check: TypeCheck, shown: SchemaCheck | None) -> None:
        super().__init__(tool, signature)
        self._check, self._shown = check, shown
        first, *others = signature.parameters or (None,)
        needed = [parameter.name for parameter in others if parameter is not None and parameter.default is UNSET]
        if needed:
            raise InvalidToolError(
                f"tool {tool!r} has an input_type, which its function takes as its only argument, but it also needs "
                f"{', '.join(map(repr, needed))}; give these defaults, or leave input_type out"
            )
        self._parameter = first.name if first is not None else None

    def read(self, text: str) -> Any:
        """The JSON value of the whole."""
        if self._parameter is None:
            return parse_arguments(text)
        value = parsed(self._tool, text, self._shown or self._check)
        if self._shown is not None:
            settled(self._tool, value, self._shown)
        settled(self._tool, value, self._check)
        return value

    def _values(self, text: str) -> dict[str, Any]:
        if self._parameter is None:
            return {}  # a supplier: it runs whatever the input (FTC-04)
        try:
            if is_plain(text) and self._shown is None:
                return {self._parameter: self._check.validate_text(text, strict=True)}
        except ValidationError:
            pass  # told below, or repaired
        if self._shown is not None:
            shown = bind_leniently(self._tool, text, self._shown)
            return {self._parameter: settled(self._tool, shown, self._check)}
        return {self._parameter: bind_leniently(self._tool, text, self._check)}


class SchemaBinder(Binder):
    """Arguments are checked against a hand-written schema, and passed by name as they are."""

    __slots__ = ("_accepted", "_check", "_needed", "_reserved")

    def __init__(self, tool: str, signature: ToolSignature, check: SchemaCheck) -> None:
        super().__init__(tool, signature)
        self._check = check
        self._needed = [parameter.name for parameter in signature.parameters if parameter.default is UNSET]
        names = {parameter.name for parameter in signature.parameters}
        self._accepted = names if signature.extra is UNSET else None
        self._reserved = signature.reserved
        unknown = [name for name in self._needed if name not in check.schema.get("properties", {})]
        if unknown and not check.schema.get("additionalProperties"):
            raise InvalidToolError(
                f"the input_schema of tool {tool!r} has no property {unknown[0]!r}, which its function needs; describe "
                "it in the schema, or give the parameter a default"
            )

    def read(self, text: str) -> Any:
        """The JSON values, as the schema has them."""
        given = bind_leniently(self._tool, text, self._check)
        absent = [Complaint((name,), "", missing=True) for name in self._needed if name not in given]
        if absent:
            raise ToolArgumentsError(explained(self._tool, absent, self._check.schema))
        return given

    def _values(self, text: str) -> dict[str, Any]:
        given = self.read(text)
        if self._accepted is None:
            return {name: value for name, value in given.items() if name not in self._reserved}
        return {name: value for name, value in given.items() if name in self._accepted}


def is_plain(text: str) -> bool:
    """Whether pydantic reads `text` as JSON does: it also takes NaN and Infinity, which are none."""
    return "NaN" not in text and "Infinity" not in text


def bind_leniently(tool: str, text: str, check: Check) -> Any:
    """What `text` means, harmless forms allowed.

    Raises:
        ToolArgumentsError: it does not fit.
    """
    return settled(tool, parsed(tool, text, check), check)


def read_by_schema(tool: str, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a tool of which only the schema is known, with harmless forms repaired.

    Raises:
        ToolArgumentsError: they do not fit the schema; one that is no JSON schema itself is not asked.
    """
    from referencing.exceptions import Unresolvable

    check = SchemaCheck(complete_object_schema(schema))
    value: Mapping[str, Any] = parsed(tool, text, check)
    try:
        settled(tool, value, check)
    except (InvalidToolError, Unresolvable):
        pass  # whoever runs the tool says so
    return value


def parsed(tool: str, text: str, check: Check) -> Any:
    """The JSON value of `text`.

    Raises:
        ToolArgumentsError: it is none, or no object where an object is wanted.
    """
    value: Any = parse_arguments(text)
    if value is None:
        if check.schema.get("type", "object") == "object":
            raise ToolArgumentsError(no_object(tool, text, check.schema))
        try:
            value = json.loads(text)
        except ValueError:
            raise ToolArgumentsError(no_object(tool, text, check.schema)) from None
    return value


def settled(tool: str, value: Any, check: Check) -> Any:
    """What the check makes of `value`, harmless forms repaired.

    Raises:
        ToolArgumentsError: it does not fit.
    """
    while True:
        try:
            return check.check(value)
        except Misfit as misfit:
            if not repair(value, misfit.complaints, check.schema):
                raise ToolArgumentsError(explained(tool, misfit.complaints, check.schema)) from None
