"""A memory outside the tool loop, where it stands by default: it keeps what was asked and what was answered.

The rounds between are the tool advisor's own affair. The second question is understood because of the first one.

Run: python examples/memory_outside_the_loop.py

Prints:
    18 °C in Amsterdam
    18 °C in Paris
    user: What is the weather in Amsterdam?
    assistant: 18 °C in Amsterdam
    user: And in Paris?
    assistant: 18 °C in Paris
"""

from vernal import Application, ChatClient, ChatMemory, MessageChatMemoryAdvisor, tool


@tool
def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


def main() -> None:
    with Application(settings={"chat": {"model": "offline"}}) as context:
        memory = context.get(ChatMemory)
        client = (
            context.get(ChatClient)
            .mutate()
            .default_tools(get_weather)
            .default_advisors(MessageChatMemoryAdvisor(chat_memory=memory), conversation_id="user-42")
            .build()
        )
        print(client.prompt("What is the weather in Amsterdam?").call().content())
        print(client.prompt("And in Paris?").call().content())
        for message in memory.get("user-42"):
            print(f"{message.message_type}: {message.text}")


if __name__ == "__main__":
    main()
