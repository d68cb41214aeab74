"""Plugins: what they may contribute, how they are found and loaded, and what is known of each.

    hookspecs.py   the hooks, and the marker `hookimpl`
    plugin.py      one plugin: provenance, state, contributions, each hook guarded
    loading.py     entry points loaded one by one, chosen by `plugins.disabled` and `plugins.enabled`

pluggy is imported with the first plugin, not before.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vernal.context.plugins.hookspecs import hookimpl
    from vernal.context.plugins.loading import LoadedPlugins, load_plugins
    from vernal.context.plugins.plugin import Plugin, PluginError

__all__ = ["LoadedPlugins", "Plugin", "PluginError", "hookimpl", "load_plugins"]

if not TYPE_CHECKING:
    _HOMES = {
        "LoadedPlugins": "loading",
        "Plugin": "plugin",
        "PluginError": "plugin",
        "hookimpl": "hookspecs",
        "load_plugins": "loading",
    }

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        return value
