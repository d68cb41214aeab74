"""Templates become the files of a new package."""

from collections.abc import Iterator
from pathlib import Path
from string import Template

from vernal.cli.new.naming import Naming
from vernal.errors import UsageError

TEMPLATES = Path(__file__).parent / "templates"
SUFFIX = ".template"


def write(naming: Naming, directory: Path) -> tuple[Path, list[Path]]:
    """Write the package into a folder of its own inside `directory`; gives the folder, and the files in it.

    Raises:
        UsageError: there is something under the folder's name already; nothing is written then.
    """
    project = directory / naming.distribution
    if project.exists() or project.is_symlink():
        raise UsageError(f"{project} is there already, and nothing in it is overwritten; move it, or take another name")
    files = dict(rendered(naming))
    for path, text in files.items():
        target = project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return project, list(files)


def rendered(naming: Naming) -> Iterator[tuple[Path, str]]:
    """Each file of the package: its path inside the folder, and its text."""
    replacements = naming.replacements()
    root = TEMPLATES / naming.kind
    for template in sorted(root.rglob(f"*{SUFFIX}")):
        path = str(template.relative_to(root)).removesuffix(SUFFIX)
        for name, text in replacements.items():
            path = path.replace(f"__{name}__", text)
        yield Path(path), Template(template.read_text(encoding="utf-8")).substitute(replacements)
