"""What starting an application does not load, and what it knows without loading it."""

import gc
import subprocess
import sys

import pytest
from dependency_injector.containers import DynamicContainer

from vernal.context import Application, bean, configuration
from vernal.context.failures import MissingBeanError
from vernal.context.linking import RESERVED_NAMES


@configuration
class Unfit:
    """A bean that nobody can be given."""

    @bean
    def size(self, wanted: bytes) -> int:
        return len(wanted)


def test_a_started_application_has_not_loaded_the_wiring() -> None:
    """Starting loads neither the containers nor the wiring of dependency-injector, which load web frameworks."""
    program = (
        "import sys\n"
        "from vernal import Application, ChatClient\n"
        "with Application(environ={'VERNAL_CHAT__MODEL': 'offline'}) as context:\n"
        "    context.get(ChatClient)\n"
        "unwanted = {'dependency_injector.containers', 'dependency_injector.wiring', 'fastapi', 'flask'}\n"
        "print(sorted(unwanted & set(sys.modules)))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_all_names_of_the_container_are_reserved() -> None:
    """The list of reserved names has all that a container of the installed dependency-injector has of its own."""
    own = {*dir(DynamicContainer), *vars(DynamicContainer())}
    assert {name for name in own if not name.startswith("__")} <= RESERVED_NAMES


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(enabled: bool) -> None:
    """A start pauses the garbage collector; whether it succeeds or fails, it is as before then."""
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with Application(plugins=False):
            assert gc.isenabled() is enabled
        with pytest.raises(MissingBeanError):
            Application(Unfit, plugins=False).start()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
