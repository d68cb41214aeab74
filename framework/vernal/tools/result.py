"""What a tool call gives back to the engine."""

from collections.abc import Iterable
from typing import Self

from vernal.values.messages import Media


class ToolResult(str):
    """The text for the model, with what a plain string cannot carry: media, and whether the call failed.

    A `ToolCallback` may return a plain `str`; it returns this where the tool gave images or files (R15), or where the
    text describes an error (R13).
    """

    __slots__ = ("is_error", "media")

    media: tuple[Media, ...]
    is_error: bool

    def __new__(cls, text: str = "", *, media: Iterable[Media] = (), is_error: bool = False) -> Self:
        result = super().__new__(cls, text)
        result.media = tuple(media)
        result.is_error = is_error
        return result
