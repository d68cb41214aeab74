"""The base class of settings classes, and the settings that belong to the framework itself."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from vernal.context.settings.masking import hide_passwords

_PREFIX = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")


class Settings(BaseSettings):
    """Settings under one prefix: `class AuditSettings(Settings, prefix="audit"): path: str = "audit.log"`.

    The field `path` is the key `audit.path` and the variable `VERNAL_AUDIT__PATH`. A bean that takes a parameter of
    this class gets the settings of the application, from `Environment.bind`. An object made by hand reads nothing but
    its arguments; a class that wants a source of its own (a vault, say) adds it in `settings_customise_sources`, where
    `init_settings` stands for everything that the application found. Objects are immutable.

    A class that is only the base of others says `abstract=True` in place of a prefix.

    Raises:
        TypeError: When a class is declared without a prefix, or with one that cannot be a key.
    """

    settings_prefix: ClassVar[str]
    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        populate_by_name=True,
        validate_default=True,
        nested_model_default_partial_update=True,
    )

    def __init_subclass__(cls, *, prefix: str | None = None, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if abstract:
            return
        if prefix is not None:
            cls.settings_prefix = prefix
        given = getattr(cls, "settings_prefix", None)
        if given is None:
            raise TypeError(f"{cls.__qualname__} has no prefix; write class {cls.__name__}(Settings, prefix='…')")
        if given and not _PREFIX.fullmatch(given):
            raise TypeError(
                f"the prefix {given!r} of {cls.__qualname__} cannot be a key; "
                "wanted names of small letters, digits and '_', separated by dots, such as 'chat.client'"
            )

    def __init__(self, **values: Any) -> None:
        """Take the values, each over the default of its field; sources of the class's own are asked as they say.

        Without such sources pydantic-settings would only prepare, for each class, what is not read: half of a start.
        """
        if next(base for base in type(self).__mro__ if "settings_customise_sources" in vars(base)) is not Settings:
            super().__init__(**values)
            return
        defaults = {name: field.default for name, field in type(self).model_fields.items()}
        BaseModel.__init__(self, **{name: _over(defaults.get(name), value) for name, value in values.items()})

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """The fields, without the passwords of URLs among them."""
        for name, value in super().__repr_args__():
            yield name, hide_passwords(value) if isinstance(value, str) else value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what is given: the application reads the sources once for all classes (`Environment`)."""
        return (init_settings,)


def _over(default: Any, given: Any) -> Any:
    """What is given; names within a model or mapping that are given over those of the default."""
    if not isinstance(given, Mapping):
        return given
    if isinstance(default, BaseModel):
        default = {name: getattr(default, name) for name in type(default).model_fields}
    elif is_dataclass(default):
        default = {field.name: getattr(default, field.name) for field in fields(default)}
    else:
        return given
    return {**default, **{name: _over(default.get(name), value) for name, value in given.items()}}


class fallback:  # noqa: N801 - it reads as a word in Annotated[..., fallback("OPENAI_API_KEY")]
    """Variables of others that give a field its value when its own key is set nowhere, from environment and `.env`.

    `api_key: Annotated[SecretStr | None, fallback("OPENAI_API_KEY")] = None`
    """

    __slots__ = ("names",)

    def __init__(self, *names: str) -> None:
        self.names = names

    def __repr__(self) -> str:
        return f"fallback({', '.join(map(repr, self.names))})"


class SettingsOptions(BaseModel):
    """How settings themselves are treated."""

    model_config = ConfigDict(frozen=True)

    strict: bool = Field(default=False, description="Whether a key that nothing knows is an error.")


class RootSettings(Settings, prefix=""):
    """The settings that shape the environment itself."""

    profiles: tuple[str, ...] = Field(
        default=(), description="Active profiles; each adds .env.<profile>, the last wins."
    )
    secrets_directory: Path | None = Field(
        default=None, description="Directory with one file per secret, named after its variable."
    )
    settings: SettingsOptions = Field(default=SettingsOptions(), description="How settings are treated.")


class PluginsSettings(Settings, prefix="plugins"):
    """Which plugins are loaded."""

    disabled: tuple[str, ...] = Field(default=(), description="Plugins that are not loaded.")
    enabled: tuple[str, ...] | None = Field(
        default=None, description="When set, only these plugins are loaded, beside those of vernal itself."
    )
    prefer: tuple[str, ...] = Field(
        default=(), description="Plugins whose defaults win over those of others, in order."
    )
    strict: bool = Field(default=False, description="Whether a plugin that fails to load is an error.")
