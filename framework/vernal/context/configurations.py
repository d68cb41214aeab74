"""Configuration classes as definitions: the class itself, and each of its `@bean` methods."""

import inspect
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vernal.context.definitions import BeanDefinition, Construction, Origin, OriginKind, Scope
from vernal.context.failures.errors import AnnotationError, ScopeError
from vernal.context.marks import BEAN, CONDITIONS, CONFIGURATION, PRIMARY, BeanMark, ConfigurationMark, get_mark
from vernal.context.points import bean_type_of, construction_of, context_manager, hints_of, points_of
from vernal.values.records import dataclass

if TYPE_CHECKING:
    from vernal.context.conditions.base import Condition


def configuration_mark(source: object) -> ConfigurationMark | None:
    """What `@configuration` or `@auto_configuration` said of a class; None for anything else."""
    mark = get_mark(source, CONFIGURATION) if isinstance(source, type) else None
    return mark if isinstance(mark, ConfigurationMark) else None


def source_name(cls: type) -> str:
    """Name of a class in reports: its qualified name, without the functions that it is local to."""
    return cls.__qualname__.rpartition("<locals>.")[2]


@dataclass(frozen=True, kw_only=True, eq=False)
class Provenance:
    """Who brought a configuration class; plugins of lower `rank` are preferred (`VERNAL_PLUGINS__PREFER`)."""

    kind: OriginKind = OriginKind.USER
    plugin: str | None = None
    version: str | None = None
    rank: int = 0


class ConfigurationSource:
    """A configuration class under consideration; its annotations are read only when something asks for them."""

    def __init__(self, cls: type, provenance: Provenance) -> None:
        self.cls = cls
        self.mark = configuration_mark(cls) or ConfigurationMark()
        self.provenance = provenance
        self.name = source_name(cls)
        self.full_name = f"{cls.__module__}.{cls.__qualname__}"
        self.names = frozenset({self.name, self.full_name, *self.mark.replaces})
        self.conditions: tuple[Condition, ...] = get_mark(cls, CONDITIONS) or ()

    @property
    def origin(self) -> Origin:
        return self.origin_of(None)

    def origin_of(self, function: Callable[..., Any] | None) -> Origin:
        """Where a method, or the class itself, stands."""
        code = getattr(inspect.unwrap(function), "__code__", None) if function is not None else None
        return Origin(
            kind=self.provenance.kind,
            source=f"{self.name}.{function.__name__}" if function is not None else self.name,
            module=self.cls.__module__,
            file=code.co_filename if code is not None else "",
            line=code.co_firstlineno if code is not None else 0,
            plugin=self.provenance.plugin,
            version=self.provenance.version,
        )

    @cached_property
    def definition(self) -> BeanDefinition:
        """The definition of the object whose methods make the beans; nobody else is given it."""
        takes_nothing = self.cls.__init__ is object.__init__  # type: ignore[misc]  # it is read, not called
        hints = {} if takes_nothing else hints_of(self.cls.__init__, self.name)  # type: ignore[misc]  # the same
        points = () if takes_nothing else points_of(self.cls.__init__, hints, self.name, bound=True)  # type: ignore[misc]  # the same
        return BeanDefinition(
            name=self.full_name,
            type=self.cls,
            origin=self.origin,
            points=points,
            function=self.cls,
            infrastructure=True,
        )

    @cached_property
    def methods(self) -> "tuple[BeanMethod, ...]":
        """The bean methods, base classes first, in the order in which they are written."""
        return tuple(self._methods())

    def _methods(self) -> "Iterator[BeanMethod]":
        attributes: dict[str, Any] = {}
        for base in reversed(self.cls.__mro__[:-1]):
            attributes.update(vars(base))
        for name, attribute in attributes.items():
            self._refuse_property(name, attribute)
            mark = get_mark(attribute, BEAN)
            if isinstance(mark, BeanMark):
                yield BeanMethod(self, attribute, mark)

    def _refuse_property(self, name: str, attribute: Any) -> None:
        """Say that a bean would go unseen."""
        inner = getattr(attribute, "fget", None) or getattr(attribute, "func", None)
        if get_mark(inner, BEAN) is not None:
            raise AnnotationError(
                f"{self.name}.{name}",
                "The bean method",
                f"it is a {type(attribute).__name__}, which is no method",
                action=f"Take @{type(attribute).__name__} away: the context calls the method once.",
            )


class BeanMethod:
    """A bean method under consideration."""

    def __init__(self, source: ConfigurationSource, attribute: Any, mark: BeanMark) -> None:
        self.source = source
        self.mark = mark
        self.of_instance = not isinstance(attribute, (staticmethod, classmethod))
        self.function = attribute if self.of_instance else attribute.__get__(None, source.cls)
        self.origin = source.origin_of(self.function)
        self.name = mark.name or self.function.__name__
        self.conditions: tuple[Condition, ...] = get_mark(attribute, CONDITIONS) or ()
        self.primary = mark.primary or bool(get_mark(attribute, PRIMARY))

    @cached_property
    def hints(self) -> dict[str, Any]:
        return hints_of(self.function, self.origin.source)

    @cached_property
    def construction(self) -> Construction:
        return construction_of(self.function, self.hints.get("return"))

    @cached_property
    def bean_type(self) -> Any:
        """The declared type of the bean."""
        returned = self.hints.get("return", inspect.Parameter.empty)
        return bean_type_of(self.name, returned, self.construction, self.origin)

    def define(self) -> BeanDefinition:
        """The definition, read from the annotations.

        Raises:
            UntypedBeanError: the type of the bean cannot be told.
            AnnotationError: a parameter cannot be filled.
            ScopeError: a prototype that would have to be closed, or that is asynchronous; an asynchronous lazy bean.
        """
        function = self.function
        definition = BeanDefinition(
            name=self.name,
            type=self.bean_type,
            origin=self.origin,
            scope=self.mark.scope,
            construction=self.construction,
            order=self.mark.order,
            primary=self.primary,
            lazy=self.mark.lazy,
            timeout=self.mark.timeout,
            points=points_of(function, self.hints, self.origin.source, bound=self.of_instance),
            function=context_manager(function) if self.construction.is_resource else function,
            owner=self.source.definition if self.of_instance else None,
            conditions=(*self.source.conditions, *self.conditions),
        )
        check_scope(definition)
        return definition


def check_scope(definition: BeanDefinition) -> None:
    """Refuse what cannot be kept: nobody closes prototypes, and nobody awaits them where they are injected."""
    construction = definition.construction
    if definition.scope is Scope.PROTOTYPE and (construction.is_resource or construction.is_async):
        raise ScopeError(
            definition,
            f"is a prototype made by a {construction}, which the context could neither await nor close for each "
            "that asks",
            action="Make it a singleton, or return an object that opens and closes itself.",
        )
    if definition.lazy and construction.is_async:
        raise ScopeError(
            definition,
            f"is lazy and made by a {construction}, which cannot be built where it is asked for",
            action="Take lazy=True away: asynchronous beans start with the context.",
        )
