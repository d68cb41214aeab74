"""The plugin for pytest, loaded where vernal is installed: fixtures, and real models blocked unless allowed."""

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from vernal.context import ApplicationContext
    from vernal.testing.runner import ApplicationContextRunner

MARKER = "real_models"
OPTION = "--real-models"
INI = "vernal_real_models"

pytest.register_assert_rewrite("vernal.testing.contracts")  # what a suite finds is told as in the user's own tests


@pytest.fixture
def application_context_runner() -> "ApplicationContextRunner":
    """An `ApplicationContextRunner`: an isolated application, to be described by the test."""
    from vernal.testing.runner import ApplicationContextRunner

    return ApplicationContextRunner()


@pytest.fixture
def application_context(application_context_runner: "ApplicationContextRunner") -> "Iterator[ApplicationContext]":
    """A started context with all that is installed and the offline model; no variables, no files; closed at the end.

    A fixture `application_context_runner` of your own, with your sources and settings, is what it starts.
    """
    runner = application_context_runner
    if not runner.plugins:
        runner = runner.with_plugins()
    if "chat" not in runner.settings:
        runner = runner.with_settings({"chat": {"model": "offline"}})
    with runner.run() as run:
        yield run.context


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option and the setting that allow real models."""
    text = "Let tests ask real models; without it a test needs the marker real_models."
    parser.getgroup("vernal").addoption(OPTION, action="store_true", dest=INI, help=text)
    parser.addini(INI, text, type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """The marker that allows real models."""
    config.addinivalue_line("markers", f"{MARKER}: the test may ask real models, which are blocked otherwise (vernal)")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Block real models while a test and its fixtures run."""
    if _allows_real_models(item):
        return (yield)
    from vernal.testing.blocking import real_models_blocked

    with real_models_blocked():
        return (yield)


def _allows_real_models(item: pytest.Item) -> bool:
    config = item.config
    return bool(config.getoption(INI) or config.getini(INI) or item.get_closest_marker(MARKER))
