"""What a plugin may contribute: the hook specifications, and the marker for their implementations.

A plugin is a distribution with an entry point in the group `vernal` that names a module (or an object) with functions
marked `@hookimpl`:

    [project.entry-points.vernal]
    audit = "vernal_audit.plugin"

    from vernal import hookimpl

    @hookimpl
    def vernal_auto_configurations() -> list[type]:
        return [AuditAutoConfiguration]

Each hook is called at most once for each plugin and application, and a plugin implements those that it needs.
What a hook raises concerns its own plugin alone, which then contributes nothing.
"""

from collections.abc import Callable
from typing import Any

import pluggy

GROUP = "vernal"
"""The entry-point group, and pluggy's name for the project."""

hookimpl = pluggy.HookimplMarker(GROUP)
"""Marks a function of a plugin as the implementation of the hook of its name."""

_hookspec = pluggy.HookspecMarker(GROUP)


@_hookspec
def vernal_auto_configurations() -> list[type]:
    """Classes marked `@auto_configuration`; called when an application starts. Their order is their own affair."""
    raise NotImplementedError


@_hookspec
def vernal_settings() -> list[type]:
    """Subclasses of `Settings` that the plugin reads; called when an application starts.

    Keys of classes that are not listed here (or taken by a bean) are reported as unknown.
    """
    raise NotImplementedError


@_hookspec
def vernal_chat_client_customizers() -> list[Callable[..., Any]]:
    """Callables that take each new `ChatClientBuilder` and change it; called when the first builder is made."""
    raise NotImplementedError


@_hookspec
def vernal_tools() -> list[Any]:
    """Tools, or objects with `@tool` methods, that can be called by name; called when tools are first resolved."""
    raise NotImplementedError


@_hookspec
def vernal_commands() -> list[Any]:
    """Functions or `typer.Typer` objects that become commands of `vernal`; called by the command line alone."""
    raise NotImplementedError
