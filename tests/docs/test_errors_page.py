"""The page of errors tells what the code does: each error has its section, and each example prints what is shown."""

import importlib
import pkgutil
import re
import sys
import traceback
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

import vernal
from vernal.context import ContextError, analyze
from vernal.context.plugins import PluginError
from vernal.context.settings import SettingsError
from vernal.errors import ConfigurationError, UsageError

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "errors.md").read_text()
SECTIONS = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE))
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


def subclasses(cls: type[Exception]) -> Iterator[type[Exception]]:
    """All subclasses that vernal itself declares."""
    for sub in cls.__subclasses__():
        if sub.__module__.startswith("vernal."):
            yield sub
        yield from subclasses(sub)


def run(program: str) -> tuple[str, Exception | None]:
    """What a program prints, as the module `app`, with the error that ends it."""
    module = types.ModuleType("app")
    sys.modules["app"] = module
    try:
        exec(compile(program, "app.py", "exec", dont_inherit=True), vars(module))
    except Exception as error:  # noqa: BLE001 - the errors of the examples are what the page is about
        return "".join(traceback.format_exception_only(error)), error
    finally:
        del sys.modules["app"]
    return "", None


def normal(text: str) -> str:
    """A text without the numbers of lines and versions."""
    return re.sub(r"(?<=vernal-autoconfig)[ \d.]*|(?<=:)\d+(?=[,)])", "", text)


@pytest.mark.parametrize("name", SECTIONS)
def test_each_example_prints_what_the_page_shows(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whoever meets the error finds its text on the page; its kind is named there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VERNAL_CHAT__MODEL", "offline")
    ((program, shown),) = EXAMPLE.findall(SECTIONS[name])
    printed, error = run(program)
    assert normal(capsys.readouterr().out + printed) == normal(shown)
    assert name in printed or name in program
    if isinstance(error, ContextError | SettingsError | PluginError):
        assert f"Kind `{analyze(error).kind}`." in SECTIONS[name]


def test_each_error_has_its_section() -> None:
    """Every error that a declaration or a call of vernal may meet stands on the page, and nothing else does."""
    for module in pkgutil.walk_packages(vernal.__path__, "vernal."):
        if module.name not in ("vernal.__main__", "vernal.http.aiohttp_transport"):  # it runs, and it may be missing
            importlib.import_module(module.name)
    wanted: set[type[Exception]] = {ConfigurationError, UsageError}
    wanted |= {*subclasses(ConfigurationError), *subclasses(UsageError)}
    assert {one.__name__ for one in wanted - {ContextError}} == SECTIONS.keys()


def test_each_section_has_causes_and_cures() -> None:
    """A section says what is wrong, lists causes with their cures, and has one example."""
    for name, text in SECTIONS.items():
        assert re.match(r"\n\S.*\n\n- ", text), name
        assert len(EXAMPLE.findall(text)) == 1, name
