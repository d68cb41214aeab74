"""Conditions on the beans defined so far: `on_missing_bean`, `on_bean`, `on_single_candidate`."""

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, overload

from vernal.context.conditions.base import Condition, ConditionContext
from vernal.context.conditions.outcome import ConditionOutcome
from vernal.context.definitions import BeanDefinition
from vernal.context.registry import preferred
from vernal.context.types import type_name

F = TypeVar("F", bound=Callable[..., object])


class BeanCondition(Condition):
    """Looks for beans by type or name. Without either it means the type of the method that it stands on."""

    looks_at_beans = True
    decorator = ""

    def __init__(self, *types: Any, name: str | None = None, ignored: tuple[Any, ...] = ()) -> None:
        self.types = types
        self.name = name
        self.ignored = ignored

    def found(self, context: ConditionContext) -> list[tuple[str, list[BeanDefinition]]]:
        """What was looked for, and the definitions of each."""
        if self.name is not None:
            named = context.beans.named(self.name)
            fits = named is not None and (
                not self.types or any(named in context.beans.candidates(one) for one in self.types)
            )
            return [(f"bean named {self.name!r}", [named] if named is not None and fits else [])]
        return [
            (f"bean of type {type_name(one)}", self._counted(context.beans.candidates(one)))
            for one in self._wanted_types(context)
        ]

    def _counted(self, found: list[BeanDefinition]) -> list[BeanDefinition]:
        """Those that are of no ignored type."""
        ignored = tuple(kind for kind in self.ignored if isinstance(kind, type))
        return [one for one in found if not (isinstance(one.type, type) and issubclass(one.type, ignored))]

    def _wanted_types(self, context: ConditionContext) -> tuple[Any, ...]:
        if self.types:
            return self.types
        if context.declared_type is None:
            from vernal.errors import ConfigurationError

            raise ConfigurationError(
                f"@{self.decorator} stands on a class without saying which bean it means; "
                f"write @{self.decorator}(TheBeanType)"
            )
        return (context.declared_type(),)

    def __str__(self) -> str:
        parts = [type_name(one) for one in self.types] + ([f"name={self.name!r}"] if self.name else [])
        parts += [f"ignored={', '.join(map(type_name, self.ignored))}"] if self.ignored else []
        return f"{self.decorator}({', '.join(parts)})"


class OnMissingBean(BeanCondition):
    """Matches when none of the beans is defined yet."""

    decorator = "on_missing_bean"

    def evaluate(self, context: ConditionContext) -> ConditionOutcome:
        searched = self.found(context)
        for wanted, found in searched:
            if found:
                first = found[0]
                return self.outcome(False, f"found {wanted}: {first.name!r} from {first.origin}", by=first.name)
        return self.outcome(True, f"found no {' and no '.join(wanted for wanted, _ in searched)}")


class OnBean(BeanCondition):
    """Matches when each of the beans is defined."""

    decorator = "on_bean"

    def evaluate(self, context: ConditionContext) -> ConditionOutcome:
        searched = self.found(context)
        for wanted, found in searched:
            if not found:
                return self.outcome(False, f"found no {wanted}", cure=f"declare a {wanted}")
        return self.outcome(True, "; ".join(f"found {wanted}: {found[0].name!r}" for wanted, found in searched))


class OnSingleCandidate(BeanCondition):
    """Matches when there is exactly one such bean, or exactly one that is primary."""

    decorator = "on_single_candidate"

    def evaluate(self, context: ConditionContext) -> ConditionOutcome:
        ((wanted, found),) = self.found(context)
        chosen = preferred(found)
        if chosen is not None:
            return self.outcome(True, f"found a single {wanted}: {chosen.name!r}")
        if not found:
            return self.outcome(False, f"found no {wanted}", cure=f"declare a {wanted}")
        names = ", ".join(repr(definition.name) for definition in found)
        return self.outcome(
            False, f"found {len(found)} and no single primary {wanted}: {names}", cure="mark one of them @primary"
        )


@overload
def on_missing_bean(
    bean_type: type[object], /, *types: Any, name: str | None = None, ignored: type | tuple[type, ...] = ()
) -> Condition: ...
@overload
def on_missing_bean(function: F, /) -> F: ...
@overload
def on_missing_bean(*, name: str | None = None, ignored: type | tuple[type, ...] = ()) -> Condition: ...
def on_missing_bean(*types: Any, name: str | None = None, ignored: type | tuple[type, ...] = ()) -> Any:
    """Count only if no such bean is defined yet, so that a default steps back.

    Bare on a bean method it means the method's own return type. Subtypes count, but not those of `ignored`; beans of
    the user come first, then the auto-configurations in their order.
    """
    return _attached(OnMissingBean, types, name, ignored if isinstance(ignored, tuple) else (ignored,))


@overload
def on_bean(bean_type: type[object], /, *types: Any, name: str | None = None) -> Condition: ...
@overload
def on_bean(function: F, /) -> F: ...
@overload
def on_bean(*, name: str | None = None) -> Condition: ...
def on_bean(*types: Any, name: str | None = None) -> Any:
    """Count only if each of these beans is defined already (subtypes count)."""
    return _attached(OnBean, types, name)


def on_single_candidate(bean_type: Any, /) -> Condition:
    """Count only if there is exactly one bean of this type, or exactly one primary one."""
    return OnSingleCandidate(bean_type)


def _attached(
    kind: type[BeanCondition], types: tuple[Any, ...], name: str | None, ignored: tuple[type, ...] = ()
) -> Any:
    if len(types) == 1 and isinstance(types[0], (FunctionType, staticmethod, classmethod)):
        bare: Any = types[0]
        return kind()(bare)
    return kind(*types, name=name, ignored=ignored)
