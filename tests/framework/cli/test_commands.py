"""The command line: what it shows of an application, also of one that does not start."""

import json
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from vernal.cli.app import program
from vernal.context import Application, auto_configuration, bean, on_missing_bean, on_setting
from vernal.context.plugins import hookimpl
from vernal.context.settings import Settings

SECRET = "sk-very-secret"

APP = """
from pydantic import Field, SecretStr
from vernal.context import Application, bean, configuration
from vernal.context.settings import Settings

class AuditSettings(Settings, prefix="audit"):
    path: str = Field(default="audit.log", description="Where it is written.")
    key: SecretStr = SecretStr("none")

class Audit: ...
class Missing: ...

@configuration
class Beans:
    @bean
    def audit(self, settings: AuditSettings) -> Audit:
        raise RuntimeError("nothing is built")

@configuration
class Broken:
    @bean
    def broken(self, missing: Missing, settings: AuditSettings) -> Audit:
        return Audit()

application = Application(Beans, plugins=False)
broken = Application(Broken, plugins=False)
sources = [Beans]
other = object()
"""

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `vernal` in a directory of its own that holds `shown_app.py`."""
    (tmp_path / "shown_app.py").write_text(APP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "shown_app", raising=False)
    for name in [name for name in os.environ if name.startswith("VERNAL_")]:
        monkeypatch.delenv(name)
    return lambda *arguments: CliRunner().invoke(program(arguments), list(arguments))


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Callable[[Application], str]:
    """Make an application known under a place for `--app`."""

    def show(application: Application) -> str:
        module = types.ModuleType("shown_other")
        vars(module)["app"] = application
        monkeypatch.setitem(sys.modules, "shown_other", module)
        return "shown_other:app"

    return show


def data(result: Any, code: int = 0) -> Any:
    """The JSON that a command printed, once its exit code is as expected."""
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_settings_shows_every_setting(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that beans take are listed with value, type, meaning and origin; secrets are masked."""
    monkeypatch.setenv("VERNAL_AUDIT__KEY", SECRET)
    monkeypatch.setenv("VERNAL_AUDIT__PAHT", "x")
    view = data(run("settings", "--app", "shown_app:application", "--json"))
    rows = {row["key"]: row for row in view["settings"]}
    assert rows["audit.path"]["value"] == rows["audit.path"]["default"] == "audit.log"
    assert rows["audit.path"]["description"] == "Where it is written."
    assert rows["audit.key"]["value"] == "**********"
    assert rows["audit.key"]["origin"] == "environment variable VERNAL_AUDIT__KEY"
    assert {"profiles", "plugins.disabled", "autoconfigure.exclude"} <= set(rows)
    unknown = [(each["written"], each["nearest"]) for each in view["unknown"]]
    assert unknown == [("VERNAL_AUDIT__PAHT", "VERNAL_AUDIT__PATH")]
    text = run("settings", "--app", "shown_app:application").stdout
    assert "VERNAL_AUDIT__PATH" in text
    assert "Where it is written." in text
    assert SECRET not in text


def test_settings_gives_a_schema(run: Run) -> None:
    """`--schema` prints the JSON schema of all settings."""
    schema = data(run("settings", "--app", "shown_app:application", "--schema"))
    assert schema["properties"]["audit"]["properties"]["path"]["default"] == "audit.log"


def test_beans_shows_what_is_declared_and_builds_nothing(run: Run) -> None:
    """Each bean stands with type, scope, origin and what it is given."""
    view = data(run("beans", "--app", "shown_app:application", "--json"))
    beans = {each["name"]: each for each in view["beans"]}
    assert beans["audit"]["scope"] == "singleton"
    assert "shown_app.AuditSettings" in beans["audit"]["needs"]
    assert beans["audit"]["type"] == "shown_app.Audit"
    assert "shown_app" in beans["audit"]["origin"]
    assert "shown_app.Audit" in run("beans", "--app", "shown_app:application").stdout


def test_conditions_shows_each_decision(run: Run, shown: Callable[[Application], str]) -> None:
    """What matched and what did not is printed with its reason."""

    class Service: ...

    @auto_configuration
    class ServiceAutoConfiguration:
        @bean
        @on_missing_bean
        def service(self) -> Service:
            return Service()

        @bean
        @on_setting("service.extra")
        def extra(self) -> Service:
            return Service()

    place = shown(Application(auto_configurations=[ServiceAutoConfiguration], plugins=False))
    view = data(run("conditions", "--app", place, "--json"))
    assert [record["source"] for record in view["negative"]] == ["ServiceAutoConfiguration.extra"]
    assert [record["source"] for record in view["positive"]] == ["ServiceAutoConfiguration.service"]
    assert "service.extra" in run("conditions", "--app", place).stdout


def test_plugins_shows_what_each_gives(run: Run, shown: Callable[[Application], str]) -> None:
    """Loaded and failed plugins are listed, with contributions and the reason of the failure."""

    class ShopSettings(Settings, prefix="shop"):
        open: bool = True

    class Shop:
        @hookimpl
        def vernal_settings(self) -> list[type]:
            return [ShopSettings]

        @hookimpl
        def vernal_tools(self) -> list[Any]:
            return [print]

    place = shown(Application(plugins={"shop": Shop(), "empty": object()}))
    empty, shop = data(run("plugins", "--app", place, "--json"))["plugins"]
    assert (shop["name"], shop["state"], shop["settings"], shop["tools"]) == ("shop", "loaded", ["shop"], ["print"])
    assert (empty["state"], empty["failure"]) == ("failed", "it has no function marked @hookimpl")
    text = run("plugins", "--app", place).stdout
    assert "tools: print" in text
    assert "it has no function marked @hookimpl" in text


@pytest.mark.parametrize("command", ["settings", "plugins", "conditions", "beans", "tools", "models", "doctor"])
def test_every_view_works_when_the_start_fails(run: Run, command: str) -> None:
    """The view is shown as far as it is known, the failure beside it, and the exit code is 1."""
    view = data(run(command, "--app", "shown_app:broken", "--json"), 1)
    assert view["failure"]["kind"] == "missing-bean"
    result = run(command, "--app", "shown_app:broken")
    assert result.exit_code == 1
    assert "The application does not start." in result.stderr
    assert "shown_app.Missing" in result.stderr


def test_a_failed_start_still_shows_settings_and_choices(run: Run) -> None:
    """Settings that beans take and the sources that were chosen are known although a bean is missing."""
    view = data(run("settings", "--app", "shown_app:broken", "--json"), 1)
    assert "audit.path" in {row["key"] for row in view["settings"]}
    view = data(run("beans", "--app", "shown_app:broken", "--json"), 1)
    assert view["chosen"] == ["Broken", "Broken.broken"]
    assert "Broken.broken" in run("beans", "--app", "shown_app:broken").stdout


def test_a_wrong_setting_is_shown_in_its_row(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a setting keeps the application from starting, its row says so."""
    monkeypatch.setenv("VERNAL_PLUGINS__STRICT", "perhaps")
    view = data(run("settings", "--app", "shown_app:application", "--json"), 1)
    row = next(row for row in view["settings"] if row["key"] == "plugins.strict")
    assert (row["value"], row["problem"]) == ("perhaps", "wanted true or false")
    assert view["failure"]["kind"] == "wrong-setting"


def test_a_broken_file_is_a_failure_of_every_view(run: Run) -> None:
    """Where even the environment cannot be read, the report says why."""
    Path("vernal.toml").write_text("= 1")
    view = data(run("settings", "--app", "shown_app:application", "--json"), 1)
    assert view["settings"] == []
    assert "vernal.toml: the file is not TOML" in view["failure"]["details"][0]


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("shown_app", "wanted module:attribute"),
        ("nothing_here:app", "there is no module 'nothing_here'"),
        ("shown_app:nothing", "shown_app has no 'nothing'"),
        ("shown_app:other", "a class marked @configuration or a DeclarativeContainer is wanted"),
    ],
)
def test_a_wrong_place_is_explained(run: Run, place: str, reason: str) -> None:
    """`--app` says what it cannot find or use."""
    result = run("beans", "--app", place)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.parametrize("place", ["shown_app:Beans", "shown_app:sources"])
def test_sources_may_be_named_in_place_of_an_application(run: Run, place: str) -> None:
    """A configuration class, or a list of sources, is made into an application."""
    view = data(run("beans", "--app", place, "--json"))
    assert "audit" in {each["name"] for each in view["beans"]}


def test_the_version_is_told(run: Run) -> None:
    """For reports of faults: that of vernal and that of Python."""
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("vernal 0.")


def test_without_typer_the_program_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is named, and nothing else goes wrong."""
    from vernal.cli import main

    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "vernal.cli.app")
    with pytest.raises(SystemExit, match=r"needs typer; install it with: pip install 'vernal\[cli\]'"):
        main()


@pytest.mark.parametrize("command", ["plugins", "conditions", "beans", "settings", "tools", "models", "doctor"])
def test_a_broken_plugin_in_strict_mode_is_seen_among_the_others(
    run: Run, shown: Callable[[Application], str], command: str
) -> None:
    """In strict mode too every plugin is looked at and every condition asked, and the failure names the plugin."""

    class Service: ...

    @auto_configuration
    class GoodAutoConfiguration:
        @bean
        def service(self) -> Service:
            return Service()

    class Good:
        @hookimpl
        def vernal_auto_configurations(self) -> list[type]:
            return [GoodAutoConfiguration]

    class Broken:
        @hookimpl
        def vernal_auto_configurations(self) -> list[type]:
            raise LookupError("no such table")

    plugins = {"broken": Broken(), "good": Good()}
    settings = {"plugins": {"strict": True}, "autoconfigure": {"exclude": ["OfBrokenAutoConfiguration"]}}
    place = shown(Application(plugins=plugins, settings=settings, environ={}))
    view = data(run(command, "--app", place, "--json"), 1)
    assert view["failure"]["kind"] == "broken-plugin"
    if command == "plugins":
        states = {each["name"]: each["state"] for each in view["plugins"]}
        assert states == {"broken": "failed", "good": "loaded"}
    if command == "settings":
        assert "plugins.strict" in {row["key"] for row in view["settings"]}


def test_conditions_are_decided_beside_a_broken_plugin_in_strict_mode(
    run: Run, shown: Callable[[Application], str]
) -> None:
    """What the other plugins bring is decided and shown, although the application does not start."""

    @auto_configuration
    class OtherAutoConfiguration: ...

    class Other:
        @hookimpl
        def vernal_auto_configurations(self) -> list[type]:
            return [OtherAutoConfiguration]

    plugins = {"broken": object(), "other": Other()}
    place = shown(Application(plugins=plugins, settings={"plugins": {"strict": True}}, environ={}))
    view = data(run("conditions", "--app", place, "--json"), 1)
    assert any("OtherAutoConfiguration" in source for source in view["unconditional"])
