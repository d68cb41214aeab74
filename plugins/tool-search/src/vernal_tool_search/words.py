"""Names and descriptions as words."""

import re

_WORD = re.compile(r"[^\W\d_]+|\d+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

STOP_WORDS = frozenset(
    """a about all am an and any are as at be been but by can could did do does for from had has have how i if in into
    is it its let like me my need of on one or our out please should so some that the their them then there these they
    this to us want was we were what when where which who will with would you your""".split()  # noqa: SIM905
)
"""Words that say nothing of what a tool does."""


def words_of(text: str) -> list[str]:
    """The words of `text` in small letters; names are taken apart at their humps and underscores."""
    return [word.lower() for word in _WORD.findall(_HUMP.sub(" ", text))]


def telling_words_of(text: str) -> list[str]:
    """Those of its words that say something."""
    return [word for word in words_of(text) if word not in STOP_WORDS and len(word) > 1]
