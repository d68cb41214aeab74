"""From what users give as tools to tool callbacks."""

import asyncio
import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vernal.runtime.portal import run_blocking
from vernal.runtime.threads import run_in_thread
from vernal.tools.callback import StaticToolCallbackProvider, ToolCallback, ToolCallbackProvider
from vernal.tools.customization import ToolCustomizer, customized
from vernal.tools.decorator import tools_of_class
from vernal.tools.exceptions import DuplicateToolError, InvalidToolError
from vernal.tools.function import FunctionToolCallback, MethodToolCallback


def tool_callbacks(*objects: Any, customizers: Iterable[ToolCustomizer] = ()) -> tuple[ToolCallback, ...]:
    """The tools in `objects`: objects with `@tool` methods, functions, tool callbacks, providers, and lists of these.

    They keep the order in which they are given, and that of their declaration within a class, base classes first
    (R24). Providers are asked at once; what must wait for a request goes through `expand_tools`. `customizers` change
    them, as those of an application context do for its clients: `customizers=context.get_all(ToolCustomizer)`.

    Raises:
        InvalidToolError: an object has no tools (MTP-02), or what it gives cannot be a tool.
        DuplicateToolError: two tools have the same name (MTP-05, R29).
        TypeError: something is given that never holds tools, such as None or a string (MTP-12).
    """
    callbacks, providers = expand_tools(objects)
    if providers:
        callbacks += _listed(providers)
    found = customized(callbacks, customizers)
    refuse_duplicates(found)
    return found


def expand_tools(objects: Iterable[Any]) -> tuple[list[ToolCallback], list[ToolCallbackProvider]]:
    """The tools in `objects`, and apart from them the providers, which are asked only when a request needs them (R25).

    Raises:
        InvalidToolError, TypeError: as `tool_callbacks`.
    """
    callbacks: list[ToolCallback] = []
    providers: list[ToolCallbackProvider] = []
    for given in objects:
        if isinstance(given, ToolCallback):
            callbacks.append(given)
        elif isinstance(given, ToolCallbackProvider):
            providers.append(given)
        else:
            _expand(given, callbacks, providers)
    return callbacks, providers


def refuse_duplicates(callbacks: Iterable[ToolCallback]) -> None:
    """Do nothing, if all names are different.

    Raises:
        DuplicateToolError: two tools have the same name; the text names the origins of both (R29).
        TypeError: something among them is no tool callback.
    """
    seen: dict[str, ToolCallback] = {}
    for callback in callbacks:
        if not isinstance(callback, ToolCallback):
            raise TypeError(f"among the tool callbacks is {callback!r}; only ToolCallback objects are wanted")
        name = callback.definition.name
        if name in seen:
            raise DuplicateToolError(name, (seen[name].origin, callback.origin))
        seen[name] = callback


async def ask_providers(providers: Iterable[ToolCallbackProvider]) -> list[ToolCallback]:
    """The tools of `providers`, asked all at once, each exactly once; in the order of the providers.

    Raises:
        InvalidToolError: a provider gives something else than tool callbacks.
        Exception: what a provider raises, with a note that names the provider.
    """
    listed = await asyncio.gather(*(_ask(provider) for provider in providers))
    return [callback for callbacks in listed for callback in callbacks]


async def _ask(provider: ToolCallbackProvider) -> Sequence[ToolCallback]:
    try:
        if isinstance(provider, StaticToolCallbackProvider) or inspect.iscoroutinefunction(provider.get_tool_callbacks):
            given = provider.get_tool_callbacks()
        else:
            given = await run_in_thread(provider.get_tool_callbacks)
        listed = await given if inspect.isawaitable(given) else given
    except Exception as error:
        error.add_note(f"raised by the tool provider {type(provider).__qualname__} when it was asked for its tools")
        raise
    if not isinstance(listed, Iterable) or not all(isinstance(callback, ToolCallback) for callback in listed):
        raise InvalidToolError(
            f"the tool provider {type(provider).__qualname__} gave {listed!r}; a list of ToolCallback objects is wanted"
        )
    return listed


def _listed(providers: Sequence[ToolCallbackProvider]) -> list[ToolCallback]:
    static = [provider for provider in providers if isinstance(provider, StaticToolCallbackProvider)]
    if len(static) == len(providers):
        return [callback for provider in static for callback in provider.get_tool_callbacks()]
    return run_blocking(ask_providers, providers)


def _expand(given: Any, callbacks: list[ToolCallback], providers: list[ToolCallbackProvider]) -> None:
    if given is None or isinstance(given, (str, bytes, Mapping)):
        raise TypeError(
            f"{given!r} was given as tools; an object with @tool methods, a function, a ToolCallback, "
            "a ToolCallbackProvider, or a list of these is wanted"
        )
    if isinstance(given, type):
        raise InvalidToolError(
            f"the class {given.__qualname__} was given as tools; give an object of it, such as {given.__name__}(…)"
        )
    found = tools_of_class(given.__class__)  # not type(given): the tools of a proxy are those of its target (MTP-10)
    if found:
        callbacks.extend(MethodToolCallback.of_mark(getattr(given, name), mark) for name, mark in found.items())
    elif callable(given):
        callbacks.append(FunctionToolCallback(given))
    elif isinstance(given, Iterable):
        more_callbacks, more_providers = expand_tools(given)
        callbacks += more_callbacks
        providers += more_providers
    else:
        raise InvalidToolError(
            f"No @tool methods found in {given!r}; mark its methods with @tool, or give a function or a ToolCallback"
        )
