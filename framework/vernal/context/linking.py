"""From the checked graph to one container of dependency-injector: the only module that makes providers."""

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from dependency_injector.providers import Callable as CallableProvider
from dependency_injector.providers import Dict, Factory, Object, Provider, ThreadSafeSingleton

from vernal.context.creation import BeanFactory
from vernal.context.definitions import LOWEST_PRECEDENCE, BeanDefinition, Construction, Scope, Wish
from vernal.context.failures.errors import ReservedNameError
from vernal.context.graph import BeanGraph, Injection
from vernal.context.lifecycle import Lifecycle
from vernal.context.object_provider import ObjectProvider
from vernal.context.registry import list_types

if TYPE_CHECKING:
    from dependency_injector.containers import DynamicContainer

    from vernal.context.application_context import ApplicationContext

RESERVED_NAMES = frozenset(
    {
        "__self__",
        "apply_container_providers_overridings",
        "assign_parent",
        "check_dependencies",
        "declarative_parent",
        "dependencies",
        "from_json_schema",
        "from_schema",
        "from_yaml_schema",
        "init_resources",
        "is_auto_wiring_enabled",
        "load_config",
        "overridden",
        "override",
        "override_providers",
        "parent",
        "parent_name",
        "provider_type",
        "providers",
        "reset_last_overriding",
        "reset_override",
        "reset_singletons",
        "resolve_provider_name",
        "set_provider",
        "set_providers",
        "shutdown_resources",
        "traverse",
        "unwire",
        "wire",
        "wired_to_modules",
        "wired_to_packages",
        "wiring_config",
    }
)
"""What containers of dependency-injector have of their own; written out, since no start needs their module."""


class _OwnLock(type):
    """Gives each singleton a lock of its own, where the library shares one among all of the process."""

    @property
    def storage_lock(cls) -> Any:
        return threading.RLock()


class _LockedSingleton(ThreadSafeSingleton[Any], metaclass=_OwnLock):
    __slots__ = ()


def bean_singleton(factory: BeanFactory) -> ThreadSafeSingleton[Any]:
    """A singleton that is built once however many threads ask, while other singletons are built beside it.

    The lock is taken from the class when the provider is made. After that it is the library's own class again: a call
    of a provider whose class is written in Python looks for an override of a method each time, which doubles its cost.
    """
    provider: ThreadSafeSingleton[Any] = _LockedSingleton(factory)
    provider.__class__ = ThreadSafeSingleton
    return provider


class Linker:
    """Makes the providers of a context and ties them together."""

    def __init__(self, graph: BeanGraph, context: "ApplicationContext", lifecycle: Lifecycle) -> None:
        self._graph = graph
        self._context = context
        self._lifecycle = lifecycle
        self._providers: dict[str, Provider[Any]] = {}

    def check_names(self) -> None:
        """Refuse beans that the container could not hold.

        Raises:
            ReservedNameError: a bean has the name of a method or attribute of the container.
        """
        for definition in self._graph.order:
            if definition.name in RESERVED_NAMES:
                raise ReservedNameError(definition)

    def container(self) -> "DynamicContainer":
        """A container with a provider for each bean, under the bean's name."""
        # It brings the wiring of dependency-injector, and with it FastAPI and Flask where these are installed: 0.2 s.
        from dependency_injector.containers import DynamicContainer

        container = DynamicContainer()
        for definition in self._graph.order:
            container.set_provider(definition.name, self.provider(definition))
        return container

    def provider(self, definition: BeanDefinition) -> Provider[Any]:
        """The provider of a definition, made when it is first asked for."""
        known = self._providers.get(definition.name)
        if known is None:
            known = self._providers[definition.name] = self.provider_of(definition)
        return known

    def provider_of(self, definition: BeanDefinition, lifecycle: Lifecycle | None = None) -> Provider[Any]:
        """A provider of its own for a definition, given what its parameters ask for; a user's own is used as it is.

        What it opens is noted in `lifecycle`, by default that of the context.
        """
        if definition.provider is not None:
            return definition.provider
        if definition.construction is Construction.OBJECT:
            return Object(self._context if definition.value is None else definition.value)
        if definition.scope is Scope.PROTOTYPE:
            provider: Any = Factory(BeanFactory(definition, lifecycle or self._lifecycle))
        else:
            provider = bean_singleton(BeanFactory(definition, lifecycle or self._lifecycle))
        args, kwargs = self.arguments_of(definition)
        return provider.set_args(*args).set_kwargs(**kwargs)  # type: ignore[no-any-return]  # the stubs know no setters

    def arguments_of(self, definition: BeanDefinition) -> tuple[list[Any], dict[str, Any]]:
        """The providers of a definition's parameters, positional and by keyword."""
        args = [self.provider(definition.owner)] if definition.owner is not None else []
        kwargs = {}
        for injection in self._graph.injections[definition.name]:
            if injection.omitted:
                continue
            if injection.point.positional:
                args.append(self.argument(injection))
            else:
                kwargs[injection.point.parameter] = self.argument(injection)
        return args, kwargs

    def argument(self, injection: Injection) -> Any:
        """The provider of what fills one parameter."""
        point = injection.point
        if injection.wish is Wish.PROVIDER:
            return Object(ObjectProvider(self._context, point.type, point.name))
        if injection.wish is Wish.LIST:
            return self.list_provider(point.type, injection.targets, tuple if _is_tuple(point.annotation) else list)
        if injection.wish is Wish.MAPPING:
            return Dict({target.name: self.provider(target) for target in injection.targets})
        return self.provider(injection.targets[0]) if injection.targets else Object(None)

    def list_provider(
        self, bean_type: Any, targets: Iterable[BeanDefinition], shape: Callable[[Any], Any] = list
    ) -> Provider[Any]:
        """A provider of all beans of a type, in order."""
        targets = tuple(targets)
        holders = list_types(bean_type)
        return CallableProvider(
            lambda *objects: shape(in_order(targets, objects, holders)),
            *(self.provider(target) for target in targets),
        )


def in_order(targets: Iterable[BeanDefinition], objects: Iterable[Any], holders: tuple[Any, ...]) -> list[Any]:
    """Objects by their order, those of beans that are lists themselves among them, each once."""
    found: dict[int, tuple[int, Any]] = {}
    for target, given in zip(targets, objects, strict=True):
        for each in given if target.type in holders else (given,):
            order = target.order if target.order is not None else getattr(each, "order", None)
            found.setdefault(id(each), (order if isinstance(order, int) else LOWEST_PRECEDENCE, each))
    return [each for _, each in sorted(found.values(), key=lambda pair: pair[0])]


def _is_tuple(annotation: Any) -> bool:
    return getattr(annotation, "__origin__", None) is tuple
