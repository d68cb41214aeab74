"""What the settings of all services over HTTP have in common."""

import dataclasses
from typing import TYPE_CHECKING

from pydantic import Field

from vernal.context.settings.base import Settings
from vernal.context.settings.types import Duration

if TYPE_CHECKING:
    from vernal.http import RetryPolicy, Timeouts


class ServiceSettings(Settings, abstract=True):
    """Headers, timeouts and retries of a service; the base class of the settings of model providers.

    `class AcmeSettings(ServiceSettings, prefix="acme"): api_key: SecretStr | None = None`
    """

    headers: dict[str, str] = Field(default={}, description="Further headers of each request.")
    connect_timeout: Duration | None = Field(default=None, description="Longest time to connect.")
    first_token_timeout: Duration | None = Field(default=None, description="Longest time to the begin of an answer.")
    between_chunks_timeout: Duration | None = Field(default=None, description="Longest silence within an answer.")
    total_timeout: Duration | None = Field(default=None, description="Longest time for a whole answer.")
    max_attempts: int = Field(default=3, ge=1, description="How often a request is sent at most; 1: no retries.")

    def timeouts(self, base: "Timeouts") -> "Timeouts":
        """`base`, such as `HttpClients.timeouts`, with the limits that are set here."""
        names = ("connect", "first_token", "between_chunks", "total")
        given = {name: getattr(self, f"{name}_timeout") for name in names}
        return dataclasses.replace(
            base, **{n: value.total_seconds() for n, value in given.items() if value is not None}
        )

    def retry(self) -> "RetryPolicy":
        """How often a request is sent."""
        from vernal.http import RetryPolicy

        return RetryPolicy(max_attempts=self.max_attempts)
