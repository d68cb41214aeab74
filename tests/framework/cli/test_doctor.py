"""The doctor: everything that looks wrong with an application, each with its cure."""

import json
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, SecretStr
from typer.testing import CliRunner

from vernal import (
    Application,
    ChatModel,
    ChatModelProvider,
    Settings,
    ToolParam,
    auto_configuration,
    bean,
    configuration,
    hookimpl,
    on_missing_bean,
    tool,
)
from vernal.cli.app import program
from vernal.cli.doctor import Finding, Level, examine, packages
from vernal.context.settings import fallback
from vernal.testing import ScriptedChatModel
from vernal_autoconfig import plugin as defaults


class Embedding(BaseModel):
    """What is set for another kind of model of the service."""

    key: SecretStr | None = None


class ServiceSettings(Settings, prefix="service"):
    """What is set for the service."""

    key: Annotated[SecretStr | None, fallback("SERVICE_KEY")] = None
    retries: int = 3
    embedding: Embedding = Embedding()


class ServiceProvider(ChatModelProvider):
    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings

    @property
    def name(self) -> str:
        return "service"

    @property
    def configured(self) -> bool:
        return self._settings.key is not None

    def create(self, model: str | None = None) -> ChatModel:
        return ScriptedChatModel(["ready"])


@configuration
class Service:
    @bean
    def service(self, settings: ServiceSettings) -> ServiceProvider:
        return ServiceProvider(settings)


def application(*sources: type, directory: Path, environ: dict[str, str] | None = None, **plugins: Any) -> Application:
    """An application with the defaults, offline, unless the environment says otherwise."""
    environ = {"VERNAL_CHAT__MODEL": "offline", **(environ or {})}
    return Application(*sources, directory=directory, environ=environ, plugins={"defaults": defaults, **plugins})


def found(findings: tuple[Finding, ...], about: str) -> Finding:
    """The one finding about something."""
    fitting = [finding for finding in findings if finding.about == about]
    assert len(fitting) == 1, findings
    return fitting[0]


def test_nothing_is_found_where_nothing_is_wrong(tmp_path: Path) -> None:
    """A sound application has no findings."""
    assert examine(application(directory=tmp_path)) == ()


def test_a_failing_start_is_the_first_finding(tmp_path: Path) -> None:
    """What keeps the application from starting stands first, with what to do."""

    class Missing: ...

    @configuration
    class Broken:
        @bean
        def broken(self, missing: Missing) -> ServiceProvider:
            raise NotImplementedError

    first = examine(application(Broken, directory=tmp_path))[0]
    assert (first.level, first.about) == (Level.ERROR, "start")
    assert "Missing" in first.text
    assert "declare a bean of type" in first.cure.lower()


def test_plugins_that_fail_or_are_kept_out_are_found(tmp_path: Path) -> None:
    """A failed plugin is an error, a disabled one is good to know; each names the setting that changes it."""
    findings = examine(
        application(
            directory=tmp_path, environ={"VERNAL_PLUGINS__DISABLED": "resting"}, broken=object(), resting=object()
        )
    )
    broken, resting = found(findings, "plugin broken"), found(findings, "plugin resting")
    assert broken.level is Level.ERROR
    assert "no function marked @hookimpl" in broken.text
    assert "VERNAL_PLUGINS__DISABLED=broken" in broken.cure
    assert (resting.level, resting.cure) == (Level.NOTE, "change VERNAL_PLUGINS__DISABLED, if it is wanted")


def test_settings_that_nothing_reads_are_found_with_the_nearest(tmp_path: Path) -> None:
    """A mistyped key is named with where it stands and what was perhaps meant."""
    (tmp_path / ".env").write_text("\nVERNAL_TOOLS__MAX_TOTAL_TOOL_CALS=3\n")
    finding = found(examine(application(directory=tmp_path)), "VERNAL_TOOLS__MAX_TOTAL_TOOL_CALS")
    assert finding.level is Level.WARNING
    assert finding.text == "nothing reads it (.env:2)"
    assert "VERNAL_TOOLS__MAX_TOTAL_TOOL_CALLS" in finding.cure


def test_wrong_values_are_found_also_where_no_bean_asks(tmp_path: Path) -> None:
    """A value of the wrong type is an error with its key and origin, although nothing has read it yet."""

    class Quiet:
        @hookimpl
        def vernal_settings(self) -> list[type]:
            return [ServiceSettings]

    findings = examine(application(directory=tmp_path, environ={"VERNAL_SERVICE__RETRIES": "many"}, quiet=Quiet()))
    finding = found(findings, "service.retries")
    assert finding.level is Level.ERROR
    assert "'many' (environment variable VERNAL_SERVICE__RETRIES)" in finding.text
    assert finding.cure == "set VERNAL_SERVICE__RETRIES to a value of type int"


def test_a_setting_that_keeps_the_application_from_starting_is_told_once(tmp_path: Path) -> None:
    """It is the failure of the start, with what is wanted and where it stands, and no second finding."""
    [finding] = examine(application(directory=tmp_path, environ={"VERNAL_TOOLS__TIMEOUT": "soon"}))
    assert (finding.level, finding.about) == (Level.ERROR, "start")
    assert "tools.timeout = 'soon': wanted a duration" in finding.text
    assert "`vernal settings`" in finding.cure


def test_a_profile_without_a_file_is_noted(tmp_path: Path) -> None:
    """A mistyped profile changes nothing and says nothing: the doctor does."""
    (tmp_path / ".env.prod").write_text("VERNAL_TOOLS__TIMEOUT=5s\n")
    findings = examine(application(directory=tmp_path, environ={"VERNAL_PROFILES": "prod,prd"}))
    assert [(one.level, one.about) for one in findings] == [(Level.NOTE, "profile prd")]


@pytest.mark.parametrize(("mode", "findings"), [(0o600, 0), (0o640, 1), (0o604, 1)])
def test_secrets_that_others_can_read_are_found(tmp_path: Path, mode: int, findings: int) -> None:
    """A .env file with a secret is for its owner alone; the secret itself is not told."""
    env = tmp_path / ".env"
    env.write_text("SERVICE_KEY=sk-very-secret\n")
    env.chmod(mode)
    told = [one for one in examine(application(Service, directory=tmp_path)) if one.about == ".env"]
    assert len(told) == findings
    assert all(one.cure == "chmod 600 .env" and "service.key" in one.text for one in told)
    assert "sk-very-secret" not in repr(told)


def test_a_file_without_secrets_may_be_read_by_all(tmp_path: Path) -> None:
    """Only secrets count."""
    (tmp_path / ".env").write_text("VERNAL_SERVICE__RETRIES=2\n")
    (tmp_path / ".env").chmod(0o644)
    assert examine(application(Service, directory=tmp_path)) == ()


def test_secrets_in_files_under_version_control_are_found(tmp_path: Path) -> None:
    """A secret in vernal.toml is told to move."""
    (tmp_path / "vernal.toml").write_text('[service]\nkey = "sk-very-secret"\n')
    (tmp_path / "vernal.toml").chmod(0o600)
    finding = found(examine(application(Service, directory=tmp_path)), "vernal.toml")
    assert "usually under version control" in finding.text
    assert ".env" in finding.cure


def test_warnings_of_the_start_are_findings(tmp_path: Path) -> None:
    """Two plugins that bring the same default are named with the setting that chooses; so is a broken line of .env."""
    (tmp_path / ".env").write_text("not a setting\n")

    class Clock: ...

    def brings(name: str) -> object:
        @auto_configuration
        class Clocks:
            @bean
            @on_missing_bean
            def clock(self) -> Clock:
                return Clock()

        Clocks.__qualname__ = Clocks.__name__ = f"{name}Clocks"

        class Plugin:
            @hookimpl
            def vernal_auto_configurations(self) -> list[type]:
                return [Clocks]

        return Plugin()

    findings = examine(application(directory=tmp_path, first=brings("First"), second=brings("Second")))
    assert "VERNAL_PLUGINS__PREFER" in found(findings, "vernal.context").text
    assert ".env:1" in found(findings, "vernal.settings").text


def test_the_offline_model_for_want_of_another_is_found(tmp_path: Path) -> None:
    """Where no provider is configured, the finding says what to configure, and how to say that it is meant."""
    findings = examine(application(Service, directory=tmp_path, environ={"VERNAL_CHAT__MODEL": ""}))
    finding = found(findings, "chat model")
    assert finding.level is Level.WARNING
    assert "service" in finding.cure
    assert "VERNAL_CHAT__MODEL=offline" in finding.cure


def test_a_chosen_provider_without_a_key_is_found(tmp_path: Path) -> None:
    """The variables of its key are named."""
    findings = examine(application(Service, directory=tmp_path, environ={"VERNAL_CHAT__MODEL": "service"}))
    finding = found(findings, "chat model")
    assert finding.level is Level.ERROR
    assert finding.cure == "set VERNAL_SERVICE__KEY or SERVICE_KEY"


def test_a_provider_that_answers_without_the_name_of_a_model_is_found(tmp_path: Path) -> None:
    """A key alone is not enough for most services: the finding says how to name a model, and a named one ends it."""
    environ = {"VERNAL_CHAT__MODEL": "", "SERVICE_KEY": "x"}
    finding = found(examine(application(Service, directory=tmp_path, environ=environ)), "chat model")
    assert finding.level is Level.WARNING
    assert "VERNAL_CHAT__MODEL=service:its-model" in finding.cure
    named = environ | {"VERNAL_CHAT__MODEL": "service:large"}
    assert examine(application(Service, directory=tmp_path, environ=named)) == ()


def test_a_choice_that_cannot_be_made_is_found(tmp_path: Path) -> None:
    """Two configured providers, or one that is not installed, are an error with the setting that chooses."""
    finding = found(examine(application(directory=tmp_path, environ={"VERNAL_CHAT__MODEL": "opnai:x"})), "chat model")
    assert finding.level is Level.ERROR
    assert finding.text.startswith("chat.model is 'opnai:x', but no provider 'opnai' is installed")


def test_a_provider_that_cannot_be_built_is_found(tmp_path: Path) -> None:
    """What its constructor raises is told, and the others are still looked at."""

    @configuration
    class Broken:
        @bean
        def broken(self) -> ServiceProvider:
            raise OSError("no route")

    findings = examine(application(Broken, directory=tmp_path))
    assert "no route" in found(findings, "provider broken").text


def test_a_choice_that_only_a_start_can_make_is_noted(tmp_path: Path) -> None:
    """A provider that is given an asynchronous bean is not built, and no error."""

    class Connection: ...

    @configuration
    class Asynchronous:
        @bean
        async def connection(self) -> Connection:
            return Connection()

        @bean
        def service(self, connection: Connection) -> ServiceProvider:
            raise NotImplementedError

    finding = found(examine(application(Asynchronous, directory=tmp_path)), "chat model")
    assert (finding.level, finding.cure) == (Level.NOTE, "ask with `vernal models --check`")


def test_poor_tools_are_found(tmp_path: Path) -> None:
    """No description, a very short one, parameters without one, an odd name, and the same name twice."""

    class Poor:
        @tool
        def look_up(self, key: str) -> str:
            return key

        @tool
        def refund(self, order: Annotated[str, ToolParam("Number of the order.")]) -> str:
            """Refund."""
            return order

        @tool(name="odd name!")
        def odd(self) -> str:
            """Does what nobody can call."""
            return ""

    class Twin:
        @tool
        def refund(self) -> str:
            """Refund the order of this conversation."""
            return ""

    @configuration
    class Tools:
        @bean
        def poor(self) -> Poor:
            raise NotImplementedError("tools are read from the class")

        @bean
        def twin(self) -> Twin:
            raise NotImplementedError("tools are read from the class")

    findings = examine(application(Tools, directory=tmp_path))
    texts = {(one.about, one.level): one.text for one in findings}
    assert "no description" in texts["tool look_up", Level.WARNING]
    assert texts["tool look_up", Level.NOTE] == "parameters without a description: key"
    assert texts["tool refund", Level.NOTE] == "its description is only 'Refund.'"
    assert "have the same name" in texts["tool refund", Level.WARNING]
    assert "'odd name!'" in texts["tools", Level.WARNING]


def test_what_cannot_be_a_tool_is_found(tmp_path: Path) -> None:
    """A contribution without tools is an error that names its plugin."""

    class Plugin:
        @hookimpl
        def vernal_tools(self) -> list[object]:
            return [object()]

    finding = found(examine(application(directory=tmp_path, odd=Plugin())), "plugin 'odd'")
    assert finding.level is Level.ERROR
    assert "No @tool methods found" in finding.text


@pytest.fixture
def old_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """httpx is too old, anyio is missing, typer of the extra is too old, rich of the extra is missing."""
    wanted = ["httpx>=0.28,<1", "anyio>=4.4", "pluggy>=1.5", 'typer>=0.15; extra == "cli"', 'rich>=13; extra == "cli"']
    installed = {"httpx": "0.27.2", "pluggy": "1.5.0", "typer": "0.9"}

    def version(name: str) -> str:
        if name not in installed:
            raise PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(packages, "requires", lambda name: wanted)
    monkeypatch.setattr(packages, "version", version)


@pytest.mark.usefixtures("old_packages")
def test_packages_below_the_minimum_are_found(tmp_path: Path) -> None:
    """What is too old or missing is told with the command that mends it; of an extra only what is too old."""
    findings = {one.text: (one.level, one.cure) for one in examine(application(directory=tmp_path))}
    assert findings == {
        "it needs httpx<1,>=0.28, and 0.27.2 is installed": (Level.ERROR, "pip install --upgrade 'httpx<1,>=0.28'"),
        "it needs anyio>=4.4, which is not installed": (Level.ERROR, "pip install --upgrade 'anyio>=4.4'"),
        "it needs typer>=0.15, and 0.9 is installed": (Level.WARNING, "pip install --upgrade 'typer>=0.15'"),
    }


@pytest.mark.parametrize(
    ("environ", "code", "text"),
    [
        ({}, 0, "Nothing looks wrong."),
        ({"VERNAL_CHAT__MODEL": ""}, 0, "What to do:"),
        ({"VERNAL_CHAT__MODEL": "opnai:x"}, 1, "no provider 'opnai' is installed"),
    ],
)
def test_the_command_fails_where_something_cannot_work(
    environ: dict[str, str], code: int, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`vernal doctor` ends with 1 for errors alone, in both forms; a warning is told once."""
    module = ModuleType("shown_patient")
    vars(module)["application"] = application(directory=tmp_path, environ=environ)
    monkeypatch.setitem(sys.modules, "shown_patient", module)
    arguments = ["doctor", "--app", "shown_patient:application"]
    result = CliRunner().invoke(program(arguments), arguments)
    assert (result.exit_code, result.stderr) == (code, ""), result.output
    assert text in result.stdout
    result = CliRunner().invoke(program(arguments), [*arguments, "--json"])
    assert result.exit_code == code
    levels = [finding["level"] for finding in json.loads(result.stdout)["findings"]]
    assert ("error" in levels) is bool(code)
