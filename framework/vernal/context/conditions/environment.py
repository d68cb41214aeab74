"""Conditions on the surroundings: installed modules, settings, profiles."""

from vernal.context.conditions.base import Condition, ConditionContext
from vernal.context.conditions.outcome import ConditionOutcome
from vernal.context.settings.names import variable_of

_FALSE = frozenset({"false", "0", "no", "off", "f", "n"})  # what pydantic reads as False, and as True
_TRUE = frozenset({"true", "1", "yes", "on", "t", "y"})


class OnModule(Condition):
    """Matches when each of the modules can be imported (`missing`: when none of them can)."""

    def __init__(self, *names: str, missing: bool = False) -> None:
        if not names or not all(isinstance(name, str) and name for name in names):
            raise TypeError(f"{self._name(missing)}{names!r}: module names such as 'httpx' are wanted")
        self.names = names
        self.missing = missing

    def evaluate(self, context: ConditionContext) -> ConditionOutcome:
        for name in self.names:
            found = context.has_module(name)
            if found is self.missing:
                reason = f"module {name!r} is installed" if found else f"module {name!r} is not installed"
                cure = f"{'uninstall' if found else 'install'} the package that brings the module {name!r}"
                return self.outcome(False, reason, cure=cure, module=name)
        state = "not installed" if self.missing else "installed"
        return self.outcome(True, f"{', '.join(map(repr, self.names))} {state}")

    @staticmethod
    def _name(missing: bool) -> str:
        return "on_missing_module" if missing else "on_module"

    def __str__(self) -> str:
        return f"{self._name(self.missing)}({', '.join(map(repr, self.names))})"


class OnSetting(Condition):
    """Matches when a setting is there and not false, or has the wanted value, or one of several."""

    def __init__(self, key: str, *, having: object, match_if_missing: bool) -> None:
        if not isinstance(key, str) or not key:
            raise TypeError(f"on_setting({key!r}): a dotted key such as 'chat.client.enabled' is wanted")
        self.key = key
        self.having = having
        self.match_if_missing = match_if_missing

    def evaluate(self, context: ConditionContext) -> ConditionOutcome:
        setting = context.environment.lookup(self.key)
        if setting is None or setting.value in ("", None):
            return self.outcome(self.match_if_missing, f"{self.key} is not set", cure=self._cure(), setting=self.key)
        evidence = {"setting": self.key, "origin": setting.origin}
        given = _plain(setting.value)
        if self.having is None:
            matched = given not in _FALSE
            reason = f"{self.key} is {'set' if matched else 'false'} ({setting.origin})"
            return self.outcome(matched, reason, cure=self._cure(), **evidence)
        if given not in _FALSE | _TRUE and any(isinstance(wanted, bool) for wanted in self.wanted):
            reason = f"{self.key} can be read neither as true nor as false ({setting.origin})"
            return self.outcome(False, reason, cure=self._cure(), **evidence)
        matched = any(_is_meant(given, wanted) for wanted in self.wanted)
        values = " or ".join(map(repr, self.wanted))
        reason = f"{self.key} {'has' if matched else 'does not have'} the value {values} ({setting.origin})"
        return self.outcome(matched, reason, cure=self._cure(), **evidence)

    @property
    def wanted(self) -> tuple[object, ...]:
        """The values of which one is wanted; none where any will do that is not false."""
        if isinstance(self.having, tuple | list):
            return tuple(self.having)
        return () if self.having is None else (self.having,)

    def _cure(self) -> str:
        wanted = _plain(self.wanted[0]) if self.wanted else "…"
        return f"set {variable_of(self.key)}={wanted}"

    def __str__(self) -> str:
        having = "" if self.having is None else f", having={self.having!r}"
        return f"on_setting({self.key!r}{having}{', match_if_missing=True' if self.match_if_missing else ''})"


class OnProfile(Condition):
    """Matches when one of the profiles is active; `!name` means that it is not."""

    def __init__(self, *profiles: str) -> None:
        if not profiles or not all(isinstance(profile, str) and profile.strip("!") for profile in profiles):
            raise TypeError(f"on_profile{profiles!r}: profile names such as 'dev' or '!prod' are wanted")
        self.profiles = profiles

    def evaluate(self, context: ConditionContext) -> ConditionOutcome:
        active = context.environment.profiles
        matched = any((profile.lstrip("!") in active) is not profile.startswith("!") for profile in self.profiles)
        cure = f"activate a profile: VERNAL_PROFILES={next((p for p in self.profiles if p[0] != '!'), '…')}"
        return self.outcome(matched, f"active profiles: {', '.join(active) or 'none'}", cure=cure)

    def __str__(self) -> str:
        return f"on_profile({', '.join(map(repr, self.profiles))})"


def on_module(*names: str) -> Condition:
    """Count only if each of these modules can be imported."""
    return OnModule(*names)


def on_missing_module(*names: str) -> Condition:
    """Count only if none of these modules can be imported."""
    return OnModule(*names, missing=True)


def on_setting(key: str, /, *, having: object = None, match_if_missing: bool = False) -> Condition:
    """Count only if the setting with this dotted key is there and not false, or has a wanted value.

    Args:
        key: Dotted key below `VERNAL_`, such as "chat.client.tool_calling.enabled".
        having: The wanted value, or a tuple of those of which one is wanted; compared as text, case-insensitive, a
            bool as pydantic reads it.
        match_if_missing: The answer where the setting is absent or empty.
    """
    return OnSetting(key, having=having, match_if_missing=match_if_missing)


def on_profile(*profiles: str) -> Condition:
    """Count only if one of these profiles is active (`VERNAL_PROFILES`); "!prod" means that prod is not."""
    return OnProfile(*profiles)


def _is_meant(given: str, wanted: object) -> bool:
    """Whether a given text stands for the wanted value."""
    plain = _plain(wanted)
    return (given in _FALSE) is (plain in _FALSE) if isinstance(wanted, bool) else given == plain


def _plain(value: object) -> str:
    return str(getattr(value, "value", value)).strip().casefold()
