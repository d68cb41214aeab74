"""What keeps an application from starting, what its start warns of, and plugins that are not used."""

from collections.abc import Iterator

from vernal.cli.doctor.finding import Finding, Level
from vernal.cli.inspection import Inspection

_TOLD_ELSEWHERE = {"unknown", "plugin"}
"""Modules whose warnings are findings of their own, with their cures: unknown settings and failed plugins."""


def check_start(inspection: Inspection) -> Iterator[Finding]:
    """The failure of the start."""
    failure = inspection.failure
    if failure is not None:
        yield Finding(
            level=Level.ERROR,
            about="start",
            text=" ".join([failure.summary, *failure.details]),
            cure=failure.action or "mend what is named; `vernal settings` says where each value comes from",
        )


def check_plugins(inspection: Inspection) -> Iterator[Finding]:
    """Plugins that failed, and those that settings keep out."""
    plugins = inspection.application.loaded_plugins
    for plugin in plugins.plugins if plugins is not None else ():
        if plugin.state == "failed":
            yield Finding(
                level=Level.ERROR,
                about=f"plugin {plugin.name}",
                text=f"{plugin} is left out: {plugin.failure}",
                cure=f"mend or remove it, or set VERNAL_PLUGINS__DISABLED={plugin.name}",
            )
        elif plugin.state != "loaded":
            setting = "VERNAL_PLUGINS__DISABLED" if plugin.state == "disabled" else "VERNAL_PLUGINS__ENABLED"
            yield Finding(
                level=Level.NOTE,
                about=f"plugin {plugin.name}",
                text=f"{plugin} is installed and {plugin.state}",
                cure=f"change {setting}, if it is wanted",
            )


def check_warnings(inspection: Inspection) -> Iterator[Finding]:
    """What was logged when the application was decided, such as two plugins with the same default."""
    for record in inspection.warnings:
        if record.module not in _TOLD_ELSEWHERE:
            yield Finding(level=Level.WARNING, about=record.name, text=record.getMessage())
