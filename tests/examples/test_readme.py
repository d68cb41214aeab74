"""Every program in the README runs, and prints what the README says."""

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[2] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```(?:\n\n(?:[^\n`]+\n\n)?```text\n(.*?)```)?", README.read_text(), re.DOTALL)


@pytest.mark.parametrize(("program", "printed"), BLOCKS, ids=[f"block{i}" for i in range(len(BLOCKS))])
def test_a_program_of_the_readme_runs_and_prints_what_it_says(
    program: str,
    printed: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A stranger who copies the program sees what the README shows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VERNAL_CHAT__MODEL", "offline")
    exec(compile(program, str(README), "exec", dont_inherit=True), {"__name__": "__main__"})
    output = capsys.readouterr().out
    assert not printed or output == printed


def test_the_readme_shows_programs_with_what_they_print() -> None:
    """The first application, its asynchronous face and beans of one's own are there, two with what they print."""
    assert len(BLOCKS) >= 3
    assert sum(bool(printed) for _, printed in BLOCKS) == 2


def test_the_readme_leads_to_every_page() -> None:
    """Each page of the documentation is linked, and the README itself stays a page that a stranger reads."""
    linked = set(re.findall(r"\]\((docs/[\w-]+\.md)\)", README.read_text(encoding="utf-8")))
    assert linked == {f"docs/{page.name}" for page in (README.parent / "docs").glob("*.md")}
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 180
