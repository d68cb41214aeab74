"""Profiles of the property tests, and the one environment of the packaging tests."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# The small profile draws the same examples each time, so that a red test is red for everybody; the large one explores.
settings.register_profile(
    "dev", max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("dev"))
settings.register_profile("large", settings.get_profile("dev"), max_examples=500, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh virtual environment with the wheels of vernal and vernal-openai.

    The dependencies are those of the environment that runs the tests, put on the path behind the wheels; the
    editable installation there is not seen.
    """
    place = tmp_path_factory.mktemp("installed")
    wheels = place / "wheels"
    for project in (ROOT, ROOT / "plugins" / "openai"):
        _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(wheels), str(project))
    venv.create(place / "env", with_pip=False)
    python = place / "env" / "bin" / "python"
    site = next((place / "env" / "lib").glob("python*/site-packages"))
    _run(
        *(sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", str(site)),
        *map(str, wheels.glob("*.whl")),
    )
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
