"""What a tool call gives back to the engine."""

from collections.abc import Iterable
from typing import Self

from vernal.values.messages import Media


class ToolResult(str):
    """The text for the model, with what a plain string cannot carry.

    A tool or a `ToolCallback` may return a plain `str`; it returns this where it gives images or files (R15), where the
    text describes an error (R13), or where this one result is for the caller, not for the model: with `return_direct`
    it ends the turn as that of a direct tool does (R14).
    """

    __slots__ = ("is_error", "media", "return_direct")

    media: tuple[Media, ...]
    is_error: bool
    return_direct: bool

    def __new__(
        cls, text: str = "", *, media: Iterable[Media] = (), is_error: bool = False, return_direct: bool = False
    ) -> Self:
        result = super().__new__(cls, text)
        result.media = tuple(media)
        result.is_error, result.return_direct = is_error, return_direct
        return result
