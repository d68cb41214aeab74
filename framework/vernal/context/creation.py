"""The function behind a bean's provider: it builds the object, notes what must be closed, and names what fails."""

from typing import Any

from vernal.context.definitions import BeanDefinition, Construction, Scope
from vernal.context.failures.errors import BeanCreationError, CircularDependencyError, describe_exception
from vernal.context.lifecycle import Lifecycle
from vernal.errors import ConfigurationError, UsageError


class BeanFactory:
    """Builds the object of one definition from its arguments."""

    __slots__ = ("_building", "_lifecycle", "definition")

    def __init__(self, definition: BeanDefinition, lifecycle: Lifecycle) -> None:
        self.definition = definition
        self._lifecycle = lifecycle
        self._building = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        definition = self.definition
        if self._lifecycle.refusal:
            raise UsageError(f"the bean {definition.name!r} cannot be built: {self._lifecycle.refusal}")
        if definition.construction.is_async:
            raise UsageError(
                f"the bean {definition.name!r} is asynchronous and has not been started; it starts with the context, "
                "after the beans that it takes as parameters: take it as a parameter, not from an ObjectProvider "
                "while other beans are being built"
            )
        if self._building:  # each singleton has its lock, so it is this very thread that comes back
            raise CircularDependencyError([(definition, "an ObjectProvider or the context")])
        self._building = definition.scope is Scope.SINGLETON
        try:
            return checked(definition, self._build(args, kwargs))
        except (ConfigurationError, UsageError):  # they explain themselves
            raise
        except Exception as error:
            raise BeanCreationError(definition, describe_exception(error)) from error
        finally:
            self._building = False

    def _build(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        definition = self.definition
        made = definition.function(*args, **kwargs) if definition.function is not None else definition.value
        return self._lifecycle.enter(definition, made) if definition.construction is Construction.MANAGER else made


def checked(definition: BeanDefinition, made: Any) -> Any:
    """The object that was made.

    Raises:
        BeanCreationError: it is None.
    """
    if made is None:
        raise BeanCreationError(definition, "its function gave None")
    return made
