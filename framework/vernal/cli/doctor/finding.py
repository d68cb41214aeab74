"""What the doctor finds."""

from enum import StrEnum

from vernal.values.records import dataclass


class Level(StrEnum):
    """How bad a finding is: it cannot work, it will probably not do what is wanted, or it is good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that looks wrong: with what (`about`, such as a setting, a plugin or a tool), what, and the cure.

    `cure` is empty where the text says it.
    """

    level: Level
    about: str
    text: str
    cure: str = ""
