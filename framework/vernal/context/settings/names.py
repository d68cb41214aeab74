"""Keys and variables: `tools.throw_exception_on_error` and `VERNAL_TOOLS__THROW_EXCEPTION_ON_ERROR` are one."""

import re
from collections.abc import Iterable
from functools import lru_cache

ROOT = "VERNAL_"
NESTED = "__"


@lru_cache(maxsize=4096)
def fold(name: str) -> str:
    """The form in which relaxed names are compared: case-folded, any run of non-alphanumerics as one `_`."""
    return re.sub(r"[\W_]+", "_", name.casefold())


def variable_of(key: str) -> str:
    """The environment variable of a dotted key: `chat.client.enabled` gives `VERNAL_CHAT__CLIENT__ENABLED`."""
    return ROOT + NESTED.join((part if part.startswith("<") else fold(part)).upper() for part in key.split("."))


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like the name, or None when none is near."""
    import difflib  # needed only where something has gone wrong

    by_fold = {fold(candidate): candidate for candidate in candidates}
    found = difflib.get_close_matches(fold(name), by_fold, n=1, cutoff=0.7)
    return by_fold[found[0]] if found else None
