"""Each view as plain data, ready for JSON."""

from dataclasses import asdict
from typing import Any

from vernal.cli.inspection import Inspection
from vernal.context.types import type_name


def settings_view(inspection: Inspection) -> dict[str, Any]:
    """Every setting of the application, and the keys that nothing reads, which can be told once the beans are known."""
    from vernal.context.settings import describe
    from vernal.context.settings.unknown import find_unknown

    environment, plugins = inspection.application.environment, inspection.application.loaded_plugins
    if environment is None:
        return {"settings": [], "unknown": []}
    classes = inspection.settings_classes
    left_out = plugins.left_out if plugins is not None else ()
    unknown = find_unknown(environment, classes, left_out) if inspection.context is not None else ()
    return {
        "settings": [asdict(row) for row in describe(environment, classes)],
        "unknown": [asdict(each) for each in unknown],
    }


def plugins_view(inspection: Inspection) -> dict[str, Any]:
    """Every plugin that was found, with what it contributes."""
    plugins = inspection.application.loaded_plugins
    return {
        "plugins": [
            {
                "name": plugin.name,
                "distribution": plugin.distribution,
                "version": plugin.version,
                "module": plugin.module,
                "auto_configurations": [type_name(each) for each in plugin.auto_configurations],
                "settings": [each.settings_prefix for each in plugin.settings],
                "chat_client_customizers": [_name(each) for each in plugin.chat_client_customizers],
                "tools": [_name(each) for each in plugin.tools],
                "commands": [_name(each) for each in plugin.commands],
                "state": plugin.state,
                "failure": plugin.failure,
            }
            for plugin in (plugins.plugins if plugins is not None else ())
        ]
    }


def conditions_view(inspection: Inspection) -> dict[str, Any]:
    """Every decision on auto-configurations and beans."""
    report = inspection.application.conditions
    return report.as_dict() if report is not None else {}


def beans_view(inspection: Inspection) -> dict[str, Any]:
    """Every bean with what it is given; where the beans do not fit together, the sources that were chosen."""
    context = inspection.context
    if context is None:
        report = inspection.application.conditions
        return {"beans": [], "chosen": [record.source for record in report or () if record.matched]}
    return {
        "beans": [
            {
                "name": name,
                "type": type_name(bean.type),
                "scope": str(bean.scope),
                "primary": bean.primary,
                "kind": str(bean.origin.kind),
                "origin": str(bean.origin),
                "needs": list(context.graph[name]),
            }
            for name, bean in context.beans.items()
        ],
        "chosen": [],
    }


def _name(contribution: object) -> str:
    name = getattr(contribution, "name", None) or getattr(contribution, "__name__", None)
    return name if isinstance(name, str) else type(contribution).__name__
