"""The tool loop driven by hand, over the streams of the bare model, without an application and asynchronously.

Model and manager are built by hand. The chunks go on to the reader while the aggregator collects them.

Run: python examples/loop_with_model_streaming.py

Prints:
    <get_weather> <get_weather>
    18 °C in Amsterdam
    18 °C in Paris
"""

import asyncio

from vernal import (
    ChatResponse,
    DefaultToolCallingManager,
    MessageAggregator,
    OfflineChatModel,
    Prompt,
    ToolCallingChatOptions,
    tool,
    tool_callbacks,
)


@tool
async def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


def forward(chunk: ChatResponse) -> None:
    if chunk.has_tool_calls:
        print(" ".join(f"<{call.name}>" for call in chunk.tool_calls))
    else:
        print(chunk.text or "", end="", flush=True)


async def main() -> None:
    model, manager = OfflineChatModel(), DefaultToolCallingManager()
    options = ToolCallingChatOptions(tool_callbacks=tool_callbacks(get_weather))
    prompt = Prompt("What is the weather in Amsterdam and Paris?", options)
    while True:
        aggregator = MessageAggregator()
        async for chunk in aggregator.over(model.astream(prompt)):
            forward(chunk)
        response = aggregator.response
        if not response.has_tool_calls:
            break
        result = await manager.aexecute_tool_calls(prompt, response)
        if result.return_direct:
            break
        prompt = Prompt(result.conversation_history, options)
    print()


if __name__ == "__main__":
    asyncio.run(main())
