"""Commands of plugins: added to the program, never in the place of our own, asked for only when needed."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from vernal.cli.app import program

PLUGIN = """
import typer
from vernal.context.plugins import hookimpl

asked = []
group = typer.Typer(help="Shop things.")

@group.command()
def prices() -> None:
    typer.echo("cheap")

@group.command()
def hours() -> None:
    typer.echo("late")

def say_hello(name: str) -> None:
    typer.echo(f"hello {name}")

def beans() -> None:
    typer.echo("not ours")

@hookimpl
def vernal_commands():
    asked.append(1)
    return [group, say_hello, beans]
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed plugin `shop` with commands."""
    info = tmp_path / "vernal_shop-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vernal-shop\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[vernal]\nshop = shop_plugin_of_test\n")
    (tmp_path / "shop_plugin_of_test.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VERNAL_PLUGINS__ENABLED", "shop")


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("arguments", "output"), [(["shop", "prices"], "cheap\n"), (["say-hello", "you"], "hello you\n")]
)
def test_a_plugin_adds_commands(arguments: list[str], output: str) -> None:
    """A function is a command of its name, a Typer a group that is called after the plugin."""
    result = CliRunner().invoke(program(arguments), arguments)
    assert (result.exit_code, result.stdout) == (0, output)


@pytest.mark.usefixtures("shop")
def test_our_own_commands_keep_their_names(caplog: pytest.LogCaptureFixture) -> None:
    """A plugin's command of a name of ours is left out, with a warning that names the plugin."""
    help_text = CliRunner().invoke(program([]), ["--help"]).stdout
    assert help_text.count("│ beans ") == 1
    assert "say-hello" in help_text
    assert "'beans' of plugin 'shop' (vernal-shop 1.0, shop_plugin_of_test) is left out" in caplog.text


@pytest.mark.usefixtures("shop")
def test_our_own_commands_do_not_ask_plugins() -> None:
    """Where one of our commands is meant, no plugin is asked for its commands."""
    import importlib

    plugin = importlib.import_module("shop_plugin_of_test")
    plugin.asked.clear()
    program(["beans"])
    assert plugin.asked == []


def test_a_broken_environment_leaves_our_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where settings cannot be read, the program still has its own commands and says what is missing."""
    (tmp_path / "vernal.toml").write_text("= 1")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(program([]), ["--help"])
    assert result.exit_code == 0
    assert "commands of plugins are not available: vernal.toml: the file is not TOML" in caplog.text
