"""A manager of one's own that wraps the default one, for every tool call of the application.

In Spring's sample the bean asks for a `ToolCallingManager` as a parameter. Taken at its word it would get itself, since
the default steps back as soon as another bean of its type is declared; vernal refuses that as a cycle before anything
is built. The right way: the bean builds the default that it wraps, out of the beans that the default is made of. So a
custom `ToolExecutionExceptionProcessor` and the limits of the settings reach the tools all the same.

Run: python examples/custom_manager.py

Prints:
    Example tool calling manager: get_weather
    18 °C in Shanghai
    The bean 'example_manager' needs itself.
"""

from vernal import (
    Application,
    ChatClient,
    ChatResponse,
    ConfigurationError,
    DefaultToolCallingManager,
    Prompt,
    ToolCallbackResolver,
    ToolCallingManager,
    ToolExecutionExceptionProcessor,
    ToolExecutionResult,
    bean,
    configuration,
    tool,
)
from vernal_autoconfig.tool_calling import ToolCallingSettings

OFFLINE = {"chat": {"model": "offline"}}


@tool
def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


class ExampleToolCallingManager(ToolCallingManager):
    def __init__(self, delegate: ToolCallingManager) -> None:
        self.delegate = delegate

    async def aexecute_tool_calls(self, prompt: Prompt, chat_response: ChatResponse) -> ToolExecutionResult:
        print("Example tool calling manager:", ", ".join(call.name for call in chat_response.tool_calls))
        return await self.delegate.aexecute_tool_calls(prompt, chat_response)


@configuration
class Managers:
    @bean
    def example_manager(
        self, resolver: ToolCallbackResolver, processor: ToolExecutionExceptionProcessor, settings: ToolCallingSettings
    ) -> ToolCallingManager:
        default = DefaultToolCallingManager(
            tool_callback_resolver=resolver,
            tool_execution_exception_processor=processor,
            limits=settings.limits(),
        )
        return ExampleToolCallingManager(default)


@configuration
class Circle:
    @bean
    def example_manager(self, manager: ToolCallingManager) -> ToolCallingManager:
        return ExampleToolCallingManager(manager)


def main() -> None:
    with Application(Managers, settings=OFFLINE) as context:
        print(context.get(ChatClient).prompt("How is the weather in Shanghai?").tools(get_weather).call().content())
    try:
        Application(Circle, settings=OFFLINE).start()
    except ConfigurationError as error:
        print(str(error).splitlines()[0])


if __name__ == "__main__":
    main()
