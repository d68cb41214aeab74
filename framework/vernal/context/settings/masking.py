"""What is shown in the place of a secret."""

import re

MASK = "**********"

_PASSWORD = re.compile(r"(?<=://)([^/@:\s]*):[^/@\s]*(?=@)")


def hide_passwords(text: str) -> str:
    """The text with the password of every URL in it masked."""
    return _PASSWORD.sub(rf"\1:{MASK}", text)
