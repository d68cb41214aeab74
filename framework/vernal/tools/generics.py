"""Type variables of generic base classes: what they stand for in the class of an object (R17, MTP-09)."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, get_args, get_origin


def generic_owner(function: Callable[..., Any]) -> type | None:
    """The class of the object whose method `function` is, where that class has generic bases; else None."""
    if not inspect.ismethod(function):
        return None
    owner = function.__self__ if isinstance(function.__self__, type) else type(function.__self__)
    return owner if issubclass(owner, Generic) else None


def type_arguments(function: Callable[..., Any]) -> Mapping[Any, Any]:
    """What the type variables in the annotations of method `function` stand for; empty where it is not generic."""
    owner = generic_owner(function)
    if owner is None:
        return {}
    name = function.__name__
    definer = next((base for base in owner.__mro__ if name in vars(base)), owner)
    return _arguments(owner, definer, {})


def substituted(annotation: Any, arguments: Mapping[Any, Any]) -> Any:
    """`annotation` with its type variables replaced."""
    if not arguments:
        return annotation
    if isinstance(annotation, TypeVar):
        return arguments.get(annotation, annotation)
    variables = () if isinstance(annotation, type) else getattr(annotation, "__parameters__", ())
    if not variables:
        return annotation
    return annotation[tuple(arguments.get(variable, variable) for variable in variables)]


def _arguments(cls: type, definer: type, known: Mapping[Any, Any]) -> Mapping[Any, Any]:
    if cls is definer:
        return known
    for base in vars(cls).get("__orig_bases__", cls.__bases__):
        origin = get_origin(base) or base
        if isinstance(origin, type) and issubclass(origin, definer):
            given = [substituted(argument, known) for argument in get_args(base)]
            return _arguments(origin, definer, dict(zip(getattr(origin, "__parameters__", ()), given, strict=False)))
    return known
