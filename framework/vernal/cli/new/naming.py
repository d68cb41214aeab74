"""One name for a new package, and the names that follow from it."""

import builtins
import keyword
import re
from importlib.util import find_spec
from typing import Literal

from vernal.context.plugins import load_plugins
from vernal.context.settings import Environment
from vernal.context.settings.names import fold
from vernal.errors import UsageError
from vernal.values.records import dataclass

Kind = Literal["plugin", "app"]

LONGEST = 30
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Naming:
    """What a new package is called: `order-desk` as a plugin is `vernal-order-desk`, and `vernal_order_desk` inside.

    Raises:
        UsageError: the name cannot be one, or is taken.
    """

    kind: Kind
    name: str

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem is not None:
            raise UsageError(f"{self.name!r} cannot be the name of a new {self.kind}: {problem}")

    @property
    def distribution(self) -> str:
        """What is installed, and the folder of the project."""
        return f"vernal-{self.name}" if self.kind == "plugin" else self.name

    @property
    def package(self) -> str:
        """What is imported."""
        return self.distribution.replace("-", "_")

    @property
    def identifier(self) -> str:
        """The name in Python, and the prefix of the settings."""
        return self.name.replace("-", "_")

    def replacements(self) -> dict[str, str]:
        """What stands for the placeholders of templates."""
        return {
            "name": self.name,
            "distribution": self.distribution,
            "package": self.package,
            "identifier": self.identifier,
            "variable": f"VERNAL_{self.identifier.upper()}",
            "Class": "".join(part.capitalize() for part in self.name.split("-")),
        }

    def _problem(self) -> str | None:
        if not _NAME.fullmatch(self.name):
            near = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-0123456789")
            meant = f", such as {near!r}" if near else ""
            return f"small letters and digits are wanted, a letter first, with single hyphens between words{meant}"
        if len(self.name) > LONGEST:
            return f"it has {len(self.name)} characters; at most {LONGEST} are wanted"
        if self.kind == "plugin" and self.name.startswith("vernal"):
            return "the package gets 'vernal-' before its name by itself; give the rest alone"
        if keyword.iskeyword(self.identifier) or hasattr(builtins, self.identifier):
            return "it means something in Python"
        if find_spec(self.package) is not None:
            return f"there is a module {self.package!r} already, which it would hide"
        return _taken_by_plugin(self.identifier) if self.kind == "plugin" else None


def _taken_by_plugin(identifier: str) -> str | None:
    """Which plugin has the name, or settings under it."""
    plugins = load_plugins(Environment.load())
    for plugin in plugins.plugins:
        if identifier == fold(plugin.name):
            return f"{plugin} is installed"
    for settings in plugins.settings:
        if identifier == settings.settings_prefix.partition(".")[0]:
            return f"there are settings under it already ({settings.__qualname__})"
    return None
