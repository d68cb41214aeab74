"""A chat client built by hand, with a tool advisor of one's own order.

The order says what is inside the loop: an advisor of a greater order sees every round, one of a smaller order sees one
request and one answer. Two clients, two orders, the same witness.

Run: python examples/client_by_hand.py

Prints:
    order +300: 18 °C in Amsterdam, requests seen by the witness: 2
    order +500: 18 °C in Amsterdam, requests seen by the witness: 1
"""

from vernal import (
    HIGHEST_PRECEDENCE,
    AdvisorChain,
    BaseAdvisor,
    ChatClient,
    ChatClientRequest,
    DefaultToolCallingManager,
    OfflineChatModel,
    ToolCallingAdvisor,
    tool,
)


@tool
def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


class Witness(BaseAdvisor):
    """Counts the requests that come by."""

    order = HIGHEST_PRECEDENCE + 400

    def __init__(self) -> None:
        self.requests = 0

    async def before(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        self.requests += 1
        return request


def main() -> None:
    for offset in (300, 500):
        witness = Witness()
        tool_calling_advisor = ToolCallingAdvisor(
            tool_calling_manager=DefaultToolCallingManager(),
            advisor_order=HIGHEST_PRECEDENCE + offset,
        )
        client = ChatClient.builder(OfflineChatModel()).default_advisors(tool_calling_advisor, witness).build()
        answer = client.prompt("What is the weather in Amsterdam?").tools(get_weather).call().content()
        print(f"order +{offset}: {answer}, requests seen by the witness: {witness.requests}")


if __name__ == "__main__":
    main()
