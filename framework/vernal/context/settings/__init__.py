"""Settings: what is set, where it came from, and the typed classes that read it.

    names.py        keys, variables, and how relaxed names are compared
    sources.py      environment, secrets directory, .env files, TOML files and arguments, as trees that keep origins
    environment.py  Environment: all sources in their precedence; profiles, lookup, bind
    base.py         Settings (the base class of settings classes) and fallback
    masking.py      what is shown in the place of a secret
    types.py        Duration, Size and ByName
    service.py      ServiceSettings, the base class for services over HTTP
    shapes.py       what a settings class looks like, field by field
    binding.py      merging the sources into one settings class
    unknown.py      keys that no settings class knows
    rows.py         the rows of `vernal settings`
    schema.py       the JSON schema of all settings
    errors.py       SettingsError and the problems it carries

What needs pydantic is imported when it is first asked for.
"""

import importlib
from typing import TYPE_CHECKING

from vernal.context.settings.environment import Environment
from vernal.context.settings.errors import SettingProblem, SettingsError
from vernal.context.settings.sources import SettingValue

if TYPE_CHECKING:
    from vernal.context.settings.base import PluginsSettings, RootSettings, Settings, fallback
    from vernal.context.settings.rows import SettingRow, describe
    from vernal.context.settings.schema import settings_schema
    from vernal.context.settings.service import ServiceSettings
    from vernal.context.settings.types import ByName, Duration, Size

__all__ = [
    "ByName",
    "Duration",
    "Environment",
    "PluginsSettings",
    "RootSettings",
    "ServiceSettings",
    "SettingProblem",
    "SettingRow",
    "SettingValue",
    "Settings",
    "SettingsError",
    "Size",
    "describe",
    "fallback",
    "settings_schema",
]

if not TYPE_CHECKING:
    _HOMES = {
        "ByName": "types",
        "Duration": "types",
        "PluginsSettings": "base",
        "RootSettings": "base",
        "ServiceSettings": "service",
        "SettingRow": "rows",
        "Settings": "base",
        "Size": "types",
        "describe": "rows",
        "fallback": "base",
        "settings_schema": "schema",
    }

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        return value
