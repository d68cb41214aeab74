"""The offline model has options of its own, like every other model."""

from vernal import OfflineChatModel, Prompt, ToolCallingChatOptions, tool, tool_callbacks

QUESTION = "What is the date, and what is the weather in Oslo?"


@tool
def get_date() -> str:
    """The date of today."""
    return "2025-03-05"


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"18 °C in {city}"


def called(model: OfflineChatModel, options: ToolCallingChatOptions | None = None) -> list[str]:
    """The tools that the model asks for, called and streamed."""
    prompt = Prompt(QUESTION, options)
    names = [call.name for call in model.call(prompt).tool_calls]
    assert names == [call.name for chunk in model.stream(prompt) for call in chunk.tool_calls]
    return names


def test_the_models_tools_are_there_where_a_request_brings_none() -> None:
    """The model's own tools are offered where a prompt has none; those of a prompt replace them (OPT-08)."""
    model = OfflineChatModel(options=ToolCallingChatOptions(tool_callbacks=tool_callbacks(get_date)))
    assert called(model) == ["get_date"]
    assert called(model, ToolCallingChatOptions(temperature=0.5)) == ["get_date"]
    assert called(model, ToolCallingChatOptions(tool_callbacks=tool_callbacks(get_weather))) == ["get_weather"]


def test_options_of_a_request_win_field_by_field() -> None:
    """A field of the prompt's options wins, the model's other fields stay (R26)."""
    own = ToolCallingChatOptions(tool_callbacks=tool_callbacks(get_date, get_weather), tool_choice="none")
    model = OfflineChatModel(options=own)
    assert model.default_options is own
    assert called(model) == []
    assert sorted(called(model, ToolCallingChatOptions(tool_choice="auto"))) == ["get_date", "get_weather"]
