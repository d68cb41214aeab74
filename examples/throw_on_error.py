"""A failing tool ends the turn, instead of being told to the model.

`tools.throw_exception_on_error` (VERNAL_TOOLS__THROW_EXCEPTION_ON_ERROR=true) raises a `ToolExecutionException` for
every failure; `tools.rethrow_exceptions` raises only what it lists, and as the tool raised it.

Run: python examples/throw_on_error.py

Prints:
    ToolExecutionException from refund: the till is locked (PermissionError)
    PermissionError: the till is locked
"""

from typing import Any

from vernal import Application, ChatClient, ToolExecutionException, tool


@tool(effects="write")
def refund(order: int) -> str:
    """Refund an order."""
    raise PermissionError("the till is locked")


def ask(tool_settings: dict[str, Any]) -> None:
    with Application(settings={"chat": {"model": "offline"}, "tools": tool_settings}) as context:
        context.get(ChatClient).prompt("Refund order 42").tools(refund).call().content()


def main() -> None:
    try:
        ask({"throw_exception_on_error": True})
    except ToolExecutionException as error:
        cause = type(error.__cause__).__name__
        print(f"ToolExecutionException from {error.tool_definition.name}: {error} ({cause})")
    try:
        ask({"rethrow_exceptions": ["builtins.PermissionError"]})
    except PermissionError as error:
        print(f"PermissionError: {error}")


if __name__ == "__main__":
    main()
