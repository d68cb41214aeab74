"""Auto-configurations that are left out, by class, by name, or by the setting `autoconfigure.exclude`."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from vernal.context.configurations import ConfigurationSource
from vernal.context.failures.errors import UnknownExclusionError

if TYPE_CHECKING:
    from vernal.context.settings import Environment

KEY = "autoconfigure.exclude"


def exclusions_of(
    found: Sequence[ConfigurationSource], given: Iterable[type | str], environment: "Environment"
) -> dict[str, str]:
    """The full names of the auto-configurations that are excluded, each with what excludes it.

    Raises:
        UnknownExclusionError: an exclusion names none of those that were found.
    """
    exclusions: dict[str, str] = {}
    for name, reason in _wanted(given, environment):
        hits = [source for source in found if name in (source.name, source.full_name)]
        if not hits:
            from difflib import get_close_matches  # needed only where something has gone wrong

            raise UnknownExclusionError(name, near=get_close_matches(name, [one.name for one in found]), origin=reason)
        for hit in hits:
            exclusions[hit.full_name] = f"excluded by {reason}"
    return exclusions


def _wanted(given: Iterable[type | str], environment: "Environment") -> Iterator[tuple[str, str]]:
    for each in given:
        yield each if isinstance(each, str) else f"{each.__module__}.{each.__qualname__}", "exclude="
    setting = environment.lookup(KEY)
    if setting is not None:
        from vernal.context.own_settings import AutoConfigureSettings

        for name in environment.bind(AutoConfigureSettings).exclude:
            yield name, f"{KEY} ({setting.origin})"
