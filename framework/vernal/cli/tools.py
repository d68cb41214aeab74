"""The tools of an application: what is known of them while nothing is built, and all of them once it runs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from vernal.cli.inspection import Inspection
from vernal.context.application_context import ApplicationContext
from vernal.context.definitions import BeanDefinition
from vernal.context.failures.errors import describe_exception
from vernal.runtime.portal import run_blocking
from vernal.tools.callback import ToolCallback, ToolCallbackProvider
from vernal.tools.collection import ask_providers, expand_tools
from vernal.tools.decorator import tools_of_class
from vernal.tools.definition import ToolMetadata

LATER = "known when the application runs; --start lists it"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTool:
    """A tool, or something that holds tools which are not known.

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


def find_tools(inspection: Inspection, running: ApplicationContext | None = None) -> list[FoundTool]:
    """The tools of beans and plugins, as far as types tell; of a `running` application all of them.

    Without it no bean is built and no provider asked; with it, those that hold tools are.
    """
    found = [tool for bean in inspection.application.beans.values() for tool in _of_bean(bean, running)]
    for plugin in inspection.application.loaded_plugins or ():
        found += _of_objects(f"plugin {plugin.name!r}", plugin.module, plugin.tools, ask=running is not None)
    return found


def _of_bean(bean: BeanDefinition, running: ApplicationContext | None) -> list[FoundTool]:
    if bean.infrastructure:
        return []
    kind = get_origin(bean.type) or bean.type
    marked = isinstance(kind, type) and bool(tools_of_class(kind))
    if not (marked or any(_is_callback(each) for each in (kind, *get_args(bean.type)))):
        return []
    source, origin = f"bean {bean.name!r}", str(bean.origin)
    if running is not None:
        try:
            return _of_objects(source, origin, [running.get(bean.type, name=bean.name)], ask=True)
        except Exception as error:  # noqa: BLE001 - a bean may raise anything, and the others are still to be seen
            return [FoundTool(source=source, origin=origin, problem=describe_exception(error))]
    if bean.value is not None:
        return _of_objects(source, origin, [bean.value], ask=False)
    if marked:
        return _of_objects(source, origin, [object.__new__(kind)], ask=False)  # a blank one, to read its methods
    return [FoundTool(source=source, origin=origin, problem=LATER)]


def _is_callback(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, (ToolCallback, ToolCallbackProvider))


def _of_objects(source: str, origin: str, objects: Iterable[Any], *, ask: bool) -> list[FoundTool]:
    try:
        return list(_read(source, origin, objects, ask=ask))
    except Exception as error:  # noqa: BLE001 - what is given as a tool may raise anything when it is read
        return [FoundTool(source=source, origin=origin, problem=describe_exception(error))]


def _read(source: str, origin: str, objects: Iterable[Any], *, ask: bool) -> Iterator[FoundTool]:
    callbacks, providers = expand_tools(objects)
    if ask and providers:
        callbacks += run_blocking(ask_providers, providers)
    for callback in callbacks:
        definition = callback.definition
        yield FoundTool(
            source=source,
            origin=callback.origin,
            name=definition.name,
            description=definition.description,
            metadata=callback.metadata,
            schema=definition.input_schema,
        )
    if providers and not ask:
        yield FoundTool(source=source, origin=origin, problem=LATER)
