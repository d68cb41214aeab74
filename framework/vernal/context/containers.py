"""A user's `DeclarativeContainer` as definitions: its provider objects are used as they are, found by their type.

Object             the type of its object
Singleton, Factory, Resource and the like
                   the class that it provides, or what its function is annotated to return
Callable           likewise, where its function says what it returns
Dependency         the class that it stands for, once it is bound; unbound, it is filled by the context
Container          the beans of the inner container, named `inner.bean`
everything else    (Configuration, List, Dict, Selector, …) belongs to the container alone
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vernal.context.definitions import BeanDefinition, Construction, InjectionPoint, Origin, OriginKind, Scope
from vernal.context.failures.errors import UntypedBeanError
from vernal.context.marks import PRIMARY, get_mark
from vernal.context.points import bean_type_of, construction_of, hints_of
from vernal.errors import UsageError

if TYPE_CHECKING:
    from dependency_injector.containers import Container
    from dependency_injector.providers import Provider

_CLAIM = "__vernal_claimed__"


def is_container(source: object) -> bool:
    """Whether a source is a container of dependency-injector, class or instance."""
    module = getattr(source if isinstance(source, type) else type(source), "__mro__", ())
    return any(base.__module__ == "dependency_injector.containers" for base in module)


class ContainerSource:
    """A container instance, its beans, and the dependencies that it leaves open."""

    def __init__(self, source: Any) -> None:
        self.container: Container = source() if isinstance(source, type) else source
        self._made_here = isinstance(source, type)
        self._claimed = False
        parent = self.container.declarative_parent if hasattr(self.container, "declarative_parent") else None
        cls = parent or type(self.container)
        self.name = cls.__qualname__.rpartition("<locals>.")[2]
        self.module = cls.__module__
        self._names: dict[int, str] = {}
        self._beans: dict[int, str] = {}

    def definitions(self) -> list[BeanDefinition]:
        """A definition for each provider that is a bean.

        Raises:
            UntypedBeanError: the type of a bean cannot be told.
        """
        found = [
            definition
            for name, provider in self._walk(self.container, "")
            if (definition := self._define(name, provider)) is not None
        ]
        return [replace(one, points=tuple(self._points(one))) for one in found]

    def claim(self) -> None:
        """Take the container for one context; its providers hold objects, which end with that context.

        Raises:
            UsageError: another context that is still open has it.
        """
        if getattr(self.container, _CLAIM, False):
            raise UsageError(
                f"the instance of {self.name} that was given to the application belongs to a context that is still "
                "open; close that first, or give the application the class, of which each start makes an instance"
            )
        setattr(self.container, _CLAIM, True)
        self._claimed = True

    def release(self) -> None:
        """Undo the claim, and what making the container did elsewhere: a container may wire modules when it is made."""
        if self._claimed:
            setattr(self.container, _CLAIM, False)
            self._claimed = False
        if self._made_here:
            self.container.unwire()

    def open_dependencies(self) -> "Iterator[tuple[Provider[Any], InjectionPoint]]":
        """The `Dependency` providers that nothing is bound to, each with what it asks for."""
        from dependency_injector.providers import Dependency

        for provider in self.container.traverse(types=[Dependency]):
            if provider.last_overriding is None:
                yield provider, self._point(provider)

    def _walk(self, container: Any, prefix: str) -> "Iterator[tuple[str, Provider[Any]]]":
        from dependency_injector.providers import Container

        for name, provider in container.providers.items():
            self._names[id(provider)] = prefix + name
            if isinstance(provider, Container):
                yield from self._walk(provider.container, f"{prefix}{name}.")
            else:
                yield prefix + name, provider

    def _define(self, name: str, provider: "Provider[Any]") -> BeanDefinition | None:
        from dependency_injector import providers

        origin = Origin(kind=OriginKind.USER, source=f"{self.name}.{name}", module=self.module)
        if isinstance(provider, providers.Dependency) and provider.last_overriding is None:
            return None
        kinds = (
            providers.Factory,
            providers.BaseSingleton,
            providers.BaseResource,
            providers.Callable,
            providers.Object,
            providers.Dependency,
        )
        plumbing = (providers.Configuration, providers.DependenciesContainer, providers.Coroutine)
        if not isinstance(provider, kinds) or isinstance(provider, plumbing):
            return None
        try:
            declared, construction = _provided(name, provider, origin)
        except UntypedBeanError:
            if isinstance(provider, providers.Callable):
                return None
            raise
        self._beans[id(provider)] = name
        fresh = isinstance(provider, (providers.Factory, providers.Callable))
        return BeanDefinition(
            name=name,
            type=declared,
            origin=origin,
            scope=Scope.PROTOTYPE if fresh else Scope.SINGLETON,
            construction=construction,
            primary=isinstance(declared, type) and bool(get_mark(declared, PRIMARY)),
            provider=provider,
        )

    def _points(self, definition: BeanDefinition) -> Iterator[InjectionPoint]:
        """What a provider asks for through its arguments: beans of its container by name, open ones by type."""
        from dependency_injector.providers import Delegate, Dependency

        seen: set[int] = set()
        waiting = list(definition.provider.related) if definition.provider is not None else []
        while waiting:
            provider = waiting.pop(0)
            if id(provider) in seen or isinstance(provider, Delegate):
                continue
            seen.add(id(provider))
            bean = self._beans.get(id(provider))
            if bean is not None:
                yield InjectionPoint(parameter=bean, type=object, annotation=object, name=bean)
            elif isinstance(provider, Dependency) and provider.last_overriding is None:
                yield self._point(provider)
            else:
                waiting += list(provider.related)

    def _point(self, dependency: Any) -> InjectionPoint:
        name = self._names.get(id(dependency))
        wanted = dependency.instance_of
        return InjectionPoint(
            parameter=name or "Dependency",
            type=wanted,
            annotation=wanted,
            name=name if wanted is object else None,
            hint=name,
            has_default=dependency.default is not None,
        )


def _provided(name: str, provider: Any, origin: Origin) -> tuple[Any, Construction]:
    """The declared type of what a provider gives, and how it comes about."""
    from dependency_injector import providers

    if isinstance(provider, providers.Object):
        return type(provider.provides), Construction.OBJECT
    if isinstance(provider, providers.Dependency):
        return provider.instance_of, Construction.OBJECT
    provides = provider.provides
    if isinstance(provides, providers.Provider):
        return _provided(name, provides, origin)
    resource = isinstance(provider, providers.BaseResource)
    if isinstance(provides, type):
        return _of_class(name, provides, origin) if resource else (provides, Construction.CALL)
    if not inspect.isroutine(inspect.unwrap(provides)) or inspect.isbuiltin(provides):
        raise UntypedBeanError(name, origin, f"it provides {provides!r}, which says nothing of what it returns")
    return _of_function(name, provides, origin, resource=resource)


def _of_class(name: str, provides: type, origin: Origin) -> tuple[Any, Construction]:
    from dependency_injector.resources import AsyncResource, Resource

    if not issubclass(provides, (Resource, AsyncResource)):
        return provides, Construction.MANAGER
    declared, _ = _of_function(name, provides.init, origin, resource=True)
    asynchronous = issubclass(provides, AsyncResource)
    return declared, Construction.ASYNC_MANAGER if asynchronous else Construction.MANAGER


def _of_function(
    name: str, function: Callable[..., Any], origin: Origin, *, resource: bool
) -> tuple[Any, Construction]:
    hints = hints_of(function, origin.source)
    inner = inspect.unwrap(function)
    construction = construction_of(inner, hints.get("return"))
    if resource and not construction.is_resource:
        asynchronous = construction is Construction.COROUTINE
        construction = Construction.ASYNC_MANAGER if asynchronous else Construction.MANAGER
    returned = hints.get("return", inspect.Parameter.empty)
    return bean_type_of(name, returned, construction, origin), construction
