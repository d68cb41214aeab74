"""Exactly one advisor of a chain runs tools, so that no call is executed twice.

One of your own takes the place of the default; two of them are refused before anything is asked.

Run: python examples/single_tool_advisor.py

Prints:
    MyToolAdvisor looks at the answer
    18 °C in Oslo
    At most one ToolAdvisor may stand in the chain, but there are 2
"""

from vernal import (
    AdvisorChain,
    ChatClient,
    ChatClientResponse,
    ConfigurationError,
    OfflineChatModel,
    ToolCallingAdvisor,
    tool,
)


@tool
def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


class MyToolAdvisor(ToolCallingAdvisor):
    async def do_finalize_loop(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        print(self.name, "looks at the answer")
        return response


def main() -> None:
    client = ChatClient.builder(OfflineChatModel()).default_advisors(MyToolAdvisor()).default_tools(get_weather).build()
    print(client.prompt("What is the weather in Oslo?").call().content())
    try:
        client.prompt("What is the weather in Oslo?").advisors(MyToolAdvisor()).call()
    except ConfigurationError as error:
        print(str(error).partition(":")[0])  # and which, and what to do


if __name__ == "__main__":
    main()
