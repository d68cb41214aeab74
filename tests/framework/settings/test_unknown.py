"""Keys that nothing reads: found in every source, with the nearest name."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from vernal.context.settings import ByName, Environment, Settings, SettingsError


class Retry(BaseModel):
    attempts: int = 1


class Tools(Settings, prefix="tools"):
    throw_exception_on_error: bool = False
    retry: Retry = Retry()
    each: ByName[Retry] = ByName()
    anything: Any = None


class Client(Settings, prefix="chat.client"):
    enabled: bool = True


def _load(tmp_path: Path, environ: Mapping[str, str] | None = None, **arguments: object) -> Environment:
    return Environment.load(arguments, directory=tmp_path, environ=environ or {})


@pytest.mark.parametrize(
    ("variable", "near"),
    [
        ("VERNAL_TOOLS__THROW_EXCEPTIONS_ON_ERROR", "VERNAL_TOOLS__THROW_EXCEPTION_ON_ERROR"),
        ("VERNAL_TOOL__THROW_EXCEPTION_ON_ERROR", "VERNAL_TOOLS__THROW_EXCEPTION_ON_ERROR"),
        ("VERNAL_TOOLS_THROW_EXCEPTION_ON_ERROR", "VERNAL_TOOLS__THROW_EXCEPTION_ON_ERROR"),
        ("VERNAL_CHAT_CLIENT__ENABLED", "VERNAL_CHAT__CLIENT__ENABLED"),
        ("VERNAL_TOOLS__RETRY__ATTEMPT", "VERNAL_TOOLS__RETRY__ATTEMPTS"),
        ("VERNAL_TOOLS__EACH__X__ATTEMPT", "VERNAL_TOOLS__EACH__<NAME>__ATTEMPTS"),
        ("VERNAL_TOOLS__THROW_EXCEPTION_ON_ERROR__X", "VERNAL_TOOLS__THROW_EXCEPTION_ON_ERROR"),
        ("VERNAL_PROFILE", "VERNAL_PROFILES"),
        ("VERNAL_PLUGINS__DISABLE", "VERNAL_PLUGINS__DISABLED"),
        ("VERNAL_ZZZZ", None),
        ("VERNAL_TOOLS", None),
    ],
)
def test_a_mistyped_variable_is_found(tmp_path: Path, variable: str, near: str | None) -> None:
    """A variable under the root that no class knows is reported with the nearest variable."""
    (unknown,) = _load(tmp_path, {variable: "1"}).check_unknown([Tools, Client])
    assert (unknown.written, unknown.nearest) == (variable, near)
    assert unknown.origin == f"environment variable {variable}"


def test_what_is_known_is_not_reported(tmp_path: Path) -> None:
    """Fields, nested fields, names of maps, anything below an open field, and variables of others are fine."""
    environ = {
        "VERNAL_TOOLS__THROW_EXCEPTION_ON_ERROR": "1",
        "vernal_tools__retry__attempts": "1",
        "VERNAL_TOOLS__EACH__GET_WEATHER__ATTEMPTS": "1",
        "VERNAL_TOOLS__ANYTHING__A__B": "1",
        "VERNAL_CHAT__CLIENT__ENABLED": "1",
        "VERNAL_PROFILES": "dev",
        "VERNAL_SETTINGS__STRICT": "true",
        "VERNALX": "1",
        "OTHER": "1",
    }
    assert _load(tmp_path, environ).check_unknown([Tools, Client]) == ()


def test_in_a_file_the_nearest_name_is_written_as_there(tmp_path: Path) -> None:
    """A key of the TOML file is compared with keys, and has its line."""
    (tmp_path / "vernal.toml").write_text("[tools]\nthrow-exception-on-errors = true\n")
    (unknown,) = _load(tmp_path).check_unknown([Tools])
    assert unknown.written == "tools.throw-exception-on-errors"
    assert (unknown.origin, unknown.nearest) == ("vernal.toml:2", "tools.throw_exception_on_error")


def test_it_is_warned_of_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One warning lists the unknown keys, without their values; a second check adds nothing."""
    environment = _load(tmp_path, {"VERNAL_PROFILE": "hidden", "VERNAL_ZZZZ": "hidden"})
    assert len(environment.check_unknown([])) == 2
    assert len(environment.check_unknown([])) == 2
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "VERNAL_PROFILE: nothing reads it. Perhaps VERNAL_PROFILES was meant." in record.message
    assert "VERNAL_ZZZZ: nothing reads it. Remove it, or install what reads it." in record.message
    assert "hidden" not in record.message


def test_in_the_argument_it_is_an_error(tmp_path: Path) -> None:
    """The settings= argument is code: a typing mistake there is refused."""
    with pytest.raises(SettingsError, match=r"tools\.retri\.attempts: nothing reads it \(settings= argument\)"):
        _load(tmp_path, tools={"retri": {"attempts": 1}}).check_unknown([Tools])


def test_in_strict_mode_it_is_an_error_everywhere(tmp_path: Path) -> None:
    """VERNAL_SETTINGS__STRICT=true refuses unknown variables."""
    environment = _load(tmp_path, {"VERNAL_SETTINGS__STRICT": "true", "VERNAL_PROFILE": "dev"})
    with pytest.raises(SettingsError, match=r"VERNAL_PROFILE: nothing reads it\. Perhaps VERNAL_PROFILES was meant"):
        environment.check_unknown([])


@pytest.mark.parametrize("plugin", ["openai", "vernal-openai", "OpenAI"])
def test_a_key_of_a_disabled_plugin_says_so(tmp_path: Path, plugin: str) -> None:
    """A key that carries the name of a plugin that is not loaded is explained by that."""
    environment = _load(tmp_path, {"VERNAL_OPENAI__API_KEY": "x", "VERNAL_CHAT__OPENAI__X": "x"})
    unknown = environment.check_unknown([Tools], disabled_plugins=[plugin])
    assert [each.plugin for each in unknown] == [plugin, plugin]
    assert f"it belongs to the plugin {plugin!r}, which is not loaded" in str(unknown[0].problem)


def test_classes_that_share_a_prefix_know_their_keys_together(tmp_path: Path) -> None:
    """A key is known when any class of its prefix has it."""

    class More(Settings, prefix="tools"):
        more: int = 0

    assert _load(tmp_path, {"VERNAL_TOOLS__MORE": "1"}).check_unknown([Tools, More]) == ()


def test_a_key_that_is_asked_for_by_itself_is_known() -> None:
    """A condition on a setting reads it, so that nobody reports it as unknown (R28)."""
    environment = Environment.load({}, environ={"VERNAL_AUDIT__ENABLED": "false"})
    assert [each.key for each in environment.check_unknown(())] == ["audit.enabled"]
    environment.lookup("audit.enabled")
    assert list(environment.check_unknown(())) == []
