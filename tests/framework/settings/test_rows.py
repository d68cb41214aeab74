"""The rows of `vernal settings`, and the JSON schema for editors."""

import json
from datetime import timedelta
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field, SecretStr

from vernal.context.settings import (
    ByName,
    Duration,
    Environment,
    PluginsSettings,
    RootSettings,
    SettingRow,
    Settings,
    Size,
    describe,
    fallback,
    settings_schema,
)
from vernal.context.settings.masking import hide_passwords

SECRET = "sk-very-secret"


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Retry(BaseModel):
    attempts: int = 1


class Service(Settings, prefix="service"):
    """How the service is reached."""

    url: str = Field(default="http://me:pass@host/x", description="Where it is.")
    key: Annotated[SecretStr | None, fallback("SERVICE_KEY")] = None
    token: SecretStr = SecretStr(SECRET)
    timeout: Duration = timedelta(minutes=1)
    size: Size | None = None
    color: Color | None = Color.RED
    mode: Literal["fast", "slow"] = "fast"
    names: tuple[str, ...] = ("a",)
    retry: Retry = Retry(attempts=4)
    each: ByName[Retry] = ByName()
    limits: ByName[int] = ByName()
    path: Path


def _rows(**environ: str) -> dict[str, SettingRow]:
    environment = Environment.load(directory=Path("/nonexistent"), environ=environ)
    return {row.key: row for row in describe(environment, [Service])}


@pytest.mark.parametrize(
    ("key", "variable", "kind", "default"),
    [
        ("service.url", "VERNAL_SERVICE__URL", "text", "http://me:**********@host/x"),
        ("service.key", "VERNAL_SERVICE__KEY", "secret | none", None),
        ("service.token", "VERNAL_SERVICE__TOKEN", "secret", "**********"),
        ("service.timeout", "VERNAL_SERVICE__TIMEOUT", "duration", "60s"),
        ("service.size", "VERNAL_SERVICE__SIZE", "size | none", None),
        ("service.color", "VERNAL_SERVICE__COLOR", "'red' | 'blue' | none", "red"),
        ("service.mode", "VERNAL_SERVICE__MODE", "'fast' | 'slow'", "fast"),
        ("service.names", "VERNAL_SERVICE__NAMES", "list of text", '["a"]'),
        ("service.retry.attempts", "VERNAL_SERVICE__RETRY__ATTEMPTS", "int", "4"),
        ("service.each.<name>.attempts", "VERNAL_SERVICE__EACH__<NAME>__ATTEMPTS", "int", "1"),
        ("service.limits.<name>", "VERNAL_SERVICE__LIMITS__<NAME>", "int", "{}"),
        ("service.path", "VERNAL_SERVICE__PATH", "path", None),
    ],
)
def test_every_key_has_its_row(key: str, variable: str, kind: str, default: str | None) -> None:
    """Each field, nested ones and maps included, has a row with variable, type and default, also when binding fails."""
    row = _rows()[key]
    assert (row.variable, row.type, row.default, row.value, row.origin) == (variable, kind, default, default, "default")


def test_what_is_set_is_shown_with_its_origin() -> None:
    """Present values stand as they were given, with where they came from."""
    rows = _rows(VERNAL_SERVICE__TIMEOUT="5m", VERNAL_SERVICE__LIMITS__GET_WEATHER="3", VERNAL_SERVICE__PATH="x")
    assert rows["service.timeout"].value == "5m"
    assert rows["service.timeout"].origin == "environment variable VERNAL_SERVICE__TIMEOUT"
    assert (rows["service.limits.get_weather"].value, rows["service.limits.get_weather"].default) == ("3", None)
    assert "service.limits.<name>" not in rows
    assert rows["service.url"].description == "Where it is."


def test_secrets_are_masked() -> None:
    """No row has a secret in it; the variable of another that gave it is named."""
    rows = _rows(SERVICE_KEY=SECRET, VERNAL_SERVICE__URL="https://u:pw@host", VERNAL_SERVICE__PATH="x")
    assert SECRET not in repr(rows)
    assert rows["service.url"].value == "https://u:**********@host"
    row = rows["service.key"]
    assert (row.value, row.origin, row.secret) == ("**********", "environment variable SERVICE_KEY", True)
    assert row.fallbacks == ("SERVICE_KEY",)


def test_a_wrong_value_is_a_problem_of_its_row() -> None:
    """Where the class cannot be bound, its rows are shown all the same, with what is wrong."""
    rows = _rows(VERNAL_SERVICE__MODE="rapid")
    assert rows["service.mode"].value == "rapid"
    assert rows["service.mode"].problem == "wanted 'fast' or 'slow'"
    assert rows["service.path"].problem == "not set, and it has no default"
    assert rows["service.url"].problem is None


def test_a_shared_key_stands_once() -> None:
    """Classes that declare the same key give one row."""

    class Other(Settings, prefix="service"):
        url: str = ""

    rows = describe(Environment.load(environ={}), [Service, Other, Service])
    assert len({row.key for row in rows}) == len(rows)
    assert [row.key for row in rows] == sorted(row.key for row in rows)


def test_the_schema_accepts_what_the_file_may_say() -> None:
    """The JSON schema of all settings takes a proper vernal.toml and refuses mistyped keys and values."""

    class Sub(Settings, prefix="service.sub"):
        on: bool = True

    class Shared(Settings, prefix="service"):
        more: int = 0

    schema = settings_schema([RootSettings, PluginsSettings, Service, Sub, Shared])
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    fine = {
        "profiles": ["dev"],
        "plugins": {"disabled": ["x"]},
        "service": {
            "timeout": "10s",
            "size": "10MB",
            "limits": {"get-weather": 3},
            "each": {"x": {"attempts": 1}},
            "sub": {"on": False},
            "more": 1,
            "mode": "slow",
        },
    }
    assert list(validator.iter_errors(fine)) == []
    for wrong in (
        '{"servise": {}}',
        '{"service": {"modes": 1}}',
        '{"service": {"mode": "x"}}',
        '{"service": {"sub": 1}}',
    ):
        assert list(validator.iter_errors(json.loads(wrong))), wrong
    assert SECRET not in json.dumps(schema)
    assert "**" not in json.dumps(schema)
    assert schema["properties"]["service"]["description"] == "How the service is reached."


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://u:pw@host/x", "https://u:**********@host/x"),
        ("https://token@host", "https://**********@host"),
        ("redis://:pw@host", "redis://:**********@host"),
        ("https://host/x@y", "https://host/x@y"),
    ],
)
def test_what_is_secret_in_a_url_is_masked(url: str, shown: str) -> None:
    """A password, and a token that stands alone before the host; the rest of the URL is shown (R28)."""
    assert hide_passwords(url) == shown
