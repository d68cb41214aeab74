"""The page on the command line: its reference is generated from the program, so that it cannot drift.

`python tests/framework/cli/test_command_line_page.py` writes it anew.
"""

import re
from pathlib import Path

import pytest
import typer
import typer.cli
import typer.core

from vernal.cli.app import COMMANDS, program

PAGE = Path(__file__).resolve().parents[3] / "docs" / "command-line.md"
MARK = "<!-- Generated from the program from here on; tests/framework/cli/test_command_line_page.py writes it. -->\n"


def reference() -> str:
    """The help of every command of our own, in Markdown."""
    group = typer.main.get_command(program(list(COMMANDS)))
    assert isinstance(group, typer.core.TyperGroup)
    context = typer.Context(group)
    sections = [
        typer.cli.get_docs_for_click(obj=command, ctx=context, indent=2, call_prefix="vernal").strip()
        for command in group.commands.values()
    ]
    return "\n\n".join(["## Reference", *sections]) + "\n"


def test_the_reference_is_what_the_program_says() -> None:
    """The generated part of the page is the present help of all commands."""
    _, mark, generated = PAGE.read_text(encoding="utf-8").partition(MARK)
    assert mark
    assert generated.strip() == reference().strip()


def test_the_page_speaks_of_every_command() -> None:
    """The part that people write mentions each command."""
    written, _, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
    assert [name for name in COMMANDS if f"vernal {name}" not in written] == []


def test_the_program_on_the_page_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The example in Python does what the page says."""
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(example, str(PAGE), "exec"), {})


if __name__ == "__main__":
    written, mark, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
    PAGE.write_text(written + mark + "\n" + reference(), encoding="utf-8")
