"""The tool loop driven by hand, over the streams of a chat client: chunks go on to the reader while they are collected.

Mostly an advisor inside the loop is the simpler way to the same end: see `observing_advisor.py`.

Run: python examples/loop_with_client_streaming.py

Prints:
    data: {"tools": ["get_weather"]}
    data: {"text": "18"}
    data: {"text": " °C"}
    data: {"text": " in"}
    data: {"text": " Amsterdam"}
    the whole answer: 18 °C in Amsterdam
"""

import json

from vernal import (
    Application,
    ChatClient,
    ChatClientResponse,
    MessageAggregator,
    Prompt,
    ToolCallingChatOptions,
    ToolCallingManager,
    tool,
    tool_callbacks,
)


@tool
def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


def forward_to_sse(chunk: ChatClientResponse) -> None:
    names = [call.name for call in chunk.tool_calls]
    print("data:", json.dumps({"tools": names} if names else {"text": chunk.text}, ensure_ascii=False))


def main() -> None:
    options = ToolCallingChatOptions(tool_callbacks=tool_callbacks(get_weather))
    with Application(settings={"chat": {"model": "offline"}}) as context:
        client, manager = context.get(ChatClient), context.get(ToolCallingManager)
        prompt = Prompt("What is the weather in Amsterdam?", options)
        while True:
            request = client.prompt(prompt).advisors(tool_calling_advisor_auto_register=False)
            aggregator = MessageAggregator()
            for chunk in aggregator.over(request.stream().chat_client_response()):
                forward_to_sse(chunk)
            response = aggregator.response
            if not response.has_tool_calls:
                break
            result = manager.execute_tool_calls(prompt, response)
            prompt = Prompt(result.conversation_history, options)
        print("the whole answer:", response.text)


if __name__ == "__main__":
    main()
