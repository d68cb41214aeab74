"""The tools of an application: what is known of them while nothing is built, and all of them once it runs."""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args, get_origin

from vernal.cli.inspection import Inspection
from vernal.client.client import ChatClient
from vernal.context.application_context import ApplicationContext
from vernal.context.definitions import BeanDefinition
from vernal.context.failures import analyze
from vernal.context.failures.errors import describe_exception
from vernal.runtime.portal import run_blocking
from vernal.tools.callback import ToolCallback, ToolCallbackProvider
from vernal.tools.collection import ask_providers, expand_tools
from vernal.tools.customization import ToolCustomizer, customized
from vernal.tools.decorator import tools_of_class
from vernal.tools.definition import ToolMetadata
from vernal.values.records import dataclass

LATER = "known when the application runs; --start lists it"
CLIENT = "every client"
LEFT_OUT = "not offered: its settings (tools.named), or another tool customizer, leave it out"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTool:
    """A tool as it is offered, or something that holds tools which are not known.

    `source` is the bean or plugin that brings it, `origin` where it stands. `name` is None where `problem` says why it
    is not known, or that it cannot be a tool.
    """

    source: str
    origin: str
    name: str | None = None
    description: str = ""
    metadata: ToolMetadata | None = None
    schema: Mapping[str, Any] | None = None
    problem: str = ""


def find_tools(inspection: Inspection) -> list[FoundTool]:
    """The tools of beans and plugins, as far as types tell; of all beans only tool customizers are built."""
    if inspection.context is None:
        return list(_Finder(inspection).found())
    with inspection.building_on_request() as context:
        try:
            customizers = context.get_all(ToolCustomizer)
        except Exception as error:  # noqa: BLE001 - a bean may raise anything, and the tools are still to be seen
            problem = FoundTool(source="tool customizers", origin="", problem=describe_exception(error))
            return [*_Finder(inspection).found(), problem]
        return list(_Finder(inspection, customizers).found())


def list_tools(inspection: Inspection) -> list[FoundTool]:
    """All tools of beans, plugins and the chat client.

    The application is started, beans that hold tools are built, and providers asked.
    Where the start fails, `inspection.failure` says why, and the answer is that of `find_tools`.
    """
    try:
        with inspection.running() as running:
            return list(_Finder(inspection, running.get_all(ToolCustomizer), running).all())
    except Exception as error:  # noqa: BLE001 - a start may fail in any way, which is shown
        inspection.failure = analyze(error)
        return list(_Finder(inspection).found())


class _Finder:
    """Reads the tools of beans and plugins; beans are built and providers asked where the application is `running`."""

    def __init__(
        self,
        inspection: Inspection,
        customizers: Sequence[ToolCustomizer] = (),
        running: ApplicationContext | None = None,
    ) -> None:
        self._application = inspection.application
        self._customizers = customizers
        self._running = running

    def found(self) -> Iterator[FoundTool]:
        for bean in self._application.beans.values():
            if not bean.infrastructure:
                yield from self._of_bean(bean)
        for plugin in self._application.loaded_plugins or ():
            yield from self._of_objects(f"plugin {plugin.name!r}", plugin.module, plugin.tools)

    def all(self) -> Iterator[FoundTool]:
        """The tools of beans and plugins, then those that the chat client offers beside them."""
        seen = set()
        for one in self.found():
            seen.add((one.name, one.origin))
            yield one
        if self._running is None or not self._running.has(ChatClient, unique=True):
            return
        try:
            defaults = self._running.get(ChatClient)._defaults
        except Exception as error:  # noqa: BLE001 - what a client is made of may raise anything
            yield FoundTool(source=CLIENT, origin="", problem=describe_exception(error))
            return
        for one in self._of_objects(CLIENT, "", [*defaults.tools, *defaults.providers]):
            if (one.name, one.origin) not in seen:
                yield one

    def _of_bean(self, bean: BeanDefinition) -> list[FoundTool]:
        kind = get_origin(bean.type) or bean.type
        marked = isinstance(kind, type) and bool(tools_of_class(kind))
        if not (marked or any(_is_callback(each) for each in (kind, *get_args(bean.type)))):
            return []
        source, origin = f"bean {bean.name!r}", str(bean.origin)
        if self._running is not None:
            try:
                return self._of_objects(source, origin, [self._running.get(bean.type, name=bean.name)])
            except Exception as error:  # noqa: BLE001 - a bean may raise anything, and the others are still to be seen
                return [FoundTool(source=source, origin=origin, problem=describe_exception(error))]
        if bean.value is not None:
            return self._of_objects(source, origin, [bean.value])
        if marked and not inspect.isabstract(kind):
            return self._of_objects(source, origin, [object.__new__(kind)])  # a blank one, to read its methods
        return [FoundTool(source=source, origin=origin, problem=LATER)]

    def _of_objects(self, source: str, origin: str, objects: Iterable[Any]) -> list[FoundTool]:
        try:
            return list(self._read(source, origin, objects))
        except Exception as error:  # noqa: BLE001 - what is given as a tool may raise anything when it is read
            return [FoundTool(source=source, origin=origin, problem=describe_exception(error))]

    def _read(self, source: str, origin: str, objects: Iterable[Any]) -> Iterator[FoundTool]:
        callbacks, providers = expand_tools(objects)
        if providers and self._running is not None:
            callbacks += run_blocking(ask_providers, providers)
        for callback in callbacks:
            offered = customized((callback,), self._customizers)
            for each in offered:
                yield _row(source, each)
            if not offered:
                yield replace(_row(source, callback), problem=LEFT_OUT)
        if providers and self._running is None:
            yield FoundTool(source=source, origin=origin, problem=LATER)


def _row(source: str, callback: ToolCallback) -> FoundTool:
    definition = callback.definition
    return FoundTool(
        source=source,
        origin=callback.origin,
        name=definition.name,
        description=definition.description,
        metadata=callback.metadata,
        schema=definition.input_schema,
    )


def _is_callback(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, (ToolCallback, ToolCallbackProvider))
