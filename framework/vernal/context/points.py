"""What a function asks for and gives: its parameters as injection points, its bean type, and how it builds."""

import collections.abc
import contextlib
import inspect
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin

from vernal.context.definitions import Construction, InjectionPoint, Origin, Wish
from vernal.context.failures.errors import AnnotationError, UntypedBeanError
from vernal.context.object_provider import Named, ObjectProvider
from vernal.context.types import may_be_bean_type, type_name

_LISTS = (
    list,
    tuple,
    collections.abc.Sequence,
    collections.abc.Collection,
    collections.abc.Iterable,
)
_MAPPINGS = (dict, collections.abc.Mapping)
_YIELDED = (
    collections.abc.Iterator,
    collections.abc.Iterable,
    collections.abc.Generator,
    collections.abc.AsyncIterator,
    collections.abc.AsyncIterable,
    collections.abc.AsyncGenerator,
    contextlib.AbstractContextManager,
    contextlib.AbstractAsyncContextManager,
)


def hints_of(function: Callable[..., Any], source: str) -> dict[str, Any]:
    """The evaluated annotations of a function.

    Raises:
        AnnotationError: a name in them cannot be found at run time.
    """
    try:
        return typing.get_type_hints(inspect.unwrap(function), include_extras=True)
    except (NameError, AttributeError, TypeError, SyntaxError) as error:
        raise AnnotationError(
            source,
            "An annotation",
            f"it cannot be read at run time ({error})",
            action="Mend what is written there."
            if isinstance(error, SyntaxError)
            else "Import the type at module level, not under TYPE_CHECKING and not inside a function.",
        ) from error


def points_of(
    function: Callable[..., Any], hints: dict[str, Any], source: str, *, bound: bool
) -> tuple[InjectionPoint, ...]:
    """The parameters to inject; `bound` leaves out the first (`self` or `cls`), and variadic ones are left out.

    Raises:
        AnnotationError: a parameter has no annotation and no default, or one that the context cannot fill.
    """
    parameters = list(inspect.signature(function).parameters.values())
    if bound and not parameters:
        raise AnnotationError(
            source, "The method", "it does not take 'self'", action="Add self, or make it a @staticmethod."
        )
    points = []
    for parameter in parameters[1 if bound else 0 :]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        has_default = parameter.default is not parameter.empty
        if parameter.name not in hints:
            if has_default:
                continue
            raise AnnotationError(
                source,
                f"The parameter {parameter.name!r}",
                "it has no annotation, so there is no type to inject by",
                action="Annotate it with the type of the bean that it wants.",
            )
        points.append(
            point_of(
                parameter.name,
                hints[parameter.name],
                source,
                has_default=has_default,
                positional=parameter.kind is parameter.POSITIONAL_ONLY,
            )
        )
    return tuple(points)


def point_of(
    parameter: str, annotation: Any, source: str, *, has_default: bool = False, positional: bool = False
) -> InjectionPoint:
    """What one annotation asks for."""
    name: str | None = None
    optional = False
    while True:
        if get_origin(annotation) is Annotated:
            if Named in annotation.__metadata__:
                raise AnnotationError(
                    source,
                    f"The parameter {parameter!r}",
                    "it is Named without a name",
                    action="Give the name of the bean: Annotated[T, Named('…')].",
                )
            named = [each for each in annotation.__metadata__ if isinstance(each, Named)]
            name = named[-1].name if named else name
            annotation = annotation.__origin__
        elif get_origin(annotation) in (typing.Union, types.UnionType):
            members = [each for each in get_args(annotation) if each is not types.NoneType]
            if len(members) != 1:
                raise AnnotationError(
                    source,
                    f"The parameter {parameter!r}",
                    f"{type_name(annotation)} names several types, of which the context cannot choose",
                    action="Ask for one type, or for one or None: T | None.",
                )
            optional = optional or len(members) < len(get_args(annotation))
            annotation = members[0]
        else:
            break
    if annotation is ObjectProvider or not (annotation is None or may_be_bean_type(annotation)):
        raise AnnotationError(
            source,
            f"The parameter {parameter!r}",
            "ObjectProvider says not of which type"
            if annotation is ObjectProvider
            else f"{type_name(annotation)} is no type that a bean could have",
            action="Write ObjectProvider[T]." if annotation is ObjectProvider else "Annotate it with the bean's type.",
        )
    if get_origin(annotation) is ObjectProvider:
        return _provider_point(parameter, annotation, source, name)
    wish, wanted = _wish(annotation) if name is None else (Wish.ONE, annotation)
    return InjectionPoint(
        parameter=parameter,
        type=wanted,
        annotation=annotation,
        wish=wish,
        name=name,
        optional=optional,
        has_default=has_default,
        positional=positional,
    )


def _provider_point(parameter: str, annotation: Any, source: str, name: str | None) -> InjectionPoint:
    inner = point_of(parameter, get_args(annotation)[0], source)
    wanted = inner.type if inner.wish is Wish.ONE else inner.annotation
    return InjectionPoint(
        parameter=parameter, type=wanted, annotation=annotation, wish=Wish.PROVIDER, name=name or inner.name
    )


def _wish(annotation: Any) -> tuple[Wish, Any]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in _LISTS and (origin is not tuple or (len(arguments) == 2 and arguments[1] is Ellipsis)):
        return Wish.LIST, arguments[0]
    if origin in _MAPPINGS and arguments[0] is str:
        return Wish.MAPPING, arguments[1]
    return Wish.ONE, annotation


def construction_of(function: Callable[..., Any], returned: Any) -> Construction:
    """How a function builds its bean, from what it is and what it says that it returns."""
    inner = inspect.unwrap(function)
    if inspect.iscoroutinefunction(function):
        return Construction.COROUTINE
    if inspect.isgeneratorfunction(inner) or get_origin(returned) is contextlib.AbstractContextManager:
        return Construction.MANAGER
    if inspect.isasyncgenfunction(inner) or get_origin(returned) is contextlib.AbstractAsyncContextManager:
        return Construction.ASYNC_MANAGER
    return Construction.CALL


def bean_type_of(name: str, returned: Any, construction: Construction, origin: Origin) -> Any:
    """The declared type of a bean, what a generator or context manager yields included.

    Raises:
        UntypedBeanError: there is no annotation, or one that says nothing.
    """
    if get_origin(returned) is Annotated:
        returned = returned.__origin__
    if construction.is_resource and get_origin(returned) in _YIELDED:
        returned = get_args(returned)[0]
    if returned is inspect.Parameter.empty:
        raise UntypedBeanError(name, origin, "its function has no return annotation")
    if returned in (None, types.NoneType, Any, object) or not may_be_bean_type(returned):
        raise UntypedBeanError(name, origin, f"its function is annotated to return {type_name(returned)}")
    if get_origin(returned) in (typing.Union, types.UnionType):
        raise UntypedBeanError(
            name, origin, f"{type_name(returned)} is no single type, and a bean that may be absent needs a condition"
        )
    return returned


def context_manager(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as one that returns a context manager, also where it is a generator."""
    if inspect.isgeneratorfunction(function):
        return contextlib.contextmanager(function)
    if inspect.isasyncgenfunction(function):
        return contextlib.asynccontextmanager(function)
    return function
