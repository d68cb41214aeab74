"""Descriptions of tools and parameters: from docstrings in every style, else from the name (TDU)."""

import pytest

from vernal.tools.docstrings import read_docstring
from vernal.tools.function import FunctionToolCallback
from vernal.tools.naming import description_from_name

GOOGLE = """Find orders.

    All of them: also old ones.
    Second line.

    Args:
        query (str, optional): what
            to find: all
        limit: How many.

    Returns:
        The orders.

    Raises:
        ValueError: never
    """

NUMPY = """Find orders.

    All of them: also old ones.
    Second line.

    Parameters
    ----------
    query : str, optional
        what
        to find: all
    limit
        How many.

    Returns
    -------
    list
        The orders.
    """

SPHINX = """Find orders.

    All of them: also old ones.
    Second line.

    :param query: what
        to find: all
    :type query: str
    :param int limit: How many.
    :returns: The orders.
    :raises ValueError: never
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_docstrings_of_every_style_are_read(text: str) -> None:
    """Issue 2, item 3: the description is the text without its sections, each parameter's is one line."""
    docs = read_docstring(text)
    assert docs.description == "Find orders.\n\nAll of them: also old ones.\nSecond line."
    assert docs.parameters == {"query": "what to find: all", "limit": "How many."}


@pytest.mark.parametrize(
    ("text", "description"),
    [
        (None, ""),
        ("", ""),
        ("One line: with a colon.", "One line: with a colon."),
        ("Two\nlines.", "Two\nlines."),
        ("First.\n\nNote:\n    Careful: yes.", "First.\n\nNote:\n    Careful: yes."),
        ("First.\n\nArgs:\n    nothing to see", "First.\n\nArgs:\n    nothing to see"),
        ("\n    Args:\n        a: b\n    ", ""),
    ],
)
def test_docstrings_without_known_sections_are_the_description(text: str | None, description: str) -> None:
    """What no style explains is kept as it is; a docstring may also be nothing but sections."""
    assert read_docstring(text).description == description


def test_numpy_describes_several_parameters_at_once() -> None:
    """`x, y : int` describes both."""
    docs = read_docstring("Move.\n\nParameters\n----------\nx, y : int\n    Coordinates.\n")
    assert docs.parameters == {"x": "Coordinates.", "y": "Coordinates."}


def test_parameters_are_described_in_the_schema() -> None:
    """A docstring's words stand in the schema, for parameters that exist."""

    def find(query: str, limit: int = 3) -> None: ...

    find.__doc__ = GOOGLE.replace("limit:", "other:")
    properties = FunctionToolCallback(find).definition.input_schema["properties"]
    assert properties["query"]["description"] == "what to find: all"
    assert "description" not in properties["limit"]


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("simpleMethod", "simple method"),
        ("get_weather", "get weather"),
        ("getHTTPResponse", "get http response"),
        ("valid_tool-name.v1", "valid tool name v1"),
        ("WeatherTools2Go", "weather tools2 go"),
        ("获取天气", "获取天气"),
        ("_", "_"),
    ],
)
def test_without_docstring_the_name_describes(name: str, description: str) -> None:
    """TDU-05, TDU-06, TDU-09: split at underscores and camel case, in lower case."""
    assert description_from_name(name) == description

    def f() -> None: ...

    assert FunctionToolCallback(f, name=name).definition.description == description
