"""The façade: what is public, what it costs, and what a type checker makes of it."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mypy import api

import vernal

SOURCE = Path(vernal.__file__)
HEAVY = ("pydantic", "pydantic_settings", "dependency_injector", "httpx", "jsonschema", "pluggy", "aiohttp", "typer")


def names_for_type_checkers() -> set[str]:
    tree = ast.parse(SOURCE.read_text())
    blocks = [node for node in tree.body if isinstance(node, ast.If)]
    return {alias.name for node in ast.walk(blocks[0]) if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_the_public_names_are_those_that_type_checkers_see() -> None:
    """`__all__`, the imports for type checkers and the lazily loaded names are the same."""
    assert sorted(vernal.__all__) == sorted(names_for_type_checkers())
    assert sorted(vernal.__all__) == sorted(vernal._HOME)
    assert set(vernal.__all__) <= set(dir(vernal))


@pytest.mark.parametrize("name", vernal.__all__)
def test_every_public_name_can_be_imported_and_is_documented(name: str) -> None:
    """Each name leads to an object; classes and functions say what they are for."""
    value = getattr(vernal, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert (value.__doc__ or "").strip()


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelt name fails as in any module."""
    with pytest.raises(AttributeError, match="ChatCleint"):
        getattr(vernal, "ChatCleint")  # noqa: B009  # a type checker must not see the name


def test_the_first_imports_load_nothing_heavy() -> None:
    """`from vernal import Application, ChatClient, tool` loads none of the heavy libraries."""
    loaded = f"[name for name in {HEAVY} if name in sys.modules]"
    code = f"from vernal import Application, ChatClient, tool; import sys; print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


TYPED = """
from vernal import (
    Application, ChatClient, ChatClientBuilder, ChatMemory, ChatMemoryRepository, ChatModel, HttpClients,
    ToolAdvisor, ToolCallbackResolver, ToolCallingManager, ToolExecutionExceptionProcessor, tool,
)

@tool
def add(a: int, b: int = 1) -> int:
    "Add."
    return a + b

with Application() as context:
    reveal_type(context.get(ChatClient))
    reveal_type(context.get(ChatClientBuilder))
    reveal_type(context.get(ChatModel))
    reveal_type(context.get(ChatMemory))
    reveal_type(context.get(ChatMemoryRepository))
    reveal_type(context.get(HttpClients))
    reveal_type(context.get(ToolAdvisor))
    reveal_type(context.get(ToolCallbackResolver))
    reveal_type(context.get(ToolCallingManager))
    reveal_type(context.get(ToolExecutionExceptionProcessor))
    reveal_type(context.get(ChatClient).prompt("x").call().entity(int))
    reveal_type(add(1))
"""

REVEALED = [*re.findall(r"reveal_type\(context.get\((\w+)\)\)", TYPED), "int", "int"]


def check(program: str, directory: Path) -> list[str]:
    """The lines that mypy says of `program`."""
    path = directory / "program.py"
    path.write_text(program)
    cache = str(directory / "cache")
    output, error, _ = api.run(["--strict", "--no-error-summary", "--cache-dir", cache, "--no-incremental", str(path)])
    assert not error
    return output.splitlines()


def test_a_type_checker_knows_what_beans_are(tmp_path: Path) -> None:
    """`context.get(T)` is a T for each bean type of the façade, a tool keeps its type, and unknown names are errors."""
    lines = check(TYPED + "\nfrom vernal import ChatCleint\n", tmp_path)
    revealed = [line.split('"')[1].rsplit(".", 1)[-1] for line in lines if "Revealed type" in line]
    assert revealed == REVEALED
    errors = [line for line in lines if ": error:" in line]
    assert len(errors) == 1
    assert "ChatCleint" in errors[0]
