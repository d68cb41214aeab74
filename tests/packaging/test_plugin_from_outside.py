"""A plugin from outside does what a plugin of ours does: `examples/plugin-audit` is built, installed, taken away."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.packaging.conftest import Environment

pytestmark = pytest.mark.packaging

PROJECT = Path(__file__).resolve().parents[2] / "examples" / "plugin-audit"
APPLICATION = """
from vernal import Application, ChatClient, ToolAdvisor, tool

@tool
def get_weather(city: str) -> str:
    "Current weather of a city."
    return f"18 °C in {city}"

with Application(settings={"chat.model": "offline"}) as context:
    print(type(context.get(ToolAdvisor)).__qualname__)
    print(context.get(ChatClient).prompt("What is the weather in Oslo?").tools(get_weather).call().content())
"""


@pytest.fixture(scope="module")
def environment(environment_of: "Callable[..., Environment]") -> "Environment":
    """Vernal and the plugin, installed."""
    return environment_of(PROJECT)


@pytest.fixture(scope="module")
def second_plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project of a plugin that is the same under another name, `watch`."""
    place = tmp_path_factory.mktemp("second") / "plugin-watch"
    shutil.copytree(PROJECT, place, ignore=shutil.ignore_patterns("__pycache__", "dist", ".*"))
    for path in sorted(place.rglob("*"), key=lambda one: -len(one.parts)):
        if path.is_file():
            text = path.read_text("utf-8").replace("audit", "watch").replace("Audit", "Watch")
            path.write_text(text, "utf-8")
        path.rename(path.with_name(path.name.replace("audit", "watch")))
    return place


def plugin_names(environment: "Environment", directory: Path) -> dict[str, str]:
    """The distribution of each plugin, by the plugin's name."""
    answer = json.loads(environment.output("-m", "vernal", "plugins", "--json", directory=directory))
    return {each["name"]: each["distribution"] for each in answer["plugins"]}


def traces(environment: "Environment") -> list[str]:
    """The files and folders that are named after the plugin."""
    return [path.name for path in environment.site.rglob("vernal_audit*")]


def test_it_replaces_the_default_by_being_installed(environment: "Environment", tmp_path: Path) -> None:
    """An application that knows nothing of the plugin gets its tool loop, which does what the plugin is for."""
    advisor, answer = environment.output("-c", APPLICATION, directory=tmp_path).splitlines()
    assert (advisor, answer) == ("AuditingToolCallingAdvisor", "18 °C in Oslo")
    assert '"get_weather"' in (tmp_path / "audit.jsonl").read_text()
    assert plugin_names(environment, tmp_path) == {"audit": "vernal-audit", "vernal-autoconfig": "vernal"}


def test_its_settings_come_from_where_all_settings_come_from(environment: "Environment", tmp_path: Path) -> None:
    """What stands in `.env` reaches its beans and its command."""
    (tmp_path / ".env").write_text("VERNAL_AUDIT__PATH=calls\nVERNAL_AUDIT__ARGUMENTS=true\n")
    environment.output("-c", APPLICATION, directory=tmp_path)
    line = environment.output("-m", "vernal", "audit", "--last", "1", directory=tmp_path)
    assert line.endswith('get_weather {"city": "Oslo"}\n')
    assert not (tmp_path / "audit.jsonl").exists()


@pytest.mark.parametrize("variable", ["VERNAL_AUDIT__ENABLED=false", "VERNAL_PLUGINS__DISABLED=audit"])
def test_the_default_is_back_where_it_is_switched_off(
    environment: "Environment", tmp_path: Path, variable: str
) -> None:
    """Its own setting, and that of all plugins, leave the application as if it were not installed."""
    name, value = variable.split("=")
    done = environment.run("-c", APPLICATION, directory=tmp_path, **{name: value})
    assert done.stdout.splitlines() == ["ToolCallingAdvisor", "18 °C in Oslo"]
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_its_own_tests_pass(environment: "Environment", tmp_path: Path) -> None:
    """Its tests, among them the contract suite for its loop, need nothing but vernal and pytest."""
    shutil.copytree(PROJECT / "tests", tmp_path / "tests")
    told = environment.output("-m", "pytest", "-v", "tests", directory=tmp_path)
    assert "test_each_call_is_written_down[True] PASSED" in told
    assert "TestContract::test_it_goes_on_until_the_model_answers[astream] PASSED" in told
    assert set(re.findall(r"\d+ (passed|failed|skipped|errors?)", told)) == {"passed"}


def test_two_plugins_with_one_default_are_reported_and_resolved(
    environment_of: "Callable[..., Environment]", second_plugin: Path, tmp_path: Path
) -> None:
    """The first by name is taken, a warning names both, and `plugins.prefer` decides otherwise, without one."""
    both = environment_of(PROJECT, second_plugin)
    undecided = both.run("-c", APPLICATION, directory=tmp_path)
    assert undecided.stdout.splitlines()[0] == "AuditingToolCallingAdvisor"
    assert undecided.stderr == (
        "The plugins 'audit' and 'watch' both bring 'tool_advisor' by default; that of 'audit' is taken. "
        "Set VERNAL_PLUGINS__PREFER to the plugin that is meant.\n"
    )
    decided = both.run("-c", APPLICATION, directory=tmp_path, VERNAL_PLUGINS__PREFER="watch")
    assert decided.stdout.splitlines()[0] == "WatchingToolCallingAdvisor"
    assert decided.stderr == ""


def test_an_uninstalled_plugin_leaves_nothing_behind(
    environment_of: "Callable[..., Environment]", tmp_path: Path
) -> None:
    """Without the package there is the default again, no plugin, no command, no setting, and no file of it."""
    environment = environment_of(PROJECT)
    environment.output("-c", APPLICATION, directory=tmp_path)
    assert traces(environment) != []
    environment.uninstall("vernal-audit")
    done = environment.run("-c", APPLICATION, directory=tmp_path)
    assert (done.stdout.splitlines()[0], done.stderr) == ("ToolCallingAdvisor", "")
    assert plugin_names(environment, tmp_path) == {"vernal-autoconfig": "vernal"}
    assert environment.run("-m", "vernal", "audit", directory=tmp_path).returncode != 0
    assert "audit" not in environment.output("-m", "vernal", "settings", "--json", directory=tmp_path)
    assert traces(environment) == []
