"""What a Python callable takes, seen as a tool: parameters for the model, and those that the engine fills."""

import builtins
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping
from functools import partial, partialmethod
from typing import Annotated, Any, Union, get_args, get_origin

from vernal.tools.context import ToolContext
from vernal.tools.exceptions import InvalidToolError
from vernal.tools.generics import substituted, type_arguments
from vernal.values.records import dataclass

UNSET: Any = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class ToolParam:
    """Says more of a tool's parameter: `days: Annotated[int, ToolParam(description="How many days ahead")] = 3`.

    `description` goes before what `Field` and the docstring say. `required` overrides what follows from the default
    (SCH-02, SCH-14): with `required=False` and no default, an absent argument arrives as None.
    """

    description: str | None = None
    required: bool | None = None


class Inject:
    """Marks a tool's parameter that a bean fills, and that the model never sees: `db: Annotated[Database, Inject]`.

    The annotation may be any that a bean's parameter may have, such as `Annotated[list[Rule], Inject]` or
    `Annotated[Clock, Inject, Named("utc")]`. With a default the bean may be absent. Tools get their beans from clients,
    builders and resolvers of an application context, or from `tool_callbacks(…, customizers=…)`.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class InjectedParameter:
    """A parameter that a bean fills, with its resolved annotation."""

    name: str
    annotation: Any
    has_default: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that the model fills. `default` is what its Python signature says, `UNSET` where nothing."""

    name: str
    annotation: Any
    default: Any = UNSET
    positional_only: bool = False


@dataclass(frozen=True, slots=True)
class ToolSignature:
    """The parameters of a callable by who fills them.

    `context` maps each parameter that receives the `ToolContext` to whether it takes None as well; `injected` are those
    that beans fill. `extra` is the annotation of `**kwargs`, `UNSET` where there is none. `positional` are the names
    passed by position, in order.
    `reserved` are names that `**kwargs` must never take: bound by a method or a partial, or filled by the engine.
    `returns` is the resolved return annotation, `Any` where nothing usable is declared.
    """

    parameters: tuple[Parameter, ...]
    context: Mapping[str, bool]
    extra: Any
    positional: tuple[str, ...]
    reserved: frozenset[str]
    returns: Any
    injected: tuple[InjectedParameter, ...] = ()


def underlying(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that a bound method, a partial or a callable object is made of."""
    while True:
        if isinstance(function, partial):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif not isinstance(function, type) and not inspect.isroutine(function):
            call = type(function).__call__
            if not inspect.isfunction(call):
                return function
            function = call
        else:
            return function


def without_partialmethod(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that `partialmethod` made as the partial that it is, which says what it has bound."""
    inner = getattr(function, "__func__", None)
    made = getattr(inner, "__partialmethod__", None) or getattr(inner, "_partialmethod", None)  # before Python 3.13
    if not isinstance(made, partialmethod):
        return function
    return partial(made.func.__get__(function.__self__), *made.args, **made.keywords)  # type: ignore[attr-defined]  # it has a __func__


def read_signature(
    function: Callable[..., Any], tool: str, names: Mapping[str, Any] = types.MappingProxyType({})
) -> ToolSignature:
    """Sort the parameters of `function`, of which the tool named `tool` is made (R17).

    `names` are further names that string annotations may use. What a partial has bound is not offered to the model.

    Raises:
        InvalidToolError: the signature cannot be read, has `*args`, or an annotation that cannot be resolved.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise InvalidToolError(
            f"the signature of {function!r} (tool {tool!r}) cannot be read: {error}; wrap it in a function with "
            "annotated parameters"
        ) from error
    _refuse_unbound_method(function, signature, tool)
    resolve = _Annotations(function, names)
    bound = _bound_by_partial(function)
    parameters: list[Parameter] = []
    context: dict[str, bool] = {}
    injected: list[InjectedParameter] = []
    positional: list[str] = []
    extra = UNSET
    for entry in signature.parameters.values():
        if entry.name in bound:
            continue
        if entry.kind is entry.VAR_POSITIONAL:
            raise InvalidToolError(
                f"tool {tool!r} takes '*{entry.name}', which a model cannot fill: arguments have names; "
                f"take a list instead, such as '{entry.name}: list[str]'"
            )
        annotation = resolve(entry.annotation, entry.name, tool)
        if entry.kind is entry.VAR_KEYWORD:
            extra = annotation
            continue
        positional_only = entry.kind is entry.POSITIONAL_ONLY
        if _is_injected(annotation):
            _refuse_positional(positional_only, entry.name, tool)
            injected.append(InjectedParameter(entry.name, annotation, entry.default is not UNSET))
            continue
        if positional_only:
            positional.append(entry.name)
        takes_context, optional = _takes_context(annotation)
        if takes_context:
            context[entry.name] = optional
        else:
            parameters.append(Parameter(entry.name, annotation, entry.default, positional_only))
    reserved = bound | context.keys() | _names_of_underlying(function) - {parameter.name for parameter in parameters}
    return ToolSignature(
        tuple(parameters),
        context,
        extra,
        tuple(positional),
        frozenset(reserved),
        resolve.returns(signature.return_annotation),
        tuple(injected),
    )


class _Annotations:
    """Resolves annotations of one callable, strings included."""

    def __init__(self, function: Callable[..., Any], names: Mapping[str, Any]) -> None:
        inner = inspect.unwrap(underlying(function))
        owner = function.__self__ if inspect.ismethod(function) else function
        self._arguments = type_arguments(function)
        self._globals: dict[str, Any] = getattr(inner, "__globals__", {})
        fallback = {ToolContext.__name__: ToolContext, **_class_names(owner)}
        unknown = fallback.keys() - self._globals.keys() - vars(builtins).keys()  # a method `list` hides no builtin
        self._locals = {**{name: fallback[name] for name in unknown}, **names, **_enclosing_names(inner)}

    def __call__(self, annotation: Any, parameter: str, tool: str) -> Any:
        if annotation is UNSET:
            return Any
        try:
            return self._resolve(annotation)
        except Exception as error:  # evaluating a user's annotation may raise anything
            raise InvalidToolError(
                f"the annotation {annotation!r} of parameter {parameter!r} of tool {tool!r} cannot be resolved: "
                f"{error}; import what it names at the top of the module, outside 'if TYPE_CHECKING:'"
            ) from error

    def returns(self, annotation: Any) -> Any:
        if annotation is UNSET:
            return Any
        try:
            return self._resolve(annotation)
        except Exception:  # noqa: BLE001  # the same; what is returned is known when it is there
            return Any

    def _resolve(self, annotation: Any) -> Any:
        holder = types.SimpleNamespace(__annotations__={"it": annotation})
        hint = typing.get_type_hints(holder, self._globals, self._locals, include_extras=True)["it"]
        return substituted(hint, self._arguments)


def names_used(function: Callable[..., Any]) -> dict[str, Any]:
    """Of what a local function's enclosing functions know, that which its annotations name."""
    if "<locals>" not in getattr(function, "__qualname__", ""):
        return {}
    used = set(re.findall(r"[^\W\d]\w*", " ".join(map(str, getattr(function, "__annotations__", {}).values()))))
    return {name: value for name, value in _enclosing_names(function).items() if name in used}


def _enclosing_names(function: Callable[..., Any]) -> dict[str, Any]:
    """Names that the string annotations of a local function may use: its closure, and what its enclosing functions
    know as long as they run."""
    code = getattr(function, "__code__", None)
    qualname: str = getattr(function, "__qualname__", "")
    if code is None or "<locals>" not in qualname:
        return {}
    names: dict[str, Any] = {}
    parts = qualname.split(".<locals>.")
    enclosing = {".<locals>.".join(parts[:depth]) for depth in range(1, len(parts))}
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_qualname in enclosing and frame.f_code.co_filename == code.co_filename:
            names = {**frame.f_locals, **names}
        frame = frame.f_back
    for name, cell in zip(code.co_freevars, getattr(function, "__closure__", None) or (), strict=False):
        try:
            names[name] = cell.cell_contents
        except ValueError:
            continue  # not assigned yet
    return names


def _class_names(owner: Any) -> dict[str, Any]:
    cls = owner if isinstance(owner, type) else type(owner)
    if cls in (types.FunctionType, types.BuiltinFunctionType, partial):
        return {}
    names: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        names.update(vars(base))
        names[base.__name__] = base
    return names


def _bound_by_partial(function: Callable[..., Any]) -> set[str]:
    """Names that partials have fixed: the model shall not overrule what the developer has bound."""
    names: set[str] = set()
    while isinstance(function, partial):
        names.update(function.keywords)
        function = function.func
    return names


def _names_of_underlying(function: Callable[..., Any]) -> set[str]:
    try:
        return set(inspect.signature(underlying(function)).parameters)
    except (TypeError, ValueError):
        return set()


def _takes_context(annotation: Any) -> tuple[bool, bool]:
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if annotation is ToolContext:
        return True, False
    if get_origin(annotation) in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        takes = bool(members) and all(_takes_context(member)[0] for member in members)
        return takes, takes and len(members) < len(get_args(annotation))
    return False, False


def _is_injected(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return any(mark is Inject or isinstance(mark, Inject) for mark in annotation.__metadata__)
    return get_origin(annotation) in (Union, types.UnionType) and any(map(_is_injected, get_args(annotation)))


def _refuse_positional(positional_only: bool, parameter: str, tool: str) -> None:
    if positional_only:
        raise InvalidToolError(
            f"the parameter {parameter!r} of tool {tool!r} is marked Inject and positional-only; beans are given by "
            "name: write it behind the '/'"
        )


def _refuse_unbound_method(function: Callable[..., Any], signature: inspect.Signature, tool: str) -> None:
    first = next(iter(signature.parameters.values()), None)
    if not inspect.isfunction(function) or first is None or first.name not in ("self", "cls"):
        return
    owner = function.__qualname__.rpartition(".")[0].rpartition(".")[2]
    if owner and owner != "<locals>" and first.annotation is UNSET:
        raise InvalidToolError(
            f"tool {tool!r} is the method {function.__qualname__!r} without its object; give it with the object, "
            f"such as {owner}().{function.__name__}"
        )
