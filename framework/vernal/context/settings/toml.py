"""Settings in TOML files: `vernal.toml`, and the table `[tool.vernal]` of `pyproject.toml`."""

import re
from pathlib import Path

from vernal.context.settings.errors import SettingProblem, SettingsError
from vernal.context.settings.sources import Node, SettingValue, Source, node_of, read_text

_TABLE = re.compile(r"\s*\[{1,2}(?P<name>[^\[\]]+)\]{1,2}\s*(#.*)?$")
_KEY = re.compile(r"\s*(?P<name>[^=#\[\]{]+?)\s*=")


def toml_source(file: Path, table: tuple[str, str] | tuple[()] = ()) -> Source | None:
    """The settings in a TOML file, or in one table of it; None when there are none.

    Raises:
        SettingsError: The file is not TOML.
    """
    if not file.is_file():
        return None
    text = read_text(file)
    if table and not re.search(rf"""\[\s*["']?{table[0]}["']?\s*(\]|\.\s*["']?{table[1]})""", text):
        return None  # a large file of others would cost milliseconds
    import tomllib

    try:
        content: object = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError([SettingProblem(key=file.name, reason=f"the file is not TOML: {error}")]) from error
    for name in table:
        content = content.get(name) if isinstance(content, dict) else None
    if not content:
        return None
    if not isinstance(content, dict):
        key = ".".join(table)
        reason = f"a table is wanted, with settings in it, not {content!r}"
        raise SettingsError([SettingProblem(key=key, origin=file.name, reason=reason)])
    root = node_of(content, SettingValue(value=None, origin=file.name, written=""))
    _number(root, table, file.name, _lines(text))
    return Source(root=root)


def _number(node: Node, path: tuple[str, ...], file: str, lines: dict[tuple[str, ...], int], line: int = 0) -> None:
    """Add to each origin the line of its key, or else of the nearest key that encloses it."""
    line = lines.get(path, line)
    if node.value is not None and line:
        node.value = SettingValue(value=node.value.value, origin=f"{file}:{line}", written=node.value.written)
    for name, child in node.children.items():
        _number(child, (*path, name), file, lines, line)


def _lines(text: str) -> dict[tuple[str, ...], int]:
    """The line on which each key first stands: tomllib says what a file means, not where."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if not inside:
            if match := _TABLE.match(line):
                table = _path(match["name"])
                lines.setdefault(table, number)
            elif match := _KEY.match(line):
                lines.setdefault((*table, *_path(match["name"])), number)
        if (line.count('"""') + line.count("'''")) % 2:
            inside = not inside
    return lines


def _path(name: str) -> tuple[str, ...]:
    """The parts of a dotted key, quotes taken off, as TOML itself reads them."""
    import tomllib

    try:
        content: object = tomllib.loads(f"{name} = 0")
    except tomllib.TOMLDecodeError:
        return (name,)
    path = []
    while isinstance(content, dict) and content:
        key, content = next(iter(content.items()))
        path.append(key)
    return tuple(path)
