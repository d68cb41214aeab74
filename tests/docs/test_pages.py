"""The programs of the pages run, and print what the pages say."""

import re
import sys
import types
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

DOCS = Path(__file__).resolve().parents[2] / "docs"
PROGRAM = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def programs() -> list[object]:
    """The programs of all pages, each with what it prints; testing.md and errors.md have tests of their own."""
    return [
        pytest.param(program, printed, id=f"{page.stem}-{number}")
        for page in sorted(DOCS.glob("*.md"))
        if page.stem not in ("testing", "errors")
        for number, (program, printed) in enumerate(PROGRAM.findall(page.read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize(("program", "printed"), programs())
def test_a_program_prints_what_the_page_says(
    program: str,
    printed: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A stranger who copies the program sees what the page shows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VERNAL_CHAT__MODEL", "offline")
    module = types.ModuleType("app")
    monkeypatch.setitem(sys.modules, "app", module)
    exec(compile(program, "app.py", "exec", dont_inherit=True), vars(module))
    assert capsys.readouterr().out == printed


def test_the_tests_of_the_page_on_testing_pass(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block of the page is a test module that passes as it stands."""
    monkeypatch.setenv("VERNAL_CHAT__MODEL", "offline")
    blocks = BLOCK.findall((DOCS / "testing.md").read_text())
    for number, block in enumerate(blocks):
        pytester.makepyfile(**{f"test_block_{number}": block})
    tests = sum(block.count("def test_") for block in blocks)
    pytester.runpytest("--strict-markers").assert_outcomes(passed=tests)
