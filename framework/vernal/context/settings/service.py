"""What the settings of all services over HTTP have in common."""

import dataclasses
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from pydantic import Field

from vernal.context.settings.base import Settings
from vernal.context.settings.types import Duration

if TYPE_CHECKING:
    from vernal.context.settings.environment import Environment
    from vernal.http import RetryPolicy, Timeouts

_log = logging.getLogger("vernal.models")


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

    def with_own_key(self, environment: "Environment", variable: str, is_owners: Callable[[str], bool]) -> Self:
        """These settings without an `api_key` that was given for another address than `base_url` (R28).

        A key that is only in `variable`, the name that all tools share, was given for the service itself, whose
        addresses `is_owners` knows: it does not go to a base URL that vernal's own setting names.
        """
        prefix = self.settings_prefix
        own_key, own_url = environment.lookup(f"{prefix}.api_key"), environment.lookup(f"{prefix}.base_url")
        if getattr(self, "api_key", None) is None or own_key is not None or own_url is None:
            return self
        return self if is_owners(str(own_url.value)) else self.without_key(variable, str(own_url.value))

    def without_key(self, variable: str, address: str) -> Self:
        """These settings without the `api_key` that came from `variable`, which was not given for `address`; a warning
        says so."""
        name = f"VERNAL_{self.settings_prefix.upper().replace('.', '__')}__API_KEY"
        _log.warning("%s is not sent to %s; give the key of that service in %s", variable, address, name)
        return self.model_copy(update={"api_key": None})
