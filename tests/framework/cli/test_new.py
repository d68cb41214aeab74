"""`vernal new`: packages to begin with; tests/packaging installs them and runs their tests."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vernal.cli.app import program
from vernal.cli.new.naming import Kind, Naming
from vernal.cli.new.writing import write
from vernal.errors import UsageError

LONGEST = "a-really-long-name-of-a-plugin"


@pytest.mark.parametrize("kind", ["plugin", "app"])
@pytest.mark.parametrize("name", ["tea", LONGEST])
def test_what_is_written_is_clean(tmp_path: Path, kind: Kind, name: str) -> None:
    """Linter and formatter have nothing to say, however long the name is."""
    project, _ = write(Naming(kind, name), tmp_path)
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "."], cwd=project, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("kind", ["plugin", "app"])
def test_the_command_lists_what_it_has_written(tmp_path: Path, kind: Kind) -> None:
    """Each file that is there afterwards is named, and nothing of a template is left in any."""
    arguments = ["new", kind, "order-desk", "--in", str(tmp_path)]
    result = CliRunner().invoke(program(arguments), arguments)
    assert result.exit_code == 0
    files = sorted(str(path) for path in tmp_path.rglob("*") if path.is_file())
    assert [line for line in result.stdout.splitlines() if line.startswith(str(tmp_path))] == files
    assert [path for path in files if "$" in Path(path).read_text("utf-8") or "__name__" in path] == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """Where there is something under the name, nothing is written, and the error says what to do."""
    (tmp_path / "vernal-tea").mkdir()
    arguments = ["new", "plugin", "tea", "--in", str(tmp_path)]
    result = CliRunner().invoke(program(arguments), arguments)
    assert result.exit_code == 2
    assert "is there already" in re.sub(r"[│\s]+", " ", result.stderr)
    assert list((tmp_path / "vernal-tea").iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "name", "reason"),
    [
        ("plugin", "Order Desk", "such as 'order-desk'"),
        ("plugin", "9lives", "such as 'lives'"),
        ("plugin", "tea--cup", "such as 'tea-cup'"),
        ("plugin", "", "small letters and digits are wanted"),
        ("plugin", LONGEST + "s", "at most 30 are wanted"),
        ("plugin", "vernal-tea", "give the rest alone"),
        ("plugin", "class", "it means something in Python"),
        ("plugin", "list", "it means something in Python"),
        ("plugin", "tools", "there are settings under it already (ToolCallingSettings)"),
        ("plugin", "autoconfig", "there is a module 'vernal_autoconfig' already"),
        ("app", "json", "there is a module 'json' already"),
    ],
)
def test_a_name_that_cannot_be_one_is_explained(kind: Kind, name: str, reason: str) -> None:
    """The error gives the name, what is wrong with it, and where it can be told a name that would do."""
    with pytest.raises(UsageError) as raised:
        Naming(kind, name)
    assert f"{name!r} cannot be the name of a new {kind}: " in str(raised.value)
    assert reason in str(raised.value)
