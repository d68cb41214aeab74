"""Bean types of modules that an auto-configuration does not load."""

import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from vernal.context import Application, auto_configuration, bean, configuration, on_bean, on_missing_bean
from vernal.context.types import DeferredType, deferred_module

slow = deferred_module("slow_module")


class Report:
    """What is made of a client."""

    def __init__(self, client: object) -> None:
        self.client = client


@auto_configuration
class Deferring:
    """A default for a type of a module that need not be loaded, and a bean that follows from it."""

    @bean
    @on_bean(slow.Client)  # type: ignore[arg-type]  # what stands for a class is none to a type checker
    def report(self, client: "slow.Client") -> Report:  # type: ignore[name-defined]  # the same
        return Report(client)

    @bean
    @on_missing_bean
    def client(self) -> "slow.Client":  # type: ignore[name-defined]  # the same
        return sys.modules["slow_module"].Client("default")


@pytest.fixture
def loaded() -> Iterator[Any]:
    """The slow module, loaded."""
    module: Any = ModuleType("slow_module")

    class Client:
        def __init__(self, name: str) -> None:
            self.name = name

    module.Client = Client
    sys.modules["slow_module"] = module
    yield module
    del sys.modules["slow_module"]


def test_a_deferred_bean_is_found_by_whoever_loads_its_module(request: pytest.FixtureRequest) -> None:
    """A bean whose type was not loaded at the start is found by that type when it is."""
    with Application(auto_configurations=[Deferring]) as context:
        assert str(context.beans["client"].type) == "slow_module.Client"
        module = request.getfixturevalue("loaded")
        assert context.get(module.Client).name == "default"
        assert context.has(module.Client, unique=True)
        assert context.get_all(module.Client) == [context.get(module.Client)]


def test_a_deferred_default_steps_back(loaded: Any) -> None:
    """A user's bean of the type replaces the default, and conditions on the type see it, wherever they were read."""

    @configuration
    class Own:
        @bean
        def mine(self) -> loaded.Client:
            return loaded.Client("mine")

    with Application(Own, auto_configurations=[Deferring]) as context:
        assert context.get(loaded.Client).name == "mine"
        assert context.get(Report).client is context.get(loaded.Client)
        assert "client" not in context.beans


def test_a_deferred_module_gives_the_class_itself_where_that_is_loaded(loaded: Any) -> None:
    """Once the module is loaded, its classes are given; before, something equal each time."""
    assert slow.Client is loaded.Client
    assert deferred_module("absent").Client == DeferredType("absent", "Client")


def test_an_application_starts_without_httpx() -> None:
    """The auto-configurations of an application load no httpx; who asks for a client has it."""
    program = (
        "import sys\n"
        "from vernal import Application\n"
        "with Application(environ={'VERNAL_CHAT__MODEL': 'offline'}) as context:\n"
        "    print('httpx' in sys.modules)\n"
        "    import httpx\n"
        "    print(isinstance(context.get(httpx.AsyncClient), httpx.AsyncClient))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["False", "True"]
