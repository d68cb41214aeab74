"""What `vernal new` writes can be installed as it is, and then passes its own tests and type checks."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vernal.cli.new.naming import Kind, Naming
from vernal.cli.new.writing import rendered

if TYPE_CHECKING:
    from tests.packaging.conftest import Environment

pytestmark = pytest.mark.packaging


@pytest.mark.parametrize(
    ("kind", "project", "question", "answer"),
    [
        ("plugin", "vernal-order-desk", ["vernal", "order-desk", "Ada"], "Hello, Ada!"),
        ("app", "order-desk", ["order_desk", "What is the weather in Oslo?"], "18 °C and cloudy in Oslo"),
    ],
)
@pytest.mark.timeout(180)
def test_a_new_package_passes_its_own_tests(
    environment_of: "Callable[..., Environment]",
    build: Callable[[Path], Path],
    tmp_path: Path,
    kind: Kind,
    project: str,
    question: list[str],
    answer: str,
) -> None:
    """Written by the wheel, built, installed: its tests pass, mypy is content, and it does what its README says."""
    environment = environment_of()
    environment.output("-m", "vernal", "new", kind, "order-desk", directory=tmp_path)
    written = {path.relative_to(tmp_path / project) for path in (tmp_path / project).rglob("*") if path.is_file()}
    assert written == {path for path, _ in rendered(Naming(kind, "order-desk"))}  # the wheel has every template
    environment.install(build(tmp_path / project))
    assert " passed" in environment.output("-m", "pytest", directory=tmp_path / project)
    assert "Success" in environment.output("-m", "mypy", directory=tmp_path / project)
    assert environment.output("-m", *question, directory=tmp_path / project) == f"{answer}\n"
