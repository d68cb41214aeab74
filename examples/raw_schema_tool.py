"""A tool whose schema is given as JSON schema: from a file, a registry, or another system.

The model is shown that schema, arguments are checked against it before the call and passed by name as they are. What
does not fit is told to the model, which may try again.

Run: python examples/raw_schema_tool.py

Prints:
    It is 18 °C in Oslo
    The tool get_weather was not called, since its arguments do not fit:
    - unit: should be "C" or "F"; "K" was given
"""

from typing import Any

from vernal import ChatClient, FunctionToolCallback, OfflineChatModel, ToolExecutionException

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Name of the city"},
        "unit": {"enum": ["C", "F"], "description": "Unit of the temperature"},
    },
    "required": ["city"],
}


def get_weather(city: str, unit: str = "C") -> str:
    return f"It is {18 if unit == 'C' else 64} °{unit} in {city}"


def main() -> None:
    weather = FunctionToolCallback(
        get_weather,
        name="get_weather",
        description="Get the weather of a city",
        input_schema=SCHEMA,
    )
    print(ChatClient(OfflineChatModel()).prompt("What is the weather in Oslo?").tools(weather).call().content())
    try:
        weather.call('{"city": "Oslo", "unit": "K"}')
    except ToolExecutionException as error:
        print(error)


if __name__ == "__main__":
    main()
