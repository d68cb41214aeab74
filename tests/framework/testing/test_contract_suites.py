"""The contract suites see what is wrong: each is run against implementers that do one thing wrong each."""

import subprocess
import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

BROKEN = Path(__file__).parent / "broken"
FILES = sorted(path.stem for path in BROKEN.glob("*.py"))


def suites(file: str) -> dict[str, type]:
    """The classes of a file of broken implementers."""
    module = import_module(f"tests.framework.testing.broken.{file}")
    return {name: each for name, each in vars(module).items() if name.startswith("Test")}


@pytest.mark.timeout(240)
@pytest.mark.parametrize("file", FILES)
def test_each_mistake_is_seen_by_the_checks_that_are_named(file: str, tmp_path: Path) -> None:
    """Of each broken implementer exactly those checks fail that its class names, of the sound one none."""
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    done = subprocess.run([*command, BROKEN / f"{file}.py"], capture_output=True, text=True, check=False)
    failed: dict[str, set[str]] = defaultdict(set)
    seen: set[str] = set()
    for case in ET.parse(report).iter("testcase"):
        name = case.attrib["classname"].rpartition(".")[2]
        seen.add(name)
        if case.find("failure") is not None or case.find("error") is not None:
            failed[name].add(case.attrib["name"].partition("[")[0])
    wanted = {name: set(each.fails) for name, each in suites(file).items()}  # type: ignore[attr-defined]  # all have it
    assert {name: failed[name] for name in seen} == wanted, done.stdout[-3000:]


@pytest.mark.parametrize("file", FILES)
def test_each_check_can_fail(file: str) -> None:
    """There is a mistake for every check of a suite: a check that cannot fail checks nothing."""
    classes = suites(file).values()
    checks = {name for each in classes for base in each.__mro__ for name in vars(base) if name.startswith("test_")}
    assert set().union(*(each.fails for each in classes)) == checks  # type: ignore[attr-defined]  # all have it
