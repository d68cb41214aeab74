"""A memory that stands inside the tool loop: it keeps every round, tool calls and tool responses included.

The memory then owns the history, and the tool advisor must forward only what is latest. An application's client sees
that for itself; a tool advisor built by hand is told with `conversation_history_enabled=False`.

Run: python examples/memory_inside_the_loop.py

Prints:
    by itself: user, assistant, tool, assistant
    by hand: user, assistant, tool, assistant
"""

from vernal import (
    HIGHEST_PRECEDENCE,
    Application,
    ChatClient,
    ChatMemory,
    ChatModel,
    MessageChatMemoryAdvisor,
    ToolCallingAdvisor,
    tool,
)

QUESTION = "What is the weather in Amsterdam?"


@tool
def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


def main() -> None:
    with Application(settings={"chat": {"model": "offline"}}) as context:
        memory = context.get(ChatMemory)
        memory_advisor = MessageChatMemoryAdvisor(chat_memory=memory, memory_order=HIGHEST_PRECEDENCE + 400)

        client = context.get(ChatClient).mutate().default_advisors(memory_advisor).build()
        client.prompt(QUESTION).tools(get_weather).advisors(conversation_id="by itself").call().content()

        loop = ToolCallingAdvisor(conversation_history_enabled=False, advisor_order=HIGHEST_PRECEDENCE + 300)
        client = ChatClient.builder(context.get(ChatModel)).default_advisors(memory_advisor, loop).build()
        client.prompt(QUESTION).tools(get_weather).advisors(conversation_id="by hand").call().content()

        for conversation in ("by itself", "by hand"):
            print(f"{conversation}: {', '.join(message.message_type for message in memory.get(conversation))}")


if __name__ == "__main__":
    main()
