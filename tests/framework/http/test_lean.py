"""httpx is loaded without its command line."""

import subprocess
import sys

import pytest


def run(program: str) -> str:
    """What a new process prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_first_request_does_not_load_rich_and_click() -> None:
    """What httpx's command line needs costs more to load than httpx itself."""
    program = "import sys, vernal.http.endpoint; print(sorted({'rich', 'click', 'pygments'} & set(sys.modules)))"
    assert run(program) == "[]"


@pytest.mark.parametrize("first", ["import vernal.http.lean", "import httpx"])
def test_its_command_line_is_still_there(first: str) -> None:
    """Whoever calls it gets it, whoever imports httpx first."""
    program = f"{first}\nimport vernal.http.lean, httpx, sys\nsys.argv = ['httpx', '--help']\nhttpx.main()"
    assert "next generation HTTP client" in run(program)
