"""Commands that plugins bring (hook `vernal_commands`)."""

import logging
from collections.abc import Collection

import typer

from vernal.errors import ConfigurationError

_log = logging.getLogger("vernal.cli")


def add_plugin_commands(app: typer.Typer, taken: Collection[str]) -> None:
    """Add the commands of all loaded plugins; a name that is taken stays with who has it.

    A contribution is a function, which becomes a command of its own name, or a `typer.Typer`, which becomes a group
    under its name or else the plugin's.
    """
    from vernal.context.plugins import load_plugins
    from vernal.context.settings import Environment

    try:
        plugins = load_plugins(Environment.load())
    except ConfigurationError as error:
        _log.warning("commands of plugins are not available: %s", error)
        return
    owners = dict.fromkeys(taken, "vernal itself")
    for plugin in plugins:
        plugin.strict = False  # the others' commands are wanted all the same
        for contribution in plugin.commands:
            group = contribution if isinstance(contribution, typer.Typer) else None
            given = group.info.name if group is not None else contribution.__name__.replace("_", "-")
            name = given if isinstance(given, str) else plugin.name
            if name in owners:
                _log.warning("the command %r of %s is left out: %s has one of that name", name, plugin, owners[name])
                continue
            owners[name] = str(plugin)
            if group is not None:
                app.add_typer(group, name=name)
            else:
                app.command(name)(contribution)
