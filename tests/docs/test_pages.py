"""The programs of the pages run, and print what the pages say."""

import re
import sys
import types
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

DOCS = Path(__file__).resolve().parents[2] / "docs"
PROGRAM = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
TESTS = re.compile(r"def test_|^class Test\w+\(\w+Contract\):", re.MULTILINE)
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


PAGES = sorted(DOCS.glob("*.md"))


def modules_of(page: Path) -> list[str]:
    """The blocks of a page that are modules with tests, of their own or of a contract suite."""
    return [block for block in BLOCK.findall(page.read_text(encoding="utf-8")) if TESTS.search(block)]


def programs() -> list[object]:
    """The programs of all pages, each with what it prints; errors.md has tests of its own."""
    return [
        pytest.param(program, printed, id=f"{page.stem}-{number}")
        for page in PAGES
        if page.stem != "errors"
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


@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in PAGES if modules_of(page)])
def test_the_tests_of_a_page_pass(page: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block with tests is a module that passes as it stands."""
    monkeypatch.setenv("VERNAL_CHAT__MODEL", "offline")
    blocks = modules_of(page)
    for number, block in enumerate(blocks):
        pytester.makepyfile(**{f"test_block_{number}": block})
    tests = sum(len(TESTS.findall(block)) for block in blocks)  # at least: a suite has many
    outcomes = pytester.runpytest_subprocess("--strict-markers").parseoutcomes()
    assert outcomes.keys() == {"passed"}
    assert outcomes["passed"] >= tests
