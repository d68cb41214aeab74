"""What is shown in the place of a secret."""

import re

MASK = "**********"

_PASSWORD = re.compile(r"(?<=://)(?:([^/@:\s]*):)?[^/@\s]*(?=@)")


def hide_passwords(text: str) -> str:
    """The text with the password of every URL in it masked, and with a token that stands there alone."""
    return _PASSWORD.sub(lambda found: MASK if found[1] is None else f"{found[1]}:{MASK}", text)
