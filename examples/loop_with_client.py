"""The tool loop driven by hand, over a chat client: its advisors still see every request.

Run: python examples/loop_with_client.py

Prints:
    round 1 wants get_weather, get_weather
    18 °C in Amsterdam
    18 °C in Paris
"""

from vernal import (
    Application,
    ChatClient,
    ChatResponse,
    Prompt,
    ToolCallingChatOptions,
    ToolCallingManager,
    tool,
    tool_callbacks,
)


class WeatherTools:
    @tool
    def get_weather(self, city: str) -> str:
        """Current weather of a city."""
        return f"18 °C in {city}"


def ask(client: ChatClient, prompt: Prompt) -> ChatResponse | None:
    return client.prompt(prompt).advisors(tool_calling_advisor_auto_register=False).call().chat_response()


def main() -> None:
    options = ToolCallingChatOptions(tool_callbacks=tool_callbacks(WeatherTools()))
    with Application(settings={"chat": {"model": "offline"}}) as context:
        client, manager = context.get(ChatClient), context.get(ToolCallingManager)
        prompt = Prompt("What is the weather in Amsterdam and Paris?", options)
        response = ask(client, prompt)
        rounds = 0
        while response is not None and response.has_tool_calls:
            rounds += 1
            print(f"round {rounds} wants {', '.join(call.name for call in response.tool_calls)}")
            result = manager.execute_tool_calls(prompt, response)
            prompt = Prompt(result.conversation_history, options)
            response = ask(client, prompt)
        print(response.text if response is not None else "no answer")


if __name__ == "__main__":
    main()
