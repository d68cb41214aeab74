"""Starting beans with the context, and what that changes in a user's container, undone at the end."""

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from dependency_injector.providers import BaseResource, BaseSingleton, Object, Provider
from dependency_injector.providers import Callable as CallableProvider

from vernal.context.creation import checked
from vernal.context.definitions import BeanDefinition, Construction
from vernal.context.failures.errors import BeanCreationError, describe_exception
from vernal.context.lifecycle import KeptResource, Lifecycle, Opened
from vernal.context.overriding import undo_override
from vernal.context.steps import Steps
from vernal.errors import ConfigurationError, UsageError

if TYPE_CHECKING:
    from vernal.context.graph import BeanGraph
    from vernal.context.linking import Linker


class Starter:
    """Starts the beans that start with the context."""

    def __init__(self, linker: "Linker", lifecycle: Lifecycle) -> None:
        self._linker = linker
        self._lifecycle = lifecycle

    def start(self, definition: BeanDefinition, provider: Provider[Any] | None = None) -> Steps[None]:
        """Build one bean, which `provider` gives from then on; by default the provider of the context.

        Raises:
            BeanCreationError: its function raised, or gave None.
        """
        provider = provider or self._linker.provider(definition)
        try:
            if definition.provider is not None:
                yield from self._start_of_user(definition, provider)
            elif definition.construction.is_async:
                yield from self._start_async(definition, provider)
            else:
                provider()
        except (ConfigurationError, UsageError):
            raise
        except Exception as error:
            raise BeanCreationError(definition, describe_exception(error)) from error

    def _start_async(self, definition: BeanDefinition, provider: Provider[Any]) -> Steps[None]:
        args, kwargs = self._linker.arguments_of(definition)
        given, named = CallableProvider(lambda *args, **kwargs: (args, kwargs), *args, **kwargs)()
        function: Any = definition.function
        if definition.construction is Construction.COROUTINE:

            async def build() -> Any:
                async with asyncio.timeout(definition.timeout):
                    return await function(*given, **named)

            made = yield build
        else:
            resource = KeptResource(function(*given, **named), definition.name, timeout=definition.timeout)
            made = yield resource.open
            self._lifecycle.add(Opened(definition, aclose=resource.close))
        provider.override(Object(checked(definition, made)))

    def _start_of_user(self, definition: BeanDefinition, provider: Any) -> Steps[None]:
        if not definition.construction.is_async:
            provider()
            if isinstance(provider, BaseResource):
                self._lifecycle.add(Opened(definition, close=provider.shutdown))
            return

        async def initialise() -> Any:
            return await provider()

        made = Object((yield initialise))
        provider.override(made)
        for each in provider.traverse():
            each.reset_async_mode()  # once asynchronous, a provider and its users would stay so
        provider.reset_async_mode()

        async def shut_down() -> None:
            undo_override(provider, made)
            if isinstance(provider, BaseResource):
                ended: Any = provider.shutdown()
                if inspect.isawaitable(ended):
                    await ended

        self._lifecycle.add(Opened(definition, aclose=shut_down))


def forget_ended(graph: "BeanGraph") -> None:
    """Empty the singletons of a user's containers that hold what ends with the context, so that they can be used again.

    That is what came from elsewhere than those containers, and what was started.
    """
    ended: set[str] = set()
    for definition in graph.order:
        holds = any(target.name in ended for target, _ in graph.needs(definition))
        if holds or definition.provider is None or definition.starts_with_context:
            ended.add(definition.name)
            if isinstance(definition.provider, BaseSingleton):
                definition.provider.reset()
