"""Choices among the members of an enumeration, given as members or as their text."""

from enum import StrEnum
from typing import TypeVar

E = TypeVar("E", bound=StrEnum)


def chosen(name: str, given: object, choices: type[E]) -> E:
    """The member of `choices` that `given` is or names; `name` is what the error calls it.

    Raises:
        ValueError: there is no such member.
    """
    try:
        return choices(given)  # type: ignore[arg-type]  # whatever it is, the enumeration finds it or refuses it
    except ValueError:
        wanted = ", ".join(repr(str(choice)) for choice in choices)
        raise ValueError(f"{name} is {given!r}; one of {wanted} is wanted") from None
