"""Data for tools that the model never sees: the tenant, the user, a database session.

A parameter annotated with `ToolContext` receives it, whatever the parameter is called; the model's schema does not have
it. Entries of the model's options, of the client and of the request are merged, the request's winning.

Run: python examples/tool_context.py

Prints:
    the model fills: location
    Shanghai lies at 4 m (for acme)
    Shanghai lies at 9 m (for acme)
"""

from typing import Annotated

from vernal import Application, ChatClient, ToolContext, ToolParam, tool, tool_callbacks


class AltitudeTools:
    @tool
    def get_altitude(
        self,
        location: Annotated[str, ToolParam(description="The place, such as Shanghai")],
        context: ToolContext,
    ) -> str:
        """Get the altitude of a place."""
        return f"{location} lies at {context['altitude']} m (for {context['tenant']})"


def main() -> None:
    (get_altitude,) = tool_callbacks(AltitudeTools())
    print("the model fills:", ", ".join(get_altitude.definition.input_schema["properties"]))
    with Application(settings={"chat": {"model": "offline"}}) as context:
        client = context.get(ChatClient).mutate().default_tool_context(tenant="acme", altitude=4).build()
        question = "What is the altitude of Shanghai?"
        print(client.prompt(question).tools(AltitudeTools()).call().content())
        print(client.prompt(question).tools(AltitudeTools()).tool_context(altitude=9).call().content())


if __name__ == "__main__":
    main()
