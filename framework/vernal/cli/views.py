"""Each view as plain data, ready for JSON."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from vernal.cli.doctor import Finding
from vernal.cli.inspection import Inspection
from vernal.cli.models import Models
from vernal.cli.tools import FoundTool
from vernal.context.types import type_name


def settings_view(inspection: Inspection) -> dict[str, Any]:
    """Every setting of the application, and the keys that nothing reads, which can be told once the beans are known."""
    return {
        "settings": [asdict(row) for row in inspection.settings_rows],
        "unknown": [asdict(each) for each in inspection.unknown_settings],
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


def tools_view(tools: Iterable[FoundTool]) -> dict[str, Any]:
    """The tools by who brings them, each with its JSON schema."""
    return {
        "tools": [
            {
                "name": tool.name,
                "description": tool.description,
                "source": tool.source,
                "origin": tool.origin,
                "metadata": asdict(tool.metadata) if tool.metadata is not None else None,
                "schema": dict(tool.schema) if tool.schema is not None else None,
                "problem": tool.problem,
            }
            for tool in tools
        ]
    }


def models_view(models: Models) -> dict[str, Any]:
    """Which model answers and why, and every provider."""
    return {"models": asdict(models)}


def doctor_view(findings: Iterable[Finding]) -> dict[str, Any]:
    """What looks wrong, the worst first."""
    return {"findings": [asdict(finding) for finding in findings]}


def _name(contribution: object) -> str:
    name = getattr(contribution, "name", None) or getattr(contribution, "__name__", None)
    return name if isinstance(name, str) else type(contribution).__name__
