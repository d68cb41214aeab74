"""Types as the context sees them: their names in reports, and under which types a declared type is found."""

import sys
import types
import typing
from abc import ABCMeta
from collections.abc import Iterator
from typing import Any, get_args, get_origin

from vernal.values.records import dataclass


@dataclass(frozen=True, slots=True)
class DeferredType:
    """A class of a module that an auto-configuration does not want to load; see `deferred_module`."""

    module: str
    name: str

    def loaded(self) -> type | None:
        """The class, once somebody has loaded the module."""
        cls: type | None = getattr(sys.modules.get(self.module), self.name, None)
        return cls

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


class deferred_module:  # noqa: N801  # it stands for a module, and is used like one
    """Stands for a module that is slow to load, in the annotations and conditions of an auto-configuration.

    Its attributes are the classes of the module where that is loaded, else what will be found under them then: who
    asks for a class by type, or brings a bean of it, has loaded it before.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> type | DeferredType:
        deferred = DeferredType(self._name, name)
        return deferred.loaded() or deferred


def may_be_bean_type(annotation: Any) -> bool:
    """Whether an annotation is a type by which beans can be found; a type variable and a value are none."""
    if isinstance(annotation, typing.TypeVar):
        return False
    return callable(annotation) or get_origin(annotation) is not None or isinstance(annotation, DeferredType)


def type_name(bean_type: Any) -> str:
    """Full name of a type for reports: `httpx.AsyncClient`, `list[vernal.tools.ToolCallback]`."""
    if bean_type is None or bean_type is types.NoneType:
        return "None"
    origin = get_origin(bean_type)
    if origin is not None:
        if origin is typing.Union or origin is types.UnionType:
            return " | ".join(type_name(argument) for argument in get_args(bean_type))
        arguments = ", ".join(
            f"[{', '.join(map(type_name, argument))}]" if isinstance(argument, list) else type_name(argument)
            for argument in get_args(bean_type)
        )
        return f"{type_name(origin)}[{arguments}]" if arguments else type_name(origin)
    if isinstance(bean_type, type):
        return bean_type.__qualname__ if bean_type.__module__ == "builtins" else _full_name(bean_type)
    if bean_type is Ellipsis:
        return "..."
    return str(bean_type)


def short_type_name(bean_type: Any) -> str:
    """Last part of a type's name, by which near names are found: `AsyncClient`."""
    origin = get_origin(bean_type)
    return getattr(origin or bean_type, "__qualname__", str(bean_type)).rpartition(".")[2]


def found_under(declared: Any) -> Iterator[Any]:
    """Every type under which a bean of the declared type is found.

    A class is found under itself and its bases, parametrised bases (`Repository[Order]`) included; a generic alias
    under itself and what its origin is found under; a `NewType` under itself and its supertype. `object` is left out.
    A deferred class is found when it is loaded.
    """
    if isinstance(declared, DeferredType):
        loaded = declared.loaded()
        if loaded is not None:
            yield from found_under(loaded)
        return
    yield declared
    if isinstance(declared, typing.NewType):
        yield from found_under(declared.__supertype__)
        return
    origin = get_origin(declared)
    if isinstance(origin, type):
        yield from found_under(origin)
        return
    if not isinstance(declared, type):
        return
    for base in declared.__mro__:
        if base is not declared and base is not object and base is not typing.Generic:
            yield base
        for alias in base.__dict__.get("__orig_bases__", ()):
            if get_origin(alias) not in (None, typing.Generic, typing.Protocol):
                yield alias


def may_have_virtual_subclasses(wanted: Any) -> bool:
    """Whether a type is an abstract base class, which may count classes as its own that do not derive from it."""
    return isinstance(wanted, ABCMeta) and not getattr(wanted, "_is_protocol", False)


def is_virtual_subclass(declared: Any, wanted: ABCMeta) -> bool:
    """Whether an abstract base class counts the declared class as its own, although it is no base (`ABC.register`)."""
    return isinstance(declared, type) and issubclass(declared, wanted) and wanted not in declared.__mro__


def _full_name(bean_type: type) -> str:
    return f"{bean_type.__module__}.{bean_type.__qualname__}"
