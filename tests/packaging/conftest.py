"""Environments of their own, with wheels that were built from the repository."""

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Environment:
    """A fresh virtual environment with wheels in it.

    The dependencies are those of the environment that runs the tests, linked one by one; of vernal and its plugins,
    which are installed there too, nothing is seen but the wheels.
    """

    def __init__(self, place: Path, *wheels: Path) -> None:
        venv.create(place, with_pip=False)
        self.python = place / "bin" / "python"
        (self.site,) = place.glob("lib/python*/site-packages")
        for entry in Path(sysconfig.get_path("purelib")).iterdir():
            if not entry.name.startswith(("vernal", "_vernal")) and entry.suffix != ".pth":
                (self.site / entry.name).symlink_to(entry)
        self.install(*wheels)

    def install(self, *wheels: Path) -> None:
        """Install wheels, and nothing that they depend on."""
        install = (sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", str(self.site))
        checked(*install, *map(str, wheels))

    def uninstall(self, distribution: str) -> None:
        """Take a distribution away, as pip does."""
        checked(sys.executable, "-m", "pip", "--python", str(self.python), "uninstall", "--yes", distribution)

    def run(self, *arguments: str, directory: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the interpreter, with no variables of vernal but these."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("VERNAL_", "OPENAI_", "OLLAMA_", "COV_", "PYTEST_"))
        }
        return subprocess.run(
            [str(self.python), *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=directory,
            env={**kept, **variables},
        )

    def output(self, *arguments: str, directory: Path, **variables: str) -> str:
        """What the interpreter prints; it must not fail."""
        done = self.run(*arguments, directory=directory, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def checked(*command: str) -> None:
    """Run a command that must not fail."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Builds the wheel of a project, once."""
    built: dict[Path, Path] = {}

    def wheel_of(project: Path) -> Path:
        if project not in built:
            place = tmp_path_factory.mktemp("wheel")
            checked(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(place), str(project))
            (built[project],) = place.glob("*.whl")
        return built[project]

    return wheel_of


@pytest.fixture(scope="session")
def environment_of(
    build: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Environment]:
    """Makes an environment with vernal and the wheels of other projects."""

    def environment(*projects: Path) -> Environment:
        return Environment(tmp_path_factory.mktemp("environment") / "env", *map(build, (ROOT, *projects)))

    return environment
