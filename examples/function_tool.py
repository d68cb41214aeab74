"""Functions as tools: as they are, under a name and description given by hand, and with one object as their input.

Run: python examples/function_tool.py

Prints:
    add: Add two numbers. {"a": integer, "b": integer}
    convert_miles: Convert a length in miles into kilometres {"miles": number}
    book_table: Book a table in a restaurant {"place": string, "guests": integer}
    42 miles are 67.6 km
    a table for 4 at Chez Nous
"""

from dataclasses import dataclass

from vernal import ChatClient, FunctionToolCallback, OfflineChatModel, ToolCallback, tool_callbacks


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def kilometres(miles: float) -> str:
    return f"{miles:g} miles are {miles * 1.609:.1f} km"


@dataclass
class Booking:
    place: str
    guests: int


def book(booking: Booking) -> str:
    return f"a table for {booking.guests} at {booking.place}"


def describe(callback: ToolCallback) -> str:
    definition = callback.definition
    fields = ", ".join(f'"{name}": {field["type"]}' for name, field in definition.input_schema["properties"].items())
    return f"{definition.name}: {definition.description} {{{fields}}}"


def main() -> None:
    tools = tool_callbacks(
        add,
        FunctionToolCallback(
            kilometres,
            name="convert_miles",
            description="Convert a length in miles into kilometres",
        ),
        FunctionToolCallback(
            book,
            name="book_table",
            description="Book a table in a restaurant",
            input_type=Booking,
        ),
    )
    for callback in tools:
        print(describe(callback))
    client = ChatClient.builder(OfflineChatModel()).default_tools(*tools).build()
    print(client.prompt("Convert a length of 42 miles").call().content())
    print(client.prompt('Book a table for 4 guests, place "Chez Nous"').call().content())


if __name__ == "__main__":
    main()
