"""The hooks of the tool loop, in the order in which they run, for a question that takes one round of tools.

Each has a twin for streams (`do_before_stream` and so on) that follows when only one of the two is overridden. What a
hook changes of messages, options or context holds for the rest of the turn.

Run: python examples/loop_hooks.py

Prints:
    initialize the loop
    before call 1: 1 message
    after call 1: get_weather is wanted
    next instructions: user, assistant, tool
    before call 2: 3 messages
    after call 2: 18 °C in Oslo
    finalize the loop: 2 calls of the model
    18 °C in Oslo
"""

from vernal import (
    AdvisorChain,
    ChatClient,
    ChatClientRequest,
    ChatClientResponse,
    Message,
    OfflineChatModel,
    ToolCallingAdvisor,
    ToolExecutionResult,
    tool,
)


@tool
def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


class TalkativeToolCallingAdvisor(ToolCallingAdvisor):
    async def do_initialize_loop(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        print("initialize the loop")
        return request.copy(context={"calls": 0})

    async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        request.context["calls"] += 1
        count = len(request.prompt.messages)
        print(f"before call {request.context['calls']}: {count} message{'s' if count > 1 else ''}")
        return request

    async def do_after_call(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        wanted = ", ".join(f"{call.name} is wanted" for call in response.tool_calls)
        print(f"after call {response.context['calls']}: {wanted or response.text}")
        return response

    async def do_get_next_instructions_for_tool_call(
        self, request: ChatClientRequest, response: ChatClientResponse, tool_execution_result: ToolExecutionResult
    ) -> tuple[Message, ...]:
        messages = await super().do_get_next_instructions_for_tool_call(request, response, tool_execution_result)
        print("next instructions:", ", ".join(message.message_type for message in messages))
        return messages

    async def do_finalize_loop(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        print(f"finalize the loop: {response.context['calls']} calls of the model")
        return response


def main() -> None:
    client = ChatClient.builder(OfflineChatModel()).default_advisors(TalkativeToolCallingAdvisor()).build()
    print(client.prompt("What is the weather in Oslo?").tools(get_weather).call().content())


if __name__ == "__main__":
    main()
