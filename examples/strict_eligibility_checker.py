"""Tools run only where the model says that it stopped for them, not wherever a response carries tool calls.

Some providers leave tool calls in a response that ended for another reason. The default checker looks for tool calls
alone; this one asks for the finish reason as well. A bean of the type `ToolExecutionEligibilityChecker` reaches every
client of an application.

Run: python examples/strict_eligibility_checker.py

Prints:
    default: 18 °C in Oslo.
    strict: Let me see.
"""

from vernal import ChatClient, ChatResponse, FinishReason, ToolCallingAdvisor, tool
from vernal.testing import ScriptedChatModel, tool_call


@tool
def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


def strict_checker(response: ChatResponse) -> bool:
    return response.has_tool_calls and response.finish_reason == FinishReason.TOOL_CALLS


def main() -> None:
    call = tool_call("get_weather", call_id="call_1", city="Oslo")
    odd = ChatResponse.of("Let me see.", tool_calls=[call], finish_reason=FinishReason.STOP)
    advisors = {
        "default": ToolCallingAdvisor(),
        "strict": ToolCallingAdvisor(tool_execution_eligibility_checker=strict_checker),
    }
    for name, advisor in advisors.items():
        model = ScriptedChatModel([odd, "18 °C in Oslo."])
        client = ChatClient.builder(model).default_advisors(advisor).build()
        print(f"{name}: {client.prompt('What is the weather in Oslo?').tools(get_weather).call().content()}")


if __name__ == "__main__":
    main()
