"""What the plugin contributes; the entry point `audit` of the group `vernal` names this module."""

from collections.abc import Callable
from typing import Any

from vernal import Settings, hookimpl
from vernal_audit.autoconfig import AuditAutoConfiguration
from vernal_audit.commands import audit
from vernal_audit.settings import AuditSettings, LoopSettings
from vernal_audit.tools import recent_tool_calls


@hookimpl
def vernal_auto_configurations() -> list[type]:
    """The tool loop that writes calls down."""
    return [AuditAutoConfiguration]


@hookimpl
def vernal_settings() -> list[type[Settings]]:
    """The settings under `audit`, and those of the loop."""
    return [AuditSettings, LoopSettings]


@hookimpl
def vernal_tools() -> list[Any]:
    """A tool that is found by name where `tools.resolution.fallback.enabled` allows it; `vernal tools` shows it."""
    return [recent_tool_calls]


@hookimpl
def vernal_commands() -> list[Callable[..., None]]:
    """`vernal audit`."""
    return [audit]
