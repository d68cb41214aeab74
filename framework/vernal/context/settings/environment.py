"""The environment of an application: everything that is set, in one precedence, with origins."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from vernal.context.settings.errors import SettingProblem, SettingsError
from vernal.context.settings.sources import (
    SettingValue,
    Source,
    arguments_source,
    dotenv_source,
    environ_source,
    secrets_source,
)
from vernal.context.settings.toml import toml_source

if TYPE_CHECKING:
    from vernal.context.settings.base import Settings
    from vernal.context.settings.unknown import UnknownSetting

S = TypeVar("S", bound="Settings")


class Environment:
    """All settings of one application, each file read once.

    Precedence, highest first: arguments, environment variables, the secrets directory, `.env.<profile>` (the last
    profile first), `.env`, `vernal.toml`, `[tool.vernal]` in `pyproject.toml`, then the defaults of the classes.
    """

    def __init__(self, sources: Sequence[Source], *, profiles: tuple[str, ...] = ()) -> None:
        self.sources = tuple(sources)
        self.profiles = profiles
        self._bound: dict[type[Settings], Settings | None] = {}
        self.looked_up: set[str] = set()
        """Keys that were asked for by themselves, and so are known."""
        self._warned: set[str] = set()

    @classmethod
    def load(
        cls,
        arguments: Mapping[str, object] | None = None,
        *,
        directory: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> "Environment":
        """Read every source that exists; nothing is imported for those that do not.

        `arguments` are nested by prefix (`{"tools": {"rethrow_exceptions": [...]}}`) or dotted; `directory` holds the
        files and is the working directory by default; `environ` is `os.environ` by default. Profiles are named by
        `VERNAL_PROFILES`, the secrets directory by `VERNAL_SECRETS_DIRECTORY`.

        Raises:
            SettingsError: A file cannot be read, or a profile cannot be a name.
        """
        home = Path.cwd() if directory is None else directory
        variables = os.environ if environ is None else environ
        first = [arguments_source(arguments or {}), environ_source(variables)]
        last = [
            dotenv_source(home / ".env", variables),
            toml_source(home / "vernal.toml"),
            toml_source(home / "pyproject.toml", ("tool", "vernal")),
        ]
        low = [source for source in last if source is not None]
        plain = cls([*first, *low])
        profiles = _profiles(plain.lookup("profiles"))
        secrets = plain.lookup("secrets_directory")
        middle = [secrets_source(home / str(secrets.value))] if secrets is not None else []
        for profile in reversed(profiles):
            source = dotenv_source(home / f".env.{profile}", variables)
            middle += [source] if source is not None else []
        return cls([*first, *middle, *low], profiles=profiles)

    def lookup(self, key: str, *, fallbacks: Iterable[str] = ()) -> SettingValue | None:
        """What is set for a dotted key such as `tools.throw_exception_on_error`, or None.

        The value is as it was given (text from the environment), with its origin; defaults are not known here.
        `fallbacks` are variables of others, such as `OPENAI_API_KEY`, asked when the key itself is set nowhere.
        """
        path = key.split(".")
        self.looked_up.add(key)
        for source in self.sources:
            node = source.root.find(path)
            if node is not None and node.value is not None:
                return node.value
        return next((found for name in fallbacks if (found := self.variable(name)) is not None), None)

    def variable(self, name: str) -> SettingValue | None:
        """A variable of any name, from the environment or a `.env` file, or None when it is unset or empty."""
        for source in self.sources:
            if (found := source.variables.get(name.upper())) is not None:
                return found
        return None

    def bind(self, settings_class: type[S]) -> S:
        """The settings of that class, validated; the same object each time.

        Raises:
            SettingsError: A value is missing or wrong; each problem names key, value (masked if secret) and origin.
        """
        bound = self._bound.setdefault(settings_class, None)
        if bound is None:
            from vernal.context.settings.binding import bind

            bound = bind(self, settings_class)
            self._bound[settings_class] = bound
        return bound  # type: ignore[return-value]  # the dictionary maps each class to an object of it

    @property
    def settings_classes(self) -> "tuple[type[Settings], ...]":
        """Every class that was asked for, also where its settings turned out wrong."""
        return tuple(self._bound)

    def check_unknown(
        self, known: Iterable[type["Settings"]], *, disabled_plugins: Iterable[str] = ()
    ) -> tuple["UnknownSetting", ...]:
        """The keys that no settings class knows (given here or asked for before), with near names; warned of once.

        `disabled_plugins` are names of plugins that are installed and not loaded: keys that look like theirs say so.

        Raises:
            SettingsError: One stands in the `settings=` argument, or `settings.strict` is true.
        """
        from vernal.context.settings.unknown import report_unknown

        return report_unknown(self, (*known, *self.settings_classes), tuple(disabled_plugins), self._warned)


def _profiles(setting: SettingValue | None) -> tuple[str, ...]:
    if setting is None:
        return ()
    value = setting.value
    names = value.split(",") if isinstance(value, str) else list(value) if isinstance(value, (list, tuple)) else [value]
    plain = (name.strip() if isinstance(name, str) else repr(name) for name in names)
    profiles = tuple(dict.fromkeys(filter(None, plain)))  # nothing between two commas is nothing in any list
    for profile in profiles:
        if not re.fullmatch(r"\w[\w.-]*", profile):
            raise SettingsError(
                [
                    SettingProblem(
                        key="profiles",
                        variable="VERNAL_PROFILES",
                        given=repr(value),
                        origin=setting.place,
                        reason=f"{profile!r} is not the name of a profile",
                        action="Name profiles with letters, digits, '_', '-' and '.', separated by commas",
                    )
                ]
            )
    return profiles
