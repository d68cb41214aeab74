"""Tools that a model will hardly understand, or that cannot be offered."""

from collections.abc import Iterator

from vernal.cli.doctor.finding import Finding, Level
from vernal.cli.inspection import Inspection, collected_warnings
from vernal.cli.tools import LATER, FoundTool, find_tools
from vernal.tools.naming import description_from_name

_FEWEST_WORDS = 3


def check_tools(inspection: Inspection) -> Iterator[Finding]:
    """What cannot be a tool, poor names and descriptions, names that are taken twice."""
    with collected_warnings() as warnings:
        tools = find_tools(inspection)
    for record in warnings:
        if record.name == "vernal.tools":
            yield Finding(level=Level.WARNING, about="tools", text=record.getMessage())
    first: dict[str, FoundTool] = {}
    for tool in tools:
        if tool.name is None:
            if tool.problem != LATER:
                yield Finding(level=Level.ERROR, about=tool.source, text=tool.problem, cure=f"mend {tool.origin}")
            continue
        yield from _described(tool.name, tool)
        known = first.setdefault(tool.name, tool)
        if known is not tool:
            yield Finding(
                level=Level.WARNING,
                about=f"tool {tool.name}",
                text=f"{known.origin} and {tool.origin} have the same name; a request that offers both is refused",
                cure="rename one of them: @tool(name='…')",
            )


def _described(name: str, tool: FoundTool) -> Iterator[Finding]:
    if tool.description == description_from_name(name):
        yield Finding(
            level=Level.WARNING,
            about=f"tool {name}",
            text="it has no description, so the model knows only its name",
            cure=f"give {tool.origin} a docstring that says what it does and when it is of use",
        )
    elif len(tool.description.split()) < _FEWEST_WORDS:
        yield Finding(
            level=Level.NOTE,
            about=f"tool {name}",
            text=f"its description is only {tool.description!r}",
            cure="say what it does and when it is of use",
        )
    properties = (tool.schema or {}).get("properties", {})
    bare = [parameter for parameter, schema in properties.items() if "description" not in schema]
    if bare:
        yield Finding(
            level=Level.NOTE,
            about=f"tool {name}",
            text=f"parameters without a description: {', '.join(bare)}",
            cure=f"describe them under 'Args:' in the docstring of {tool.origin}, or with ToolParam",
        )
