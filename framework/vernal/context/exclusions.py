"""Auto-configurations that are left out, by class, by name, or by the settings under `autoconfigure`."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from vernal.context.configurations import ConfigurationSource
from vernal.context.failures.errors import UnknownExclusionError

if TYPE_CHECKING:
    from vernal.context.own_settings import AutoConfigureSettings
    from vernal.context.settings import Environment

EXCLUDE = "autoconfigure.exclude"
ENABLED = "autoconfigure.enabled"


def exclusions_of(
    found: Sequence[ConfigurationSource], given: Iterable[type | str], environment: "Environment"
) -> dict[str, str]:
    """The full names of the auto-configurations that are excluded, each with what excludes it.

    Raises:
        UnknownExclusionError: an exclusion names none of those that were found.
    """
    exclusions: dict[str, str] = {}
    switch = environment.lookup(ENABLED)
    if switch is not None and not _settings(environment).enabled:
        exclusions = dict.fromkeys((one.full_name for one in found), f"excluded by {ENABLED} ({switch.origin})")
    for name, reason in _wanted(given, environment):
        hits = [source for source in found if name in source.names]
        if not hits:
            from difflib import get_close_matches  # needed only where something has gone wrong

            raise UnknownExclusionError(name, near=get_close_matches(name, [one.name for one in found]), origin=reason)
        for hit in hits:
            exclusions[hit.full_name] = f"excluded by {reason}"
    return exclusions


def _wanted(given: Iterable[type | str], environment: "Environment") -> Iterator[tuple[str, str]]:
    for each in given:
        yield each if isinstance(each, str) else f"{each.__module__}.{each.__qualname__}", "exclude="
    setting = environment.lookup(EXCLUDE)
    if setting is not None:
        for name in _settings(environment).exclude:
            yield name, f"{EXCLUDE} ({setting.origin})"


def _settings(environment: "Environment") -> "AutoConfigureSettings":
    from vernal.context.own_settings import AutoConfigureSettings  # with pydantic: not for every start

    return environment.bind(AutoConfigureSettings)
