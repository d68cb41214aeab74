"""What follows from the same things as last time, made once."""

from collections.abc import Callable
from operator import is_
from typing import Generic, TypeVar

T = TypeVar("T")


class Latest(Generic[T]):
    """Remembers the latest result, for as long as it is asked for with the very same objects.

    A client asks again and again with the same options and tools; what follows from them (and what a model makes of
    that) is then prepared once.
    """

    __slots__ = ("_entry",)

    def __init__(self) -> None:
        self._entry: tuple[tuple[object, ...], T] | None = None

    def of(self, things: tuple[object, ...], make: Callable[[], T]) -> T:
        """The result for `things`, made by `make` unless they are those of the latest one."""
        entry = self._entry  # read and written as a whole: threads share a client
        if entry is not None and len(entry[0]) == len(things) and all(map(is_, entry[0], things)):
            return entry[1]
        result = make()
        self._entry = (things, result)
        return result
