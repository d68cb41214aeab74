"""What importing the context brings with it."""

import subprocess
import sys


def test_nothing_heavy_is_imported_before_an_application_starts() -> None:
    """Importing `vernal.context`, and declaring beans, imports neither dependency-injector nor pydantic nor httpx."""
    program = (
        "import sys\n"
        "from vernal.context import *\n"
        "@configuration\n"
        "class Beans:\n"
        "    @bean\n"
        "    @on_missing_bean\n"
        "    def size(self) -> int: return 1\n"
        "Application(Beans)\n"
        "heavy = {'dependency_injector', 'pydantic', 'pydantic_settings', 'httpx', 'pluggy', 'jsonschema', 'typer'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
