"""No client of the application runs tools by itself: `chat.client.tool_calling.enabled` is false.

As an environment variable: VERNAL_CHAT__CLIENT__TOOL_CALLING__ENABLED=false. The model still hears of the tools, and
what it wants to call comes back to the caller; `loop_with_client.py` shows what to do with it.

Run: python examples/opt_out_globally.py

Prints:
    text: None
    wanted: get_weather {"city": "Oslo"}
"""

from vernal import Application, ChatClient, tool

SETTINGS = {"chat": {"model": "offline", "client": {"tool_calling": {"enabled": False}}}}


@tool
def get_weather(city: str) -> str:
    """Current weather of a city."""
    raise AssertionError("nobody calls this")


def main() -> None:
    with Application(settings=SETTINGS) as context:
        client = context.get(ChatClient)
        response = client.prompt("What is the weather in Oslo?").tools(get_weather).call().chat_client_response()
        print("text:", response.text)
        for call in response.tool_calls:
            print("wanted:", call.name, call.arguments)


if __name__ == "__main__":
    main()
