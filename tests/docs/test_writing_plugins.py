"""The page for authors of plugins names all that there is: hooks, conditions, defaults; every block of it runs."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.docs.test_pages import TESTS

import vernal
from vernal.context.configurations import ConfigurationSource, Provenance
from vernal.context.plugins import hookspecs
from vernal_autoconfig import plugin

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "writing-plugins.md").read_text(encoding="utf-8")


def rows(heading: str) -> dict[str, str]:
    """The rows of the table under a heading of its first column: what the first cell names, and the rest."""
    table = PAGE.partition(f"\n| {heading} |")[2].partition("\n\n")[0]
    cells = [line.strip("| ").split(" | ", 1) for line in table.splitlines()[2:]]
    return {re.findall(r"\w+", first)[0]: rest for first, rest in cells}


def test_the_table_of_hooks_is_complete() -> None:
    """Each hook that there is, and no other, stands in the table."""
    assert rows("hook").keys() == {name for name in vars(hookspecs) if name.startswith("vernal_")}


def test_the_table_of_conditions_is_complete() -> None:
    """Each condition of the façade, and no other, stands in the table."""
    assert rows("condition").keys() == {"condition", *(name for name in vernal.__all__ if name.startswith("on_"))}


def test_the_table_of_defaults_is_complete() -> None:
    """Each auto-configuration of vernal stands there with all of its beans, and with none that it has not."""
    sources = [ConfigurationSource(each, Provenance()) for each in plugin.vernal_auto_configurations()]
    actual = {source.name: {method.name for method in source.methods} for source in sources}
    assert {name: {*re.findall(r"`([a-z_]+)`", rest)} for name, rest in rows("auto-configuration").items()} == actual


def test_every_program_of_the_page_is_run() -> None:
    """A block of Python has its output under it, or is a module of tests: both are run by test_pages.py."""
    blocks = list(re.finditer(r"```python\n(.*?)```\n\n(.{0,8})", PAGE, re.DOTALL))
    assert len(blocks) >= 8
    assert [block[1] for block in blocks if block[2][:7] != "```text" and not TESTS.search(block[1])] == []


def test_every_program_of_the_page_is_typed(tmp_path: Path) -> None:
    """A type checker, at its strictest, has nothing to say about what authors copy."""
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)):
        (tmp_path / f"program_{number}.py").write_text(block, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", *map(str, tmp_path.iterdir())]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_name_that_the_page_imports_is_public() -> None:
    """What the programs import of vernal is in the façade, or in a public room beside it."""
    for module, names in imported():
        if module == "vernal":
            assert [name for name in names if name not in vernal.__all__] == [], module
        else:
            assert module in ("vernal.http", "vernal.testing", "vernal.testing.server")


def imported() -> Iterator[tuple[str, list[str]]]:
    """The modules of vernal that the programs import from, each with the names."""
    for module, plain, listed in re.findall(r"from (vernal[.\w]*) import (?:([\w, ]+)|\(([^)]+)\))", PAGE):
        yield module, re.findall(r"\w+", plain or listed)


def test_the_project_file_is_one() -> None:
    """The project file of the page is valid, and names a module of the package that it builds."""
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    project = tomllib.loads(text)
    (package,) = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    (module,) = project["project"]["entry-points"]["vernal"].values()
    assert module.split(".")[0] == package.removeprefix("src/")
