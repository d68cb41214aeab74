"""What is built and installed works as the checkout does."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vernal import __all__ as public_names

if TYPE_CHECKING:
    from tests.packaging.conftest import Environment

pytestmark = pytest.mark.packaging

FIRST_APPLICATION = """
import vernal, vernal_autoconfig
from vernal import Application, ChatClient, tool

@tool
def get_weather(city: str) -> str:
    "Current weather of a city."
    return f"18 °C in {city}"

with Application() as context:
    print(context.get(ChatClient).prompt("What is the weather in Oslo?").tools(get_weather).call().content())
    print(vernal.__file__)
"""


@pytest.fixture(scope="module")
def installed(environment_of: "Callable[..., Environment]") -> "Environment":
    """Vernal and one of its providers, installed."""
    return environment_of(Path(__file__).resolve().parents[2] / "plugins" / "openai")


def test_the_first_application_runs_from_the_wheel(installed: "Environment", tmp_path: Path) -> None:
    """A fresh environment with the wheels answers a question by calling the user's tool."""
    answer, place = installed.output(
        "-c", FIRST_APPLICATION, directory=tmp_path, VERNAL_CHAT__MODEL="offline"
    ).splitlines()
    assert answer == "18 °C in Oslo"
    assert str(installed.site) in place


def test_the_provider_is_found_by_installation(installed: "Environment", tmp_path: Path) -> None:
    """Both distributions come in by their entry points, with name and version."""
    rows = json.loads(installed.output("-m", "vernal", "plugins", "--json", directory=tmp_path))
    text = json.dumps(rows)
    assert "vernal-openai" in text
    assert "vernal-autoconfig" in text


def test_the_wheel_says_that_it_is_typed(installed: "Environment", tmp_path: Path) -> None:
    """The marker for type checkers is in the wheel."""
    code = "import vernal, pathlib; print((pathlib.Path(vernal.__file__).parent / 'py.typed').exists())"
    assert installed.output("-c", code, directory=tmp_path).strip() == "True"


def test_every_public_name_is_in_the_wheel(installed: "Environment", tmp_path: Path) -> None:
    """Each name of the façade can be imported from the wheel."""
    code = "import vernal; print(sum(getattr(vernal, name) is not None for name in vernal.__all__))"
    assert installed.output("-c", code, directory=tmp_path).strip() == str(len(public_names))
