"""`Application.check()` decides everything and builds nothing, and what it decided can be looked at."""

import sys
import types

import pytest
from dependency_injector import containers, providers

from vernal.context import Application, MissingBeanError, auto_configuration, bean, configuration, on_setting
from vernal.context.settings import SettingsError
from vernal.errors import UsageError


class Engine:
    pass


class Car:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine


@configuration
class Cars:
    @bean(lazy=False)
    def car(self, engine: Engine) -> Car:
        raise AssertionError("a check builds nothing")


@auto_configuration
class EngineAutoConfiguration:
    @bean
    @on_setting("cars.engine")
    def engine(self) -> Engine:
        raise AssertionError("a check builds nothing")


@configuration
class Engines:
    @bean
    def engine(self) -> Engine:
        raise AssertionError("a check builds nothing")


def application(*sources: type) -> Application:
    return Application(*sources, auto_configurations=[EngineAutoConfiguration], plugins=False, environ={})


def test_a_check_builds_nothing_and_can_be_looked_at() -> None:
    """The context of a check has beans and graph, and what was kept out; it gives no beans."""
    checked = application(Cars, Engines)
    context = checked.check()
    assert context.graph["car"] == (f"{__name__}.Cars", "engine")
    assert checked.beans["car"] is context.beans["car"]
    assert [one.name for one in checked.kept_out] == ["engine"]
    with pytest.raises(UsageError, match="only checked"):
        context.get(Engine)
    context.close()


def test_a_failed_check_leaves_what_was_chosen_and_what_was_kept_out() -> None:
    """Beans that do not fit together are an error; the choice, the rejections and the conditions stay readable."""
    broken = application(Cars)
    with pytest.raises(MissingBeanError):
        broken.check()
    assert "car" in broken.beans
    (kept_out,) = broken.kept_out
    assert kept_out.outcome is not None
    assert kept_out.outcome.cure == "set VERNAL_CARS__ENGINE=…"
    assert broken.conditions is not None
    assert not broken.conditions["EngineAutoConfiguration.engine"].matched


def test_nothing_of_an_earlier_check_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not even the settings can be read, the decisions of the check before are gone."""
    checked = Application(plugins=False, environ=(environ := {}))
    checked.check()
    assert checked.beans
    environ["VERNAL_PROFILES"] = "no/profile"
    with pytest.raises(SettingsError):
        checked.check()
    assert (dict(checked.beans), checked.kept_out, checked.conditions) == ({}, (), None)


def test_a_check_leaves_no_wiring_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container that wires modules when it is made is unwired after a check, and after a start that failed."""
    module = types.ModuleType("wired_by_a_check")
    exec(
        "from dependency_injector.wiring import Provide, inject\n"
        "@inject\n"
        "def size(given=Provide['size']):\n"
        "    return given\n",
        vars(module),
    )
    monkeypatch.setitem(sys.modules, module.__name__, module)

    class Beans(containers.DeclarativeContainer):
        wiring_config = containers.WiringConfiguration(modules=[module.__name__])
        size = providers.Object(7)

    context = application(Beans, Engines).check()
    assert context.beans["size"].type is int
    assert module.size() != 7
    with pytest.raises(MissingBeanError):
        application(Beans, Cars).start()
    assert module.size() != 7
