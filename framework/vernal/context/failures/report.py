"""A failure as data, ready to be shown or sent."""

from dataclasses import asdict
from typing import Any

from vernal.values.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureReport:
    """What failed, how it came to that, and what to do.

    `kind` names the failure, as the errors page does; `path` leads from who asked to what is missing, one line
    each; `details` are further facts, such as candidates and why each was kept out; `action` is one sentence.
    """

    kind: str
    summary: str
    path: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    action: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data, for JSON."""
        return asdict(self)
