"""The counterpart of Spring AI 1.x's `internalToolExecutionEnabled(false)`.

There is no such option, because there is nothing to switch off: a model never runs tools. The tool advisor of the chat
client does, and it is left out for one request with `.advisors(tool_calling_advisor_auto_register=False)`, or for all
with `chat.client.tool_calling.enabled=false`. Either way the caller gets the tool calls, and runs them or not.

Run: python examples/internal_tool_execution_disabled.py

Prints:
    the model wants get_weather {"city": "Shanghai"}
    through the client: get_weather {"city": "Shanghai"}
    31.5 °C in Shanghai
"""

from vernal import (
    Application,
    ChatClient,
    ChatModel,
    Prompt,
    ToolCallingChatOptions,
    ToolCallingManager,
    tool,
    tool_callbacks,
)


class MockWeatherTools:
    @tool
    def get_weather(self, city: str) -> str:
        """Current weather of a city."""
        return f"31.5 °C in {city}"


def main() -> None:
    prompt = Prompt(
        "What is the weather in Shanghai?",
        ToolCallingChatOptions(tool_callbacks=tool_callbacks(MockWeatherTools())),
    )
    with Application(settings={"chat": {"model": "offline"}}) as context:
        model, client = context.get(ChatModel), context.get(ChatClient)

        response = model.call(prompt)
        print("the model wants", *(f"{call.name} {call.arguments}" for call in response.tool_calls))

        turn = client.prompt(prompt).advisors(tool_calling_advisor_auto_register=False).call()
        calls = turn.chat_client_response().tool_calls
        print("through the client:", *(f"{call.name} {call.arguments}" for call in calls))

        result = context.get(ToolCallingManager).execute_tool_calls(prompt, response)
        print(model.call(Prompt(result.conversation_history, prompt.options)).text)


if __name__ == "__main__":
    main()
