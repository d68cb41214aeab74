"""What users write on their classes and functions: `@configuration`, `@auto_configuration`, `@bean`, `@primary`.

A mark only notes what was said; nothing is wrapped, so marks and conditions may stand in any order, also beside
`@staticmethod`, `@classmethod` and `@contextmanager`.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar, overload

from vernal.context.definitions import Scope
from vernal.values.choices import chosen
from vernal.values.records import dataclass

C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., object])

BEAN, CONFIGURATION, PRIMARY, CONDITIONS = (
    "__vernal_bean__",
    "__vernal_configuration__",
    "__vernal_primary__",
    "__vernal_conditions__",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BeanMark:
    """What `@bean` was given."""

    name: str | None
    scope: Scope
    order: int | None
    primary: bool
    lazy: bool | None
    timeout: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationMark:
    """What `@configuration` or `@auto_configuration` was given; names of other auto-configurations as strings."""

    automatic: bool = False
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    order: int = 0
    replaces: tuple[str, ...] = ()


def set_mark(target: object, attribute: str, value: object) -> None:
    """Note `value` on a class, a function, or a static or class method."""
    setattr(target, attribute, value)


def get_mark(target: object, attribute: str) -> Any:
    """What was noted on `target` itself, not on a base class; marks inside static and class methods count."""
    for layer in (target, getattr(target, "__func__", None)):
        value = getattr(layer, "__dict__", {}).get(attribute)
        if value is not None:
            return value
    return None


@overload
def bean(function: F, /) -> F: ...
@overload
def bean(
    *,
    name: str | None = None,
    scope: Literal["singleton", "prototype"] | Scope = Scope.SINGLETON,
    order: int | None = None,
    primary: bool = False,
    lazy: bool | None = None,
    timeout: float | None = None,
) -> Callable[[F], F]: ...
def bean(
    function: F | None = None,
    /,
    *,
    name: str | None = None,
    scope: Literal["singleton", "prototype"] | Scope = Scope.SINGLETON,
    order: int | None = None,
    primary: bool = False,
    lazy: bool | None = None,
    timeout: float | None = None,
) -> F | Callable[[F], F]:
    """Declare that a method of a configuration class makes a bean; its return annotation is the bean's type.

    The parameters are injected by type. The method may be a function, a generator or a context manager (what it yields
    is the bean, closed with the context), synchronous or asynchronous; asynchronous ones start with the context.

    Args:
        name: Name of the bean; the method's name by default.
        scope: "singleton" (one object in the context) or "prototype" (a fresh object for each that asks).
        order: Place within `list[T]`, lower first; by default what the object's `order` says, else last.
        primary: Preferred where several beans fit one parameter.
        lazy: False builds a singleton when the context starts; True leaves a synchronous resource to its first use.
        timeout: Seconds that an asynchronous bean may take to start, and again to close; by default no limit.

    Raises:
        ValueError: an unknown scope, or a timeout that is not above 0.
    """
    if timeout is not None and timeout <= 0:
        raise ValueError(f"@bean(timeout={timeout!r}): a number of seconds above 0 is wanted, or None for no limit")
    mark = BeanMark(
        name=name, scope=chosen("scope", scope, Scope), order=order, primary=primary, lazy=lazy, timeout=timeout
    )

    def decorate(target: F) -> F:
        set_mark(target, BEAN, mark)
        return target

    return decorate if function is None else decorate(function)


@overload
def configuration(cls: C, /) -> C: ...
@overload
def configuration() -> Callable[[C], C]: ...
def configuration(cls: C | None = None, /) -> C | Callable[[C], C]:
    """Mark a class whose `@bean` methods declare beans; hand it to `Application(…)`.

    The parameters of its `__init__` are injected by type.
    """

    def decorate(target: C) -> C:
        set_mark(target, CONFIGURATION, ConfigurationMark())
        return target

    return decorate if cls is None else decorate(cls)


Names = str | type | Sequence[str | type]


@overload
def auto_configuration(cls: C, /) -> C: ...
@overload
def auto_configuration(
    *, before: Names = (), after: Names = (), order: int = 0, replaces: Names = ()
) -> Callable[[C], C]: ...
def auto_configuration(
    cls: C | None = None, /, *, before: Names = (), after: Names = (), order: int = 0, replaces: Names = ()
) -> C | Callable[[C], C]:
    """Mark a class of default beans, which are considered after all beans of the user and step back where told to.

    Args:
        before: Auto-configurations that come later than this one: classes, class names, or "module.ClassName".
            Names that nobody carries are ignored.
        after: Auto-configurations that come earlier than this one, likewise.
        order: Lower comes first among those that no `before` or `after` ties together; then the name decides.
        replaces: Names that it had before, under which `before`, `after` and exclusions still find it.
    """
    mark = ConfigurationMark(
        automatic=True, before=_names(before), after=_names(after), order=order, replaces=_names(replaces)
    )

    def decorate(target: C) -> C:
        set_mark(target, CONFIGURATION, mark)
        return target

    return decorate if cls is None else decorate(cls)


def primary(target: F, /) -> F:
    """Prefer a bean where several fit: on a `@bean` method, or on a class that a container provides."""
    set_mark(target, PRIMARY, True)
    return target


def _names(given: Names) -> tuple[str, ...]:
    if isinstance(given, (str, type)):
        given = (given,)
    return tuple(one if isinstance(one, str) else f"{one.__module__}.{one.__qualname__}" for one in given)
