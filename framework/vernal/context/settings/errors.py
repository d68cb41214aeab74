"""What can be wrong with a setting, as data; the text is made from it and never shows a secret."""

from collections.abc import Iterable

from vernal.errors import ConfigurationError
from vernal.values.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingProblem:
    """One setting that cannot be used as it stands.

    `key` is the dotted key (or the name of a file that cannot be read); `variable` the environment variable that
    sets it; `given` the value as text, masked where it is secret, None where nothing is set; `origin` where the value
    was found; `reason` what is wrong and what is wanted; `allowed` the only values, where there is such a list;
    `action` what to do, a sentence without its full stop.
    """

    key: str
    reason: str
    variable: str | None = None
    given: str | None = None
    origin: str | None = None
    allowed: tuple[str, ...] = ()
    action: str | None = None

    def __str__(self) -> str:
        head = self.key if self.given is None else f"{self.key} = {self.given}"
        place = f" ({self.origin})" if self.origin else ""
        return f"{head}: {self.reason}{place}." + (f" {self.action}." if self.action else "")


class SettingsError(ConfigurationError):
    """Settings that are missing, wrong or unknown; `problems` says which, why, and what to do."""

    def __init__(self, problems: Iterable[SettingProblem]) -> None:
        self.problems = tuple(problems)
        lines = [str(problem) for problem in self.problems]
        text = lines[0] if len(lines) == 1 else f"{len(lines)} settings are wrong:" + "".join(f"\n- {x}" for x in lines)
        super().__init__(text)

    def __reduce__(self) -> tuple[type["SettingsError"], tuple[tuple[SettingProblem, ...]]]:
        return type(self), (self.problems,)
