"""The definitions collected so far, found by type and by name."""

from collections.abc import Iterator, Sequence
from typing import Any

from vernal.context.definitions import LOWEST_PRECEDENCE, BeanDefinition, InjectionPoint
from vernal.context.failures.errors import DuplicateBeanError
from vernal.context.types import DeferredType, found_under, is_virtual_subclass, may_have_virtual_subclasses


class DefinitionRegistry:
    """Bean definitions in the order in which they were registered; names are unique."""

    def __init__(self) -> None:
        self._by_name: dict[str, BeanDefinition] = {}
        self._by_type: dict[Any, list[BeanDefinition]] = {}
        self._deferred: list[BeanDefinition] = []

    def add(self, definition: BeanDefinition) -> None:
        """Register a definition.

        Raises:
            DuplicateBeanError: another bean has its name.
        """
        existing = self._by_name.setdefault(definition.name, definition)
        if existing is not definition:
            raise DuplicateBeanError(definition, existing)
        if not definition.infrastructure:
            self._index(definition)

    def _index(self, definition: BeanDefinition) -> None:
        found = dict.fromkeys(found_under(definition.type))
        if not found:
            self._deferred.append(definition)
        for bean_type in found:
            self._by_type.setdefault(bean_type, []).append(definition)

    def __iter__(self) -> Iterator[BeanDefinition]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def named(self, name: str) -> BeanDefinition | None:
        """The definition with this name."""
        return self._by_name.get(name)

    def candidates(self, bean_type: Any) -> list[BeanDefinition]:
        """Every definition that is a `bean_type`, in order of registration."""
        if isinstance(bean_type, DeferredType):
            bean_type = bean_type.loaded()
        if self._deferred:
            deferred, self._deferred = self._deferred, []
            for definition in deferred:
                self._index(definition)
        if bean_type is object or bean_type is Any:
            return [definition for definition in self if not definition.infrastructure]
        found = self._by_type.get(bean_type, [])
        if not may_have_virtual_subclasses(bean_type):
            return found
        return found + [
            definition
            for definition in self
            if not definition.infrastructure and is_virtual_subclass(definition.type, bean_type)
        ]

    def matching(self, point: InjectionPoint) -> list[BeanDefinition]:
        """The candidates of a parameter or lookup, narrowed by its name."""
        if point.name is None:
            return self.candidates(point.type)
        named = self._by_name.get(point.name)
        fits = named is not None and (point.type is object or named in self.candidates(point.type))
        return [named] if named is not None and fits else []

    def all_of(self, bean_type: Any) -> list[BeanDefinition]:
        """The beans of a `list[bean_type]` by their declared order, those declared as lists of it among them."""
        found = list(self.candidates(bean_type))
        for alias in list_types(bean_type):
            found += [one for one in self._by_type.get(alias, ()) if one not in found]
        return sorted(found, key=lambda one: LOWEST_PRECEDENCE if one.order is None else one.order)


def list_types(bean_type: Any) -> tuple[Any, ...]:
    """The declared types whose beans hold several of `bean_type`."""
    return list[bean_type], tuple[bean_type, ...], Sequence[bean_type]


def preferred(found: list[BeanDefinition], hint: str | None = None) -> BeanDefinition | None:
    """The one of several that is meant: the only one, the only primary one, or the one of the hinted name."""
    if len(found) == 1:
        return found[0]
    primaries = [definition for definition in found if definition.primary]
    if len(primaries) == 1:
        return primaries[0]
    return next((definition for definition in found if definition.name == hint), None)
