"""The tool loop driven by hand, over the bare model: for orchestrators that own their loop.

A model never runs a tool. What it wants comes back in the response; the manager executes it, and the history that the
manager gives is the next prompt.

Run: python examples/loop_with_model.py

Prints:
    the model wants get_weather, get_weather
    18 °C in Amsterdam
    18 °C in Paris
"""

from vernal import Application, ChatModel, Prompt, ToolCallingChatOptions, ToolCallingManager, tool, tool_callbacks


class WeatherTools:
    @tool
    def get_weather(self, city: str) -> str:
        """Current weather of a city."""
        return f"18 °C in {city}"


def answer(model: ChatModel, manager: ToolCallingManager, question: str) -> str | None:
    options = ToolCallingChatOptions(tool_callbacks=tool_callbacks(WeatherTools()))
    prompt = Prompt(question, options)
    response = model.call(prompt)
    while response.has_tool_calls:
        print("the model wants", ", ".join(call.name for call in response.tool_calls))
        result = manager.execute_tool_calls(prompt, response)
        if result.return_direct:  # the tools' results are the answer
            return "\n".join(generation.output.text or "" for generation in result.build_generations())
        prompt = Prompt(result.conversation_history, options)
        response = model.call(prompt)
    return response.text


def main() -> None:
    with Application(settings={"chat": {"model": "offline"}}) as context:
        model, manager = context.get(ChatModel), context.get(ToolCallingManager)
        print(answer(model, manager, "What is the weather in Amsterdam and Paris?"))


if __name__ == "__main__":
    main()
