"""A callable made ready to be a tool, once: what the model is told of it, and how it is called."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from vernal.runtime.loading import loading
from vernal.tools.conversion import DefaultToolCallResultConverter, ToolCallResultConverter
from vernal.tools.decorator import ToolMark
from vernal.tools.definition import ToolDefinition, ToolMetadata
from vernal.tools.docstrings import ToolDocs, read_docstring
from vernal.tools.exceptions import InvalidToolError
from vernal.tools.generics import generic_owner
from vernal.tools.naming import description_from_name, warn_of_name
from vernal.tools.parameters import InjectedParameter, ToolSignature, read_signature, underlying
from vernal.tools.schema import complete_object_schema
from vernal.values.records import dataclass

if TYPE_CHECKING:
    from vernal.tools.binding import Binder

NO_MARK = ToolMark()
_CONVERTER = DefaultToolCallResultConverter()


@dataclass(frozen=True, slots=True)
class PreparedTool:
    """All of a tool but the callable itself.

    `on_loop` says that the callable is asynchronous, `injected` which of its parameters beans fill.
    """

    definition: ToolDefinition
    metadata: ToolMetadata
    binder: "Binder"
    converter: ToolCallResultConverter
    returns: Any
    on_loop: bool
    injected: tuple[InjectedParameter, ...] = ()


def prepared(function: Callable[..., Any], mark: ToolMark) -> PreparedTool:
    """The preparation of `function` under `mark`; kept as long as the function lives, so that objects that are given
    as tools with each request cost little.

    Raises:
        InvalidToolError: it cannot be a tool.
    """
    is_method = inspect.ismethod(function)
    if not is_method and not inspect.isfunction(function):
        return prepare(function, mark)
    key = underlying(function)
    try:
        known = _prepared.setdefault(key, {})
    except TypeError:
        return prepare(function, mark)  # a callable that cannot be remembered weakly
    variant = (mark, is_method, generic_owner(function))
    tool = known.get(variant)
    if tool is None:
        tool = known[variant] = prepare(function, mark)
    return tool


_Variant = tuple[ToolMark, bool, type | None]
_prepared: WeakKeyDictionary[Callable[..., Any], dict[_Variant, PreparedTool]] = WeakKeyDictionary()


def prepare(
    function: Callable[..., Any],
    mark: ToolMark,
    *,
    input_type: Any = None,
    input_schema: Mapping[str, Any] | None = None,
) -> PreparedTool:
    """The preparation of `function`, with another input than its parameters if one is given.

    Raises:
        InvalidToolError: it cannot be a tool.
    """
    name = mark.name or _name_of(function)
    warn_of_name(name)
    docs = _docs_of(function)
    signature = read_signature(function, name, mark.names)
    binder, schema = _binder(name, signature, docs, input_type, input_schema)
    description = mark.description or docs.description or description_from_name(name)
    return PreparedTool(
        ToolDefinition(name, description, schema),
        mark.metadata,
        binder,
        mark.result_converter or _CONVERTER,
        signature.returns,
        _is_asynchronous(function),
        signature.injected,
    )


def _binder(
    name: str, signature: ToolSignature, docs: ToolDocs, input_type: Any, input_schema: Mapping[str, Any] | None
) -> "tuple[Binder, Mapping[str, Any]]":
    with loading("vernal.tools.binding"):  # pydantic comes with it: not at import
        from vernal.tools.binding import SchemaBinder, SignatureBinder, WholeBinder
        from vernal.tools.validation import SchemaCheck, signature_check, whole_check

    shown = None
    if input_schema is not None:
        if not isinstance(input_schema, Mapping):
            raise InvalidToolError(
                f"the input_schema of tool {name!r} is {input_schema!r}; a mapping (JSON schema) is wanted"
            )
        shown = SchemaCheck(complete_object_schema(input_schema))
    if input_type is not None:
        whole = whole_check(name, input_type)
        return WholeBinder(name, signature, whole, shown), (shown or whole).schema
    if shown is not None:
        return SchemaBinder(name, signature, shown), shown.schema
    check = signature_check(name, signature, docs.parameters)
    return SignatureBinder(name, signature, check), check.schema


def _name_of(function: Callable[..., Any]) -> str:
    inner = underlying(function)
    name: str = getattr(inner, "__name__", "")
    if name == "__call__" or not name:
        owner = function.__self__ if inspect.ismethod(function) else function
        while isinstance(owner, partial):
            owner = owner.func
        return type(owner).__name__
    if name == "<lambda>":
        raise InvalidToolError("a lambda was given as a tool, and has no name; give one with name=…")
    return name


def _docs_of(function: Callable[..., Any]) -> ToolDocs:
    while isinstance(function, partial):
        function = function.func
    if not inspect.isroutine(function):
        return read_docstring(type(function).__call__.__doc__ or inspect.getdoc(type(function)))
    return read_docstring(inspect.getdoc(function))


def _is_asynchronous(function: Callable[..., Any]) -> bool:
    return any(
        inspect.iscoroutinefunction(candidate) or inspect.isasyncgenfunction(candidate)
        for candidate in (function, underlying(function))
    )
