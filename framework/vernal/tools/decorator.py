"""`@tool`: a mark on functions and methods, which stay what they are."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, partialmethod
from types import MappingProxyType, MethodType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload
from weakref import WeakKeyDictionary

from vernal.tools.definition import DEFAULT_METADATA, ToolEffects, ToolMetadata
from vernal.tools.parameters import names_used
from vernal.values.mappings import EMPTY
from vernal.values.records import dataclass

if TYPE_CHECKING:
    from vernal.tools.conversion import ToolCallResultConverter

F = TypeVar("F", bound="Callable[..., Any] | classmethod[Any, ..., Any]")

_MARK = "__vernal_tool__"
_OPTIONS = ToolMetadata.__dataclass_fields__.keys()


@dataclass(frozen=True, slots=True, eq=False)
class ToolMark:
    """What `@tool` has said of a function; compared by identity. `names` are those its string annotations may use."""

    name: str | None = None
    description: str | None = None
    metadata: ToolMetadata = DEFAULT_METADATA
    result_converter: "ToolCallResultConverter | None" = None
    names: Mapping[str, Any] = EMPTY


@overload
def tool(function: F, /) -> F: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    return_direct: bool = False,
    timeout: float | None = None,
    exclusive: bool = False,
    effects: ToolEffects | Literal["read", "write", "destructive"] | None = None,
    idempotent: bool = False,
    polling: bool = False,
    max_attempts: int = 1,
    result_converter: "ToolCallResultConverter | None" = None,
) -> Callable[[F], F]: ...


def tool(
    function: Any = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    result_converter: "ToolCallResultConverter | None" = None,
    **metadata: Any,
) -> Any:
    """Mark a function or method as a tool that models may call; it stays an ordinary function.

    `name` is that of the function by default (TDU-02), `description` is read from the docstring, which also describes
    the parameters. The other options are those of `ToolMetadata`. `result_converter` turns results into text for the
    model. May stand above or below `staticmethod` and `classmethod`. Nothing is built before the tool is used.

    Raises:
        TypeError: it stands on something else than a function or method, or an option is unknown.
        ValueError: an option is out of range.
    """
    if unknown := metadata.keys() - _OPTIONS:
        from difflib import get_close_matches  # needed only where something has gone wrong

        near = get_close_matches(min(unknown), ("name", "description", *_OPTIONS), n=1)
        raise TypeError(
            f"@tool has no option {min(unknown)!r}{f'; did you mean {near[0]!r}?' if near else ';'} "
            f"it has name, description, result_converter, {', '.join(_OPTIONS)}"
        )
    mark = ToolMark(
        name or None,
        description or None,
        ToolMetadata(**metadata) if metadata else DEFAULT_METADATA,
        result_converter,
    )
    if function is None:
        return lambda decorated: _marked(decorated, mark)
    return _marked(function, mark)


def mark_of(given: Any) -> ToolMark | None:
    """The mark of a function, or of what is made of it: method, static or class method, partial, wrapper."""
    while True:
        try:
            mark = vars(given).get(_MARK)
        except Exception:  # noqa: BLE001 - it has no attributes of its own, or raises when it is asked for them (pydantic)
            mark = None
        if isinstance(mark, ToolMark):
            return mark
        if isinstance(given, (partial, partialmethod)):
            given = given.func
        elif isinstance(given, (staticmethod, classmethod, MethodType)):
            given = given.__func__
        else:
            return None


def tools_of_class(cls: type) -> Mapping[str, ToolMark]:
    """The tools that objects of `cls` have: attribute name to mark, in order of declaration, base classes first.

    An overriding method is the tool that it overrides, whether it is marked again or not (R17). The class alone is
    looked at, so that no property is evaluated.
    """
    found = _tools_of_class.get(cls)
    if found is None:
        marks: dict[str, ToolMark] = {}
        for base in reversed(cls.__mro__):
            for name, raw in vars(base).items():
                if (mark := mark_of(raw)) is not None:
                    own = mark.name or name == getattr(raw, "__name__", "") or name == "__call__"
                    marks[name] = mark if own else replace(mark, name=name)  # an alias, or a partial method
                elif name in marks and not (callable(raw) or isinstance(raw, (classmethod, partialmethod))):
                    del marks[name]  # taken back with a plain value, such as None
        found = _tools_of_class[cls] = MappingProxyType(marks)
    return found


_tools_of_class: WeakKeyDictionary[type, Mapping[str, ToolMark]] = WeakKeyDictionary()


def _marked(given: Any, mark: ToolMark) -> Any:
    function = given.__func__ if isinstance(given, (staticmethod, classmethod)) else given
    if isinstance(function, type) or not callable(function):
        raise TypeError(
            f"@tool was given {given!r}; it stands on functions and methods, and its options are given by keyword, "
            "such as @tool(name='get_weather')"
        )
    if names := names_used(function):
        mark = replace(mark, names=names)
    try:
        setattr(function, _MARK, mark)
    except AttributeError:
        raise TypeError(
            f"@tool was given {given!r}, which takes no attributes; wrap it in a function, or use FunctionToolCallback"
        ) from None
    return given
