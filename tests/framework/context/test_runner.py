"""`ApplicationContextRunner`: isolated applications for tests."""

import asyncio
import importlib.util
import json
import sys
from pathlib import Path

import pytest

from vernal.context import MissingBeanError, auto_configuration, bean, on_missing_bean, on_module
from vernal.context.plugins import LoadedPlugins, hookimpl
from vernal.testing.runner import ApplicationContextRunner


class Thing:
    def __init__(self, name: str) -> None:
        self.name = name


@auto_configuration
@on_module("json")
class Defaults:
    @bean
    @on_missing_bean
    def thing(self) -> Thing:
        return Thing("default")


RUNNER = ApplicationContextRunner().with_auto_configurations(Defaults)


def test_runners_are_values() -> None:
    """Each `with_…` gives a new runner and leaves the old one as it was."""
    other = RUNNER.with_bean(Thing, Thing("mine"))
    with RUNNER.run() as run:
        assert run.context.get(Thing).name == "default"
    with other.run() as run:
        assert run.context.get(Thing).name == "mine"


def test_a_failed_start_is_a_value() -> None:
    """The failure can be asserted on; asking for the context raises it; the conditions are there."""

    @auto_configuration
    class Wanting:
        @bean
        def size(self, thing: Thing) -> int:
            raise AssertionError

    runner = ApplicationContextRunner().with_auto_configurations(Wanting)
    with runner.run() as run:
        assert isinstance(run.failure, MissingBeanError)
        with pytest.raises(MissingBeanError):
            _ = run.context
        assert run.conditions["Wanting.size"].matched
    with pytest.raises(RuntimeError, match="not begun"):
        _ = runner.run().context


def test_hidden_modules_cannot_be_found_or_imported() -> None:
    """Inside the block a hidden module is not there for conditions nor imports; afterwards it is the same module."""
    before = sys.modules["json"]
    with RUNNER.without_modules("json").run() as run:
        assert not run.context.has(Thing)
        assert importlib.util.find_spec("json") is None
        with pytest.raises(ImportError):
            importlib.import_module("json.decoder")
    assert sys.modules["json"] is before is json


def test_nothing_of_the_surroundings_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither environment variables nor files in the working directory nor installed plugins count unless asked for."""
    (tmp_path / ".env").write_text("VERNAL_PROFILES=dev\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VERNAL_PROFILES", "prod")
    with ApplicationContextRunner().run() as run:
        assert run.context.environment.profiles == ()
        assert list(run.context.get(LoadedPlugins)) == []
    with ApplicationContextRunner().with_directory(tmp_path).run() as run:
        assert run.context.environment.profiles == ("dev",)


def test_plugins_may_be_given() -> None:
    """A plugin is any object with hook implementations; its auto-configurations take part."""

    class Plugin:
        @hookimpl
        def vernal_auto_configurations(self) -> list[type]:
            return [Defaults]

    with ApplicationContextRunner().with_plugins({"mine": Plugin()}).run() as run:
        assert run.context.get(Thing).name == "default"
        assert [plugin.name for plugin in run.context.get(LoadedPlugins)] == ["mine"]


def test_the_asynchronous_form() -> None:
    """`async with runner.run()` starts on the running loop."""

    async def main() -> str:
        async with RUNNER.run() as run:
            return run.context.get(Thing).name

    assert asyncio.run(main()) == "default"


def test_names_of_given_beans() -> None:
    """A bean is named after its type, or as it is told."""
    with ApplicationContextRunner().with_bean(Thing, Thing("a")).with_bean(Thing, Thing("b"), name="b").run() as run:
        assert {"thing", "b"} <= set(run.context.beans)
