"""What starting an application does not load, and what it knows without loading it."""

import subprocess
import sys

from dependency_injector.containers import DynamicContainer

from vernal.context.linking import RESERVED_NAMES


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
