"""The whole loop by hand, with a manager of one's own: is it hot in Shanghai today?

A system message says when to warn; the model asks for the weather, the example's manager executes the call by way of
the default one, and the model answers with a warning. The model is scripted, its answer made of what it was sent.

Run: python examples/driving_the_loop_shanghai.py

Prints:
    Example tool calling manager!
    Getting the weather of Shanghai
    It is 31.5 °C in Shanghai today and feels like 35 °C. Heat warning: stay out of the sun and drink enough!
"""

import json

from vernal import (
    ChatResponse,
    DefaultToolCallingManager,
    Prompt,
    SystemMessage,
    ToolCallingChatOptions,
    ToolCallingManager,
    ToolExecutionResult,
    ToolResponseMessage,
    UserMessage,
    tool,
    tool_callbacks,
)
from vernal.testing import ScriptedChatModel, tool_call


class MockWeatherTools:
    @tool
    def get_weather(self, city: str) -> dict[str, float]:
        """Current weather of a city."""
        print(f"Getting the weather of {city}")
        return {"temperature": 31.5, "feels_like": 35}


class ExampleToolCallingManager(ToolCallingManager):
    def __init__(self) -> None:
        self.tool_calling_manager = DefaultToolCallingManager()

    def execute_tool_calls(self, prompt: Prompt, chat_response: ChatResponse) -> ToolExecutionResult:
        print("Example tool calling manager!")
        return self.tool_calling_manager.execute_tool_calls(prompt, chat_response)


def worded(prompt: Prompt) -> str:
    """What a language model would say to this prompt."""
    last = prompt.messages[-1]
    assert isinstance(last, ToolResponseMessage)
    weather = json.loads(last.responses[0].data)
    warned = "30 degrees" in prompt.system_message.text and weather["temperature"] > 30
    answer = f"It is {weather['temperature']} °C in Shanghai today and feels like {weather['feels_like']} °C."
    return answer + (" Heat warning: stay out of the sun and drink enough!" if warned else "")


def main() -> None:
    model = ScriptedChatModel([tool_call("get_weather", city="Shanghai"), worded])
    manager = ExampleToolCallingManager()
    options = ToolCallingChatOptions(tool_callbacks=tool_callbacks(MockWeatherTools()))
    messages = [
        SystemMessage("Above 30 degrees the user must be given a heat warning"),
        UserMessage("Is it hot in Shanghai today?"),
    ]
    prompt = Prompt(messages, options)
    response = model.call(prompt)
    while response.has_tool_calls:
        result = manager.execute_tool_calls(prompt, response)
        prompt = Prompt(result.conversation_history, options)
        response = model.call(prompt)
    print(response.text)


if __name__ == "__main__":
    main()
