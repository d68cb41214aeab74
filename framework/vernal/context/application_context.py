"""The application context: beans by type, the report of how they were chosen, and their common end."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from types import MappingProxyType, ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from vernal.context.collection import Collection
from vernal.context.conditions.outcome import ConditionReport
from vernal.context.containers import ContainerSource
from vernal.context.definitions import BeanDefinition, InjectionPoint
from vernal.context.failures.errors import (
    AmbiguousBeanError,
    BeanCloseError,
    BeanCreationError,
    MissingBeanError,
)
from vernal.context.graph import BeanGraph
from vernal.context.lifecycle import Lifecycle
from vernal.context.overriding import Override, undo_override
from vernal.context.points import point_of
from vernal.context.steps import Step, Steps, arun_steps, run_steps
from vernal.context.types import may_be_bean_type
from vernal.errors import UsageError
from vernal.runtime.home import note_process, run_on_loop, runs_here
from vernal.runtime.portal import Crossing, run_blocking

if TYPE_CHECKING:
    from dependency_injector.containers import DynamicContainer
    from dependency_injector.providers import Provider

    from vernal.context.settings import Environment

T = TypeVar("T")


class ApplicationContext:
    """The beans of a started application.

    It comes from `Application(…)`: `with Application() as context`, `async with`, `.start()` or `.astart()`; closing it
    closes every resource, the last opened first. Beans may take it as a parameter.

    `conditions` says what was decided and why; `loop` is the event loop on which asynchronous beans were started, None
    where there are none.
    """

    def __init__(self, collection: Collection, graph: BeanGraph, containers: Iterable[ContainerSource]) -> None:
        from vernal.context.linking import Linker  # these two bring dependency-injector, which no import should need
        from vernal.context.starting import Starter

        self.environment: Environment = collection.environment
        self.conditions: ConditionReport = collection.report
        self.loop: asyncio.AbstractEventLoop | None = None
        self._graph = graph
        self._containers = tuple(containers)
        self._lifecycle = Lifecycle()
        self._linker = Linker(graph, self, self._lifecycle)
        self._starter = Starter(self._linker, self._lifecycle)
        self._by_type: dict[Any, Provider[Any]] = {}
        self._lists: dict[Any, Provider[Any]] = {}
        self._undo: list[Callable[[], object]] = []
        self._closed = False
        self._linker.check_names()

    @cached_property
    def container(self) -> "DynamicContainer":
        """The container of dependency-injector that holds a provider for every bean, under the bean's name."""
        return self._linker.container()

    @property
    def beans(self) -> Mapping[str, BeanDefinition]:
        """Every bean by its name, in an order in which they can be built."""
        return MappingProxyType({one.name: one for one in self._graph.order})

    @property
    def graph(self) -> Mapping[str, tuple[str, ...]]:
        """For every bean the names of those that it is given."""
        return {one.name: tuple(target.name for target, _ in self._graph.needs(one)) for one in self._graph.order}

    @property
    def lazy_graph(self) -> Mapping[str, tuple[str, ...]]:
        """For every bean the names of those that it may ask for later, through an `ObjectProvider`."""
        later = {name: (each for each in given if each.lazy) for name, given in self._graph.injections.items()}
        return {name: tuple(one.name for each in given for one in each.targets) for name, given in later.items()}

    def get(self, bean_type: Callable[..., T], *, name: str | None = None) -> T:
        """The bean of a type, built now if nothing has asked for it before.

        `list[T]`, `Mapping[str, T]` and `ObjectProvider[T]` are understood as in parameters.

        Args:
            bean_type: A class (subclasses count), or a generic type as it was declared.
            name: Which of several beans of the type.

        Raises:
            TypeError: `bean_type` is no type, such as the name of a bean.
            MissingBeanError: there is none; the error says which conditions kept candidates out.
            AmbiguousBeanError: there are several, none of them primary.
            BeanCreationError: its function, or one of a bean that it needs, raised.
            UsageError: the context is closed.
        """
        provider = self._by_type.get(bean_type) if name is None else None
        if provider is None:
            provider = self._find(bean_type, name)
        try:
            bean: T = provider()
        except BeanCreationError as error:
            self._explain(error, bean_type, name)
            raise
        return bean

    def get_all(self, bean_type: Callable[..., T]) -> list[T]:
        """Every bean of a type, by their order; those declared as `list[T]` are among them, each object once."""
        provider = self._lists.get(_checked_type(bean_type))
        if provider is None:
            self._check_open()
            provider = self._linker.list_provider(bean_type, self._graph.registry.all_of(bean_type))
            self._lists[bean_type] = provider
        beans: list[T] = provider()
        return beans

    def has(self, bean_type: Callable[..., object], *, name: str | None = None, unique: bool = False) -> bool:
        """Whether there is a bean of a type; `unique`: whether there is exactly one, or one primary one."""
        try:
            return bool(self._graph.resolve(replace(self._point(bean_type, name), optional=True)).targets)
        except AmbiguousBeanError:
            return not unique

    def override(self, bean_type: Callable[..., object], value: T, *, name: str | None = None) -> Override[T]:
        """Put `value` in the place of a bean while a `with` or `async with` block runs, for tests.

        Beans that depend on it, directly or through others, are built anew inside the block, and the old ones are back
        after it. It holds for every thread of the process that uses this context. A stand-in need not be a subclass.

        Raises:
            MissingBeanError: there is no such bean, so nothing would see the value.
        """
        self._check_open()
        injection = self._graph.resolve(replace(self._point(bean_type, name), optional=False))
        return Override(
            value,
            injection.targets[0],
            self._graph,
            self._linker,
            lambda steps: run_steps(steps, self._run_on_loop),
            lambda steps: arun_steps(steps, self._await_on_loop),
        )

    def wire(self, modules: Iterable[ModuleType | str]) -> None:
        """Fill the markers of `@inject` functions in modules: `Provide["bean_name"]` and `Provide[Beans.x]`.

        It patches the modules until the context is closed, so that a module serves one context at a time.
        """
        self._check_open()
        names = list(modules)
        for container in (self.container, *(source.container for source in self._containers)):
            container.wire(modules=names)
            self._undo.append(container.unwire)

    def close(self) -> None:
        """Close every resource, the last opened first; a second time does nothing.

        Raises:
            ExceptionGroup: beans could not be closed, each a `BeanCloseError`; the others were closed.
            UsageError: asynchronous beans run on the very event loop that would have to wait: `await aclose()`.
        """
        if not self._closed:
            self._check_not_on_loop()
        self._raise(run_steps(self._closing(), self._run_on_loop))

    async def aclose(self) -> None:
        """Close every resource, the last opened first; a second time does nothing.

        Raises:
            ExceptionGroup: beans could not be closed, each a `BeanCloseError`; the others were closed.
        """
        self._raise(await arun_steps(self._closing(), self._await_on_loop))

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        self._check_open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<ApplicationContext of {len(self._graph.registry)} beans{', closed' if self._closed else ''}>"

    def _start(self) -> None:
        run_steps(self._starting(), lambda step: run_blocking(self._noting(step)))

    async def _astart(self) -> None:
        await arun_steps(self._starting(), lambda step: self._noting(step)())

    def _starting(self) -> Steps[None]:
        self._claim()
        try:
            self._fill_open_dependencies()
            for definition in self._graph.order:
                if definition.starts_with_context:
                    yield from self._starter.start(definition)
        except BaseException as error:
            for failure in (yield from self._closing()):
                error.add_note(str(failure))
            raise

    def _claim(self) -> None:
        try:
            for source in self._containers:
                source.claim()
        except UsageError:
            self._dismiss()
            raise

    def _dismiss(self) -> None:
        """Let nobody build beans: the context was made to be looked at."""
        self._closed = True
        self._lifecycle.refusal = (
            "this application context was only checked; beans come from Application.start() or 'with'"
        )
        for source in self._containers:
            source.release()

    def _closing(self) -> Steps[list[BeanCloseError]]:
        from vernal.context.starting import forget_ended

        if self._closed:
            return []
        self._closed = True
        self._lifecycle.refusal = "the application context is closed; ask it for beans inside its 'with' block"
        self._by_type.clear()
        self._lists.clear()
        failures = yield from self._lifecycle.closing()
        while self._undo:
            self._undo.pop()()
        for source in self._containers:
            source.release()
        forget_ended(self._graph)
        return failures

    def _fill_open_dependencies(self) -> None:
        for source in self._containers:
            for dependency, point in source.open_dependencies():
                try:
                    injection = self._graph.resolve(point)
                except MissingBeanError:
                    continue  # no bean of the container needs it, or the graph would have said so
                if injection.targets:
                    ours = self._linker.provider(injection.targets[0])
                    dependency.override(ours)
                    self._undo.append(partial(undo_override, dependency, ours))

    def _find(self, bean_type: Any, name: str | None) -> "Provider[Any]":
        self._check_open()
        provider: Provider[Any] = self._linker.argument(self._graph.resolve(self._point(bean_type, name)))
        if name is None:
            self._by_type[bean_type] = provider
        return provider

    def _provider_of(self, point: InjectionPoint) -> "Provider[Any] | None":
        """What fills a parameter outside of the graph; None where it is left to its default."""
        self._check_open()
        injection = self._graph.resolve(point)
        return None if injection.omitted else self._linker.argument(injection)

    def _point(self, bean_type: Any, name: str | None) -> InjectionPoint:
        point = point_of("bean", _checked_type(bean_type), "The lookup")
        return point if name is None else replace(point, name=name)

    def _explain(self, error: BeanCreationError, bean_type: Any, name: str | None) -> None:
        targets = self._graph.resolve(self._point(bean_type, name)).targets
        if targets and not error.path:
            error.path = tuple(self._graph.path(targets[0], error.definition))

    def _check_open(self) -> None:
        if self._closed:
            raise UsageError(self._lifecycle.refusal)

    def _check_not_on_loop(self) -> None:
        if self.loop is not None and asyncio._get_running_loop() is self.loop:
            raise UsageError(
                "this would block the event loop that the asynchronous beans of the context run on; "
                "use 'async with', or await aclose()"
            )

    def _noting(self, step: Step) -> Step:
        async def noted() -> Any:
            self.loop = asyncio.get_running_loop()
            note_process(self.loop)
            return await step()

        return noted

    def _run_on_loop(self, step: Step) -> Any:
        self._check_not_on_loop()
        return Crossing(self._running_loop(), step).wait()

    async def _await_on_loop(self, step: Step) -> Any:
        if self.loop is None or self.loop is asyncio.get_running_loop():
            return await step()
        return await run_on_loop(self._running_loop(), step)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self.loop is None or not runs_here(self.loop):
            raise UsageError(
                "the event loop that the asynchronous beans of this context were started on no longer runs, or belongs "
                "to the process that this one was forked from; close the context before its loop ends, and start the "
                "application after a fork"
            )
        return self.loop

    @staticmethod
    def _raise(failures: list[BeanCloseError]) -> None:
        if failures:
            raise ExceptionGroup("beans of the application context could not be closed", failures)


def _checked_type(bean_type: Any) -> Any:
    """Refuse what is no type, such as the name of a bean."""
    if may_be_bean_type(bean_type):
        return bean_type
    raise TypeError(
        f"a bean was looked up by {bean_type!r}; its type is wanted, such as get(ChatClient), and beside it its name "
        "where there are several of the type: get(Clock, name='utc')"
    )
