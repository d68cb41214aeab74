"""A tool of one's own kind: a `ToolCallback` with a definition by hand, for what is no Python function.

Implement `definition` and one of `call` (run in a worker thread) and `acall` (run on the event loop). It gets the JSON
text of the arguments, and gives the text for the model.

Run: python examples/own_tool_callback.py

Prints:
    docker run --rm weather:2 '{"city": "Oslo"}' for acme
"""

from vernal import Application, ChatClient, ToolCallback, ToolContext, ToolDefinition, ToolMetadata


class ContainerToolCallback(ToolCallback):
    """A tool that lives in a container image (and is not really started here)."""

    def __init__(self, image: str, definition: ToolDefinition) -> None:
        self.image = image
        self._definition = definition

    @property
    def definition(self) -> ToolDefinition:
        return self._definition

    @property
    def metadata(self) -> ToolMetadata:
        return ToolMetadata(timeout=30, idempotent=True)

    async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
        tenant = tool_context["tenant"] if tool_context else "nobody"
        return f"docker run --rm {self.image} '{tool_input}' for {tenant}"


def main() -> None:
    definition = ToolDefinition(
        name="get_weather",
        description="Get the weather of a city",
        input_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    )
    weather = ContainerToolCallback("weather:2", definition)
    with Application(settings={"chat": {"model": "offline"}}) as context:
        request = context.get(ChatClient).prompt("What is the weather in Oslo?").tools(weather)
        print(request.tool_context(tenant="acme").call().content())


if __name__ == "__main__":
    main()
