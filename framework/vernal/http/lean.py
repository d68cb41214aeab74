"""httpx without its command line: `from vernal.http.lean import httpx`.

Where rich and click are installed (they come with `vernal[cli]`), httpx loads its command line, and with it rich, click
and pygments, whenever it is imported: 170 ms of 290. Here it is loaded when somebody calls it.
"""

import sys
from types import ModuleType

__all__ = ["httpx"]


def main() -> None:
    """httpx's command line."""
    from httpx._main import main

    main()


if "httpx" in sys.modules:
    import httpx
else:
    _stand_in = ModuleType("httpx._main")
    _stand_in.main = main  # type: ignore[attr-defined]  # what httpx takes from it
    sys.modules["httpx._main"] = _stand_in
    try:
        import httpx
    finally:
        del sys.modules["httpx._main"]
