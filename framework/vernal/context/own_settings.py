"""Settings of the application context itself; imported when settings are checked, since they need pydantic."""

from pydantic import Field

from vernal.context.settings.base import Settings


class AutoConfigureSettings(Settings, prefix="autoconfigure"):
    """Which auto-configurations are considered."""

    enabled: bool = Field(default=True, description="Whether auto-configurations are considered at all.")
    exclude: list[str] = Field(default=[], description="Auto-configurations to leave out, by class name.")
