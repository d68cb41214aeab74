"""`vernal tools`: what is known of the tools of beans and plugins, without starting and with it."""

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from dependency_injector import containers, providers
from pydantic import BaseModel
from typer.testing import CliRunner

from vernal import (
    Application,
    ChatClientCustomizer,
    FunctionToolCallback,
    ToolCallback,
    ToolCallbackProvider,
    bean,
    configuration,
    hookimpl,
    tool,
)
from vernal.cli.app import program
from vernal_autoconfig import plugin as defaults

Show = Callable[..., Any]


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch) -> Show:
    """Run `vernal tools` on an application of these sources and plugins; gives its result."""

    def run(
        *arguments: str, sources: tuple[type, ...] = (), environ: dict[str, str] | None = None, **plugins: object
    ) -> Any:
        module = ModuleType("shown_tools")
        vars(module)["application"] = Application(
            *sources, plugins={"defaults": defaults, **plugins}, environ=environ or {}
        )
        monkeypatch.setitem(sys.modules, "shown_tools", module)
        command = ["tools", "--app", "shown_tools:application", *arguments]
        return CliRunner().invoke(program(command), command)

    return run


def rows(result: Any, code: int = 0) -> dict[str | None, Any]:
    """The tools of the JSON by name."""
    assert result.exit_code == code, result.output
    return {row["name"]: row for row in json.loads(result.stdout)["tools"]}


class Orders:
    def __init__(self, database: str) -> None:
        self._database = database

    @tool(effects="write", timeout=3)
    def refund(self, order: int) -> str:
        """Refund an order that was paid.

        Args:
            order: Its number.
        """
        return self._database


@tool
def now() -> str:
    """The time of day."""
    return "noon"


class Remote(ToolCallbackProvider):
    async def get_tool_callbacks(self) -> list[ToolCallback]:
        return [FunctionToolCallback(now, name="remote_now")]


@configuration
class Tools:
    @bean
    def orders(self) -> Orders:
        return Orders("orders.db")

    @bean
    def clock(self) -> ToolCallback:
        return FunctionToolCallback(now)

    @bean
    def remote(self) -> Remote:
        return Remote()


class Plugin:
    @hookimpl
    def vernal_tools(self) -> list[object]:
        return [FunctionToolCallback(now, name="plugin_now"), Remote()]


def test_tools_are_read_from_classes_without_building_beans(show: Show) -> None:
    """A bean's `@tool` methods are listed with schema, metadata and origin; its constructor does not run."""

    @configuration
    class Unbuilt:
        @bean
        def orders(self) -> Orders:
            raise NotImplementedError("nothing is built")

    row = rows(show("--json", sources=(Unbuilt,)))["refund"]
    assert row["description"] == "Refund an order that was paid."
    assert row["source"] == "bean 'orders'"
    assert row["origin"] == f"{__name__}:Orders.refund"
    assert (row["metadata"]["effects"], row["metadata"]["timeout"]) == ("write", 3)
    assert row["schema"]["properties"]["order"] == {"type": "integer", "description": "Its number."}


def test_what_only_the_running_application_knows_says_so(show: Show) -> None:
    """Callbacks and providers that are beans, and providers of plugins, are told of without a name."""
    found = json.loads(show("--json", sources=(Tools,), plugin=Plugin()).stdout)["tools"]
    later = [row["source"] for row in found if row["name"] is None]
    assert later == ["bean 'clock'", "bean 'remote'", "plugin 'plugin'"]
    assert all("--start" in row["problem"] for row in found if row["name"] is None)
    assert "plugin_now" in {row["name"] for row in found}


def test_start_lists_all(show: Show) -> None:
    """With `--start` beans are built and providers asked."""
    found = rows(show("--json", "--start", sources=(Tools,), plugin=Plugin()))
    assert set(found) == {"refund", "now", "remote_now", "plugin_now"}
    assert found["now"]["source"] == "bean 'clock'"


def test_start_lists_what_the_chat_client_offers(show: Show) -> None:
    """Tools that a customizer gives every client are listed once, beside those that are beans too."""

    @configuration
    class Offering:
        @bean
        def orders(self) -> Orders:
            return Orders("orders.db")

        @bean
        def offer(self, orders: Orders) -> ChatClientCustomizer:
            return lambda builder: builder.default_tools(orders, now, Remote())

    found = rows(show("--json", "--start", sources=(Offering,), environ={"VERNAL_CHAT__MODEL": "offline"}))
    assert {name: row["source"] for name, row in found.items()} == {
        "refund": "bean 'orders'",
        "now": "every client",
        "remote_now": "every client",
    }


def test_no_tools_are_told_in_words(show: Show) -> None:
    """Where no tool is known, a sentence stands in place of an empty table."""
    assert "No tool is known. --start lists those of clients too" in show().stdout


def test_a_start_that_fails_shows_what_is_known_and_why(show: Show) -> None:
    """The failure stands beside the tools that types tell of."""

    @configuration
    class Broken:
        @bean(lazy=False)
        def orders(self) -> Orders:
            raise OSError("no such database")

    result = show("--json", "--start", sources=(Broken,))
    assert set(rows(result, 1)) == {"refund"}
    assert "no such database" in json.dumps(json.loads(result.stdout)["failure"])


def test_a_bean_that_cannot_be_built_is_a_row(show: Show) -> None:
    """One broken bean hides no other."""

    @configuration
    class Half:
        @bean
        def orders(self) -> Orders:
            raise OSError("no such database")

        @bean
        def clock(self) -> ToolCallback:
            return FunctionToolCallback(now)

    found = rows(show("--json", "--start", sources=(Half,)))
    assert set(found) == {None, "now"}
    assert "no such database" in found[None]["problem"]


def test_tools_are_shown_as_the_settings_make_them(show: Show) -> None:
    """`tools.named` changes what is listed; a tool that is not enabled is listed as not offered."""
    named = {"VERNAL_TOOLS__NAMED__REFUND__DESCRIPTION": "Pay back.", "VERNAL_TOOLS__NAMED__NOW__ENABLED": "false"}
    found = rows(show("--json", "--start", sources=(Tools,), environ=named))
    assert found["refund"]["description"] == "Pay back."
    assert found["refund"]["problem"] == ""
    assert "not offered" in found["now"]["problem"]
    assert rows(show("--json", sources=(Tools,), environ=named))["refund"]["description"] == "Pay back."


def test_a_bean_declared_by_an_abstract_class_is_known_once_it_is_built(show: Show) -> None:
    """Its tools are those of the object; the abstract class has none that could be read."""

    class Clock(ABC):
        @tool
        @abstractmethod
        def hour(self) -> int:
            """The hour of the day."""

    class Noon(Clock):
        def hour(self) -> int:
            return 12

    @configuration
    class Clocks:
        @bean
        def clock(self) -> Clock:
            return Noon()

    assert "--start" in rows(show("--json", sources=(Clocks,)))[None]["problem"]
    assert (
        rows(show("--json", "--start", sources=(Clocks,)))["hour"]["origin"]
        == f"{Noon.__module__}:{Noon.__qualname__}.hour"
    )


def test_tools_of_containers_and_pydantic_classes_are_found(show: Show) -> None:
    """A provider of dependency-injector, an object given as it is, and a tool class that is a pydantic model."""

    class Rates(BaseModel):
        base: str = "EUR"

        @tool
        def rate(self, currency: str) -> str:
            """The rate of a currency."""
            return self.base + currency

    class Beans(containers.DeclarativeContainer):
        rates = providers.Singleton(Rates)
        clock = providers.Object(FunctionToolCallback(now))

    assert set(rows(show("--json", "--start", sources=(Beans,)))) == {"rate", "now"}
    assert "rate" in rows(show("--json", sources=(Beans,)))


def test_the_table_shows_arguments_and_with_schema_their_schema(show: Show) -> None:
    """For people: name, what is unusual, who brings it, what it does; the whole schema only when asked for."""
    text = show(sources=(Tools,)).stdout
    for part in ("refund", "timeout=3, effects=write", "bean 'orders'", "Refund an order", "takes order", "--start"):
        assert part in text
    assert '"type"' not in text
    assert '"type": "integer"' in show("--schema", sources=(Tools,)).stdout
