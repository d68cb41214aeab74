"""An advisor inside the loop sees every round, or every chunk, while the caller gets the answer alone.

This is the way to show progress, log tool calls or measure rounds: the loop stays the framework's.

Run: python examples/observing_advisor.py

Prints:
    [user -> get_weather]
    [user, assistant, tool -> 18 °C in Oslo]
    18 °C in Oslo
    [chunk: get_weather]
    [chunk: '18']
    [chunk: ' °C']
    [chunk: ' in']
    [chunk: ' Lima']
    18 °C in Lima
"""

from collections.abc import AsyncIterator

from vernal import (
    HIGHEST_PRECEDENCE,
    Application,
    CallAdvisor,
    CallAdvisorChain,
    ChatClient,
    ChatClientRequest,
    ChatClientResponse,
    StreamAdvisor,
    StreamAdvisorChain,
    tool,
)


@tool
def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


class ToolCallObservingAdvisor(CallAdvisor, StreamAdvisor):
    order = HIGHEST_PRECEDENCE + 400  # the loop stands at +300

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        response = await chain.next_call(request)
        sent = ", ".join(message.message_type for message in request.prompt.messages)
        print(f"[{sent} -> {wanted(response) or response.text}]")
        return response

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        async for chunk in chain.next_stream(request):
            print(f"[chunk: {wanted(chunk) or repr(chunk.text)}]")
            yield chunk


def wanted(response: ChatClientResponse) -> str:
    return ", ".join(call.name for call in response.tool_calls)


def main() -> None:
    with Application(settings={"chat": {"model": "offline"}}) as context:
        client = context.get(ChatClient).mutate().default_advisors(ToolCallObservingAdvisor()).build()
        print(client.prompt("What is the weather in Oslo?").tools(get_weather).call().content())
        print("".join(client.prompt("What is the weather in Lima?").tools(get_weather).stream().content()))


if __name__ == "__main__":
    main()
