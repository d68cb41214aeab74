"""One immutable mapping for metadata and contexts."""

from collections.abc import Mapping
from typing import Any

from immutabledict import immutabledict

EMPTY: Mapping[str, Any] = immutabledict()


def frozen(mapping: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """An immutable copy of `mapping`: copyable, picklable, hashable where its values are."""
    if not mapping:
        return EMPTY
    if type(mapping) is immutabledict:
        return mapping
    return immutabledict(mapping)
