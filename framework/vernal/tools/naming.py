"""Names of tools, and the descriptions that follow from them."""

import logging
import re

logger = logging.getLogger("vernal.tools")

_PORTABLE_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_WORD_BOUNDARY = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def description_from_name(name: str) -> str:
    """What a name says, in words: `getWeather` and `get_weather` give "get weather" (TDU-05, TDU-09)."""
    return " ".join(word for word in _WORD_BOUNDARY.split(name) if word).lower() or name


def warn_of_name(name: str) -> None:
    """Log a warning where providers may refuse `name`; it is kept as it is (TDU-04)."""
    if not _PORTABLE_NAME.fullmatch(name):
        logger.warning(
            "the tool name %r may be refused by providers; 1 to 64 letters, digits, '_', '-' and '.' are safe", name
        )
