"""Where settings come from: each source is read once into a tree that keeps, for every value, its origin."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path

from vernal.context.settings.errors import SettingProblem, SettingsError
from vernal.context.settings.names import NESTED, ROOT, fold
from vernal.values.records import dataclass

_log = logging.getLogger("vernal.settings")


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingValue:
    """A value that is set: as it was given (`value`), where (`origin`), and under which name (`written`).

    `origin` reads like "environment variable VERNAL_TOOLS__X", ".env:12", "vernal.toml:3" or "settings= argument".
    The value is not part of the repr, since it may be secret.
    """

    value: object = field(repr=False)
    origin: str
    written: str

    @property
    def place(self) -> str:
        """The origin, with the name to look for there."""
        return self.origin if self.written in self.origin else f"{self.written} in {self.origin}"


@dataclass(slots=True, eq=False)
class Node:
    """A key of a source: its own value, what is nested below it, and whether its name was folded by the source."""

    value: SettingValue | None = None
    children: dict[str, "Node"] = field(default_factory=dict)
    folded: bool = False

    def child(self, name: str) -> "Node | None":
        """The child of that name, or else one whose name differs only in case or punctuation."""
        found = self.children.get(name)
        if found is not None:
            return found
        wanted = fold(name)
        return next((node for key, node in self.children.items() if fold(key) == wanted), None)

    def find(self, path: Iterable[str]) -> "Node | None":
        """The node at the path, or None."""
        node: Node | None = self
        for name in path:
            node = node.child(name) if node is not None else None
        return node


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """One place where settings are found; `variables` are all its names, of others too, for third-party fallbacks."""

    root: Node
    variables: Mapping[str, SettingValue] = field(default_factory=dict)


def node_of(value: object, setting: SettingValue) -> Node:
    """A tree of nested mappings; anything else, and an empty mapping, is a value. Names are exact."""
    if not isinstance(value, Mapping) or not value:
        return Node(SettingValue(value=value, origin=setting.origin, written=setting.written))
    node = Node()
    for name, nested in value.items():
        if not isinstance(name, str):
            raise TypeError(f"the name {name!r} in {setting.place} is a {type(name).__name__}; names are text")
        below = SettingValue(value=nested, origin=setting.origin, written=f"{setting.written}.{name}".lstrip("."))
        node.children[name] = node_of(nested, below)
    return node


def arguments_source(arguments: Mapping[str, object]) -> Source:
    """The `settings=` argument: nested mappings; a dot in a name of the first level nests too (`{"tools.x": 1}`)."""
    root = Node()
    whole = node_of(arguments, SettingValue(value=None, origin="settings= argument", written="")) if arguments else root
    for name, node in whole.children.items():
        *parents, last = name.split(".")
        place = root
        for parent in parents:
            place = place.children.setdefault(parent, Node())
        _graft(place, last, node)
    return Source(root=root)


def _graft(place: Node, name: str, node: Node) -> None:
    present = place.children.setdefault(name, node)
    if present is not node:
        present.value = node.value or present.value
        for below, nested in node.children.items():
            _graft(present, below, nested)


def variables_source(variables: Mapping[str, SettingValue]) -> Source:
    """A source of flat names: those under `VERNAL_` become a tree, nested by `__`, with folded names.

    An empty value counts as not set, since that is how shells and compose files leave a variable out.
    """
    root = Node()
    filled = {name.upper(): setting for name, setting in variables.items() if setting.value != ""}
    for name, setting in filled.items():
        if not name.startswith(ROOT):
            continue
        node = root
        for part in name[len(ROOT) :].lower().split(NESTED):
            node = node.children.setdefault(part, Node(folded=True))
        node.value = setting
    return Source(root=root, variables=filled)


def environ_source(environ: Mapping[str, str]) -> Source:
    """The process environment."""
    return variables_source(
        {
            name: SettingValue(value=value, origin=f"environment variable {name}", written=name)
            for name, value in environ.items()
        }
    )


def secrets_source(directory: Path) -> Source:
    """A directory with one file per secret, each named after its variable (`vernal_openai__api_key`), case ignored."""
    if not directory.is_dir():
        raise SettingsError(
            [
                SettingProblem(
                    key="secrets_directory",
                    variable="VERNAL_SECRETS_DIRECTORY",
                    given=repr(str(directory)),
                    reason="there is no such directory",
                )
            ]
        )
    return variables_source(
        {
            file.name: SettingValue(value=read_text(file).strip(), origin=str(file), written=file.name)
            for file in sorted(directory.iterdir())
            if file.name.upper().startswith(ROOT) and file.is_file()
        }
    )


def dotenv_source(file: Path, environ: Mapping[str, str]) -> Source | None:
    """A `.env` file, as python-dotenv reads it (`export`, quotes, `${OTHER}`); None when there is no such file."""
    if not file.is_file():
        return None
    import io

    from dotenv.parser import parse_stream
    from dotenv.variables import parse_variables

    variables: dict[str, SettingValue] = {}
    known: dict[str, str | None] = dict(environ)
    for binding in parse_stream(io.StringIO(read_text(file))):
        text = binding.original.string
        blank = text[: len(text) - len(text.lstrip())].count("\n")  # the parser counts from the end of the line before
        origin = f"{file.name}:{binding.original.line + blank}"
        if binding.error:
            _log.warning("%s is not NAME=value; the line is left out", origin)
        elif binding.key is not None and binding.value is not None:
            value = "".join(atom.resolve(known) for atom in parse_variables(binding.value))
            known[binding.key] = value
            variables[binding.key] = SettingValue(value=value, origin=origin, written=binding.key)
    return variables_source(variables)


def read_text(file: Path) -> str:
    """The file's text.

    Raises:
        SettingsError: It cannot be read, or is not UTF-8.
    """
    try:
        return file.read_text(encoding="utf-8-sig")  # editors of Windows begin a file with a mark
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError([SettingProblem(key=str(file), reason=f"the file cannot be read: {error}")]) from error
