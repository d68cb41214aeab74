"""The graph of an application: which bean is given to which parameter, checked while nothing is built."""

from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from vernal.context.collection import Rejected
from vernal.context.definitions import BeanDefinition, Construction, InjectionPoint, Origin, OriginKind, Wish
from vernal.context.failures.errors import (
    AmbiguousBeanError,
    CircularDependencyError,
    ContextError,
    KeptOut,
    MissingBeanError,
)
from vernal.context.registry import DefinitionRegistry, preferred
from vernal.context.settings.errors import SettingsError
from vernal.context.types import found_under, short_type_name, type_name
from vernal.errors import ConfigurationError
from vernal.values.records import dataclass

if TYPE_CHECKING:
    from vernal.context.plugins import Plugin
    from vernal.context.settings import Environment, Settings


@dataclass(frozen=True, slots=True)
class Injection:
    """A parameter and the beans that fill it; with none, the parameter gets None, an empty shape, or its default."""

    point: InjectionPoint
    targets: tuple[BeanDefinition, ...]
    wish: Wish

    @property
    def omitted(self) -> bool:
        """The parameter is left to its default."""
        return not self.targets and self.point.has_default

    @property
    def lazy(self) -> bool:
        """The beans are asked for later, not needed when the asking one is built."""
        return self.wish is Wish.PROVIDER


class BeanGraph:
    """Every definition with what fills its parameters, in an order in which they can be built.

    Raises:
        ContextError: a bean is missing or ambiguous, or beans need each other; all that was found is in it.
        SettingsError: settings that a bean takes are wrong.
    """

    def __init__(
        self,
        registry: DefinitionRegistry,
        environment: "Environment",
        rejected: Sequence[Rejected] = (),
        *,
        failed_plugins: "Sequence[Plugin]" = (),
    ) -> None:
        self.registry = registry
        self.environment = environment
        self._rejected = rejected
        self._failed_plugins = failed_plugins
        self._settings: dict[type[Settings], BeanDefinition] = {}
        self._problems: list[ConfigurationError] = []
        self.injections: dict[str, tuple[Injection, ...]] = {}
        for definition in list(registry):
            self._add(definition)
        self._raise_problems()
        self.order = self._sorted()

    @property
    def settings(self) -> "tuple[type[Settings], ...]":
        """The settings classes that beans take."""
        return tuple(self._settings)

    def needs(self, definition: BeanDefinition, *, lazy: bool = False) -> Iterator[tuple[BeanDefinition, str]]:
        """The beans that a definition is given, each with the parameter; `lazy` adds those that it may ask for."""
        if definition.owner is not None:
            yield definition.owner, "self"
        for injection in self.injections[definition.name]:
            if lazy or not injection.lazy:
                for target in injection.targets:
                    yield target, injection.point.parameter

    def dependents(self, definition: BeanDefinition) -> list[BeanDefinition]:
        """The beans that are given this one, directly or through others, in an order in which they can be built."""
        reached = {definition.name}
        waiting = [definition.name]
        users = self._users()
        while waiting:
            fresh = [name for name in users.get(waiting.pop(), ()) if name not in reached]
            reached.update(fresh)
            waiting += fresh
        return [one for one in self.order if one.name in reached and one is not definition]

    def path(self, start: BeanDefinition, end: BeanDefinition) -> list[BeanDefinition]:
        """The shortest way along which the one needs the other; empty if it does not."""
        paths = {start.name: [start]}
        waiting = [start]
        while waiting:
            here = waiting.pop(0)
            if here is end:
                return paths[here.name]
            for target, _ in self.needs(here, lazy=True):
                if target.name not in paths:
                    paths[target.name] = [*paths[here.name], target]
                    waiting.append(target)
        return []

    def resolve(self, point: InjectionPoint) -> Injection:
        """What fills a parameter or a lookup.

        Raises:
            MissingBeanError: nothing fits, and the parameter is required.
            AmbiguousBeanError: several fit, one is wanted, and none is preferred.
            SettingsError: the settings that are asked for are wrong.
        """
        if point.wish is Wish.PROVIDER:
            return Injection(point, tuple(self.registry.matching(point)), Wish.PROVIDER)
        if point.wish is Wish.LIST:
            return Injection(point, tuple(self.registry.all_of(point.type)), Wish.LIST)
        if point.wish is Wish.MAPPING and not self.registry.candidates(point.annotation):
            return Injection(point, tuple(self.registry.candidates(point.type)), Wish.MAPPING)
        found = self.registry.matching(point) if point.wish is Wish.ONE else self.registry.candidates(point.annotation)
        if not found and (settings := self._bound(point.type)) is not None:
            found = [settings]
        chosen = preferred(found, point.hint)
        if chosen is not None:
            return Injection(point, (chosen,), Wish.ONE)
        if found:
            raise AmbiguousBeanError(point, found)
        if point.required:
            raise MissingBeanError(
                point,
                kept_out=list(self._kept_out(point)),
                near=self._near(point),
                failed_plugins=self._failed_plugins,
            )
        return Injection(point, (), Wish.ONE)

    def _add(self, definition: BeanDefinition) -> None:
        injections = []
        for point in definition.points:
            try:
                injections.append(self.resolve(point))
            except (MissingBeanError, AmbiguousBeanError, SettingsError) as problem:
                self._problems.append(problem)
                if not isinstance(problem, SettingsError):
                    problem.path = (definition,)
        self.injections[definition.name] = tuple(injections)

    def _bound(self, wanted: Any) -> BeanDefinition | None:
        """The definition of a settings class, bound when it is first asked for."""
        if not isinstance(wanted, type) or not hasattr(wanted, "settings_prefix"):
            return None
        settings_class: type[Settings] = wanted
        if settings_class not in self._settings:
            definition = BeanDefinition(
                name=f"{wanted.__module__}.{wanted.__qualname__}",
                type=wanted,
                origin=Origin(kind=OriginKind.SETTINGS, source=wanted.__qualname__, module=wanted.__module__),
                construction=Construction.OBJECT,
                value=self.environment.bind(settings_class),
                infrastructure=True,
            )
            self.registry.add(definition)
            self.injections[definition.name] = ()
            self._settings[settings_class] = definition
        return self._settings[settings_class]

    def _sorted(self) -> tuple[BeanDefinition, ...]:
        needs = {one.name: [target.name for target, _ in self.needs(one)] for one in self.registry}
        try:
            names = list(TopologicalSorter(needs).static_order())
        except CycleError as error:
            names = error.args[1][:0:-1]  # each needs the next, the first not repeated
            raise CircularDependencyError(list(self._cycle(names))) from None
        return tuple(definition for name in names if (definition := self.registry.named(name)) is not None)

    def _cycle(self, names: list[str]) -> Iterator[tuple[BeanDefinition, str]]:
        for name, following in zip(names, [*names[1:], names[0]], strict=True):
            definition = self.registry.named(name)
            if definition is not None:
                yield definition, next(how for target, how in self.needs(definition) if target.name == following)

    def _users(self) -> dict[str, list[str]]:
        users: dict[str, list[str]] = {}
        for one in self.registry:
            for target, _ in self.needs(one, lazy=True):
                users.setdefault(target.name, []).append(one.name)
        return users

    def _raise_problems(self) -> None:
        if not self._problems:
            return
        users = self._users()
        for problem in self._problems:
            if isinstance(problem, (MissingBeanError, AmbiguousBeanError)):
                problem.path = self._path_to(problem.path[0], users)
        wrong = [problem for problem in self._problems if isinstance(problem, SettingsError)]
        settings = SettingsError(dict.fromkeys(each for problem in wrong for each in problem.problems))
        unfit = [problem for problem in self._problems if isinstance(problem, ContextError)]
        if not unfit:
            raise settings
        unfit[0].others = (*unfit[1:], *([settings] if wrong else []))
        raise unfit[0]

    def _path_to(self, definition: BeanDefinition, users: dict[str, list[str]]) -> tuple[BeanDefinition, ...]:
        """From a bean that nobody needs to this one."""
        path = [definition]
        while True:
            fresh = [name for name in users.get(path[0].name, ()) if name not in {one.name for one in path}]
            above = self.registry.named(fresh[0]) if fresh else None
            if above is None:
                return tuple(path)
            path.insert(0, above)

    def _kept_out(self, point: InjectionPoint) -> Iterator[KeptOut]:
        for rejected in self._rejected:
            method = rejected.method
            try:
                fits = point.type in found_under(method.bean_type)
            except ConfigurationError:  # its annotations need a module that is not installed: the name must do
                stated = str(getattr(method.function, "__annotations__", {}).get("return", ""))
                fits = stated.rpartition(".")[2] == short_type_name(point.type)
            if fits:
                yield rejected.kept_out

    def _near(self, point: InjectionPoint) -> tuple[str, ...]:
        from difflib import get_close_matches  # needed only where something has gone wrong

        known = [one for one in self.registry if not one.infrastructure]
        if point.name is not None:
            return tuple(repr(name) for name in get_close_matches(point.name, [one.name for one in known]))
        by_name: dict[str, BeanDefinition] = {short_type_name(one.type).casefold(): one for one in known}
        found = get_close_matches(short_type_name(point.type).casefold(), by_name, cutoff=0.75)
        return tuple(f"{type_name(by_name[name].type)} ({by_name[name].name!r})" for name in found)
