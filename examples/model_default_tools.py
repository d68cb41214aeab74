"""Default tools of a model: offered with every request, replaced by a request's own tools, joined only explicitly.

Tools that can do harm belong to the request that needs them, not among the defaults. A chat client's tools are another
matter: `.tools(…)` of a request are added to the client's `.default_tools(…)`.

Run: python examples/model_default_tools.py

Prints:
    defaults: get_date
    replaced: get_weather
    defaults and one more: get_date, get_weather
    a client's and a request's: get_date, get_weather
"""

from vernal import ChatClient, OfflineChatModel, Prompt, ToolCallingChatOptions, tool, tool_callbacks

QUESTION = "What is the date, and what is the weather in Oslo?"


@tool
def get_date() -> str:
    """The date of today."""
    return "It is Wednesday, 5 March"


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"18 °C in {city}"


def wanted(model: OfflineChatModel, options: ToolCallingChatOptions | None = None) -> str:
    return ", ".join(call.name for call in model.call(Prompt(QUESTION, options)).tool_calls)


def main() -> None:
    defaults, others = tool_callbacks(get_date), tool_callbacks(get_weather)
    model = OfflineChatModel(options=ToolCallingChatOptions(tool_callbacks=defaults))

    print("defaults:", wanted(model))
    print("replaced:", wanted(model, ToolCallingChatOptions(tool_callbacks=others)))
    print("defaults and one more:", wanted(model, ToolCallingChatOptions(tool_callbacks=(*defaults, *others))))

    client = ChatClient.builder(OfflineChatModel()).default_tools(get_date).build()
    request = client.prompt(QUESTION).tools(get_weather).advisors(tool_calling_advisor_auto_register=False)
    calls = request.call().chat_client_response().tool_calls
    print("a client's and a request's:", ", ".join(call.name for call in calls))


if __name__ == "__main__":
    main()
