"""The page of the offline model tells what it does."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "offline-model.md").read_text(encoding="utf-8")
PROGRAM = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


def test_the_program_of_the_page_prints_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """A newcomer who copies the first program sees the answer that stands under it."""
    ((program, shown),) = PROGRAM.findall(PAGE)
    exec(compile(program, "offline-model.md", "exec", dont_inherit=True), {"__name__": "page"})
    assert capsys.readouterr().out == shown


def test_it_is_one_page() -> None:
    """The grammar is a page that is read in one go: under 100 lines."""
    assert len(PAGE.splitlines()) < 100
