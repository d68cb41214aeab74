"""`context.override(T, value)`: another object in the place of a bean for a while, its dependents built anew."""

import copy
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from vernal.context.definitions import BeanDefinition, Construction, Scope
from vernal.context.failures.errors import BeanCloseError
from vernal.context.lifecycle import Lifecycle
from vernal.context.steps import Steps

if TYPE_CHECKING:
    from dependency_injector.providers import Provider

    from vernal.context.graph import BeanGraph
    from vernal.context.linking import Linker

T = TypeVar("T")


class Override(Generic[T]):
    """Holds inside a `with` or `async with` block, which gives the value.

    Singletons that depend on the bean are put aside and built anew where they are asked for; after the block they are
    there again, and what was built inside is closed. Where an asynchronous bean depends on it, a blocking `with` must
    not stand on that bean's event loop.
    """

    def __init__(
        self,
        value: T,
        definition: BeanDefinition,
        graph: "BeanGraph",
        linker: "Linker",
        run: Callable[[Steps[Any]], Any],
        arun: Callable[[Steps[Any]], Coroutine[Any, Any, Any]],
    ) -> None:
        self._value = value
        self._definition = definition
        self._graph = graph
        self._linker = linker
        self._run = run
        self._arun = arun
        self._lifecycle = Lifecycle()
        self._undo: list[tuple[Provider[Any], Provider[Any]]] = []

    def __enter__(self) -> T:
        self._run(self._entering())
        return self._value

    def __exit__(self, *exc: object) -> None:
        self._raise(self._run(self._leaving()))

    async def __aenter__(self) -> T:
        await self._arun(self._entering())
        return self._value

    async def __aexit__(self, *exc: object) -> None:
        self._raise(await self._arun(self._leaving()))

    def _entering(self) -> Steps[None]:
        from dependency_injector.providers import Object

        from vernal.context.starting import Starter

        starter = Starter(self._linker, self._lifecycle)
        try:
            self._replace(self._definition, Object(self._value))
            for dependent in self._graph.dependents(self._definition):
                if dependent.scope is Scope.PROTOTYPE or dependent.construction is Construction.OBJECT:
                    continue
                fresh = self._fresh(dependent)
                self._replace(dependent, fresh)
                if dependent.starts_with_context:
                    yield from starter.start(dependent, fresh)
        except BaseException:
            yield from self._leaving()
            raise

    def _leaving(self) -> Steps[list[BeanCloseError]]:
        failures = yield from self._lifecycle.closing()
        while self._undo:
            undo_override(*self._undo.pop())
        return failures

    def _replace(self, definition: BeanDefinition, provider: "Provider[Any]") -> None:
        own = self._linker.provider(definition)
        own.override(provider)
        self._undo.append((own, provider))

    def _fresh(self, definition: BeanDefinition) -> "Provider[Any]":
        """A provider like the definition's own that has not built anything.

        One of a user's container is copied with the nameless providers inside it; beans and plain values stay the same.
        """
        from dependency_injector.providers import Dependency, Provider

        own: Any = definition.provider
        if own is None:
            return self._linker.provider_of(definition, self._lifecycle)
        same: list[Any] = [self._linker.provider(one) for one in self._graph.order if one is not definition]
        for each in (own, *own.traverse()):
            if isinstance(each, Dependency):
                same.append(each)
            given = [*getattr(each, "args", ()), *getattr(each, "kwargs", {}).values()]
            given += getattr(each, "attributes", {}).values()
            same += [value for value in given if not isinstance(value, Provider)]
        memo = {id(each): each for each in same}
        fresh = type(own)(own.provides, *copy.deepcopy(own.args, memo), **copy.deepcopy(own.kwargs, memo))
        if hasattr(own, "attributes"):
            fresh.set_attributes(**copy.deepcopy(own.attributes, memo))
        return fresh  # type: ignore[no-any-return]  # the class of a provider is a provider's

    @staticmethod
    def _raise(failures: list[BeanCloseError]) -> None:
        if failures:
            raise ExceptionGroup("beans that were built for an override could not be closed", failures)


def undo_override(provider: "Provider[Any]", ours: "Provider[Any]") -> None:
    """Take one override away, and leave those that others put before or after it."""
    stack = provider.overridden
    if ours in stack:
        provider.reset_override()
        for each in stack:
            if each is not ours:
                provider.override(each)
