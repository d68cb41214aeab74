"""Plugins are written as anybody else could write them: against the public rooms alone."""

import ast
from pathlib import Path

import pytest

PUBLIC = {"vernal", "vernal.http", "vernal.testing"}
MODULES = sorted(Path(__file__).parents[2].glob("plugins/*/src/**/*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: "/".join(path.parts[-2:]))
def test_a_plugin_imports_only_public_rooms(path: Path) -> None:
    """A module of a plugin takes names from `vernal`, `vernal.http` and `vernal.testing`, and from nowhere deeper."""
    imported = {
        node.module if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    ours = {name for name in imported if name is not None and name.split(".")[0] == "vernal"}
    assert {name for name in ours if not name.startswith("vernal.testing")} <= PUBLIC
