"""What a docstring says of a tool and of its parameters: Google, NumPy, Sphinx and Epydoc style."""

import inspect
from collections.abc import Mapping

from vernal.values.mappings import EMPTY
from vernal.values.records import dataclass

_SUMMARY = "."


@dataclass(frozen=True, slots=True)
class ToolDocs:
    """`description` is the text without its sections, `parameters` what is said of each parameter, on one line."""

    description: str = ""
    parameters: Mapping[str, str] = EMPTY


def read_docstring(text: str | None) -> ToolDocs:
    """The parts of a docstring; a text that no style explains is the description as a whole."""
    text = inspect.cleandoc(text or "")
    if "\n" not in text:
        return ToolDocs(text)
    from docstring_parser import ParseError, parse  # only for docstrings that can have sections

    try:
        parsed = parse(f"{_SUMMARY}\n\n{text}")  # so that the text may also begin with a section
    except ParseError:
        return ToolDocs(text)
    parameters = {
        name.strip().lstrip("*"): " ".join(entry.description.split())
        for entry in parsed.params
        if entry.description
        for name in entry.arg_name.split(",")  # NumPy style describes several at once
    }
    return ToolDocs((parsed.long_description or "").strip(), parameters)
