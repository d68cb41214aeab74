"""What the model reads of a tool's result: JSON by default, here a table, which costs fewer tokens.

Run: python examples/result_converter.py

Prints:
    [{"city":"Oslo","degrees":18},{"city":"Rome","degrees":27}]
    city | degrees
    Oslo | 18
    Rome | 27
"""

from typing import Any

from vernal import ToolCallResultConverter, tool, tool_callbacks

Rows = list[dict[str, Any]]

ROWS: Rows = [{"city": "Oslo", "degrees": 18}, {"city": "Rome", "degrees": 27}]


class TableConverter(ToolCallResultConverter):
    def convert(self, result: Rows, return_type: Any) -> str:
        lines = [list(result[0]), *(row.values() for row in result)] if result else []
        return "\n".join(" | ".join(str(cell) for cell in line) for line in lines)


class WeatherTools:
    @tool
    def as_json(self) -> Rows:
        """The weather everywhere."""
        return ROWS

    @tool(result_converter=TableConverter())
    def as_table(self) -> Rows:
        """The weather everywhere."""
        return ROWS


def main() -> None:
    for callback in tool_callbacks(WeatherTools()):
        print(callback.call("{}"))


if __name__ == "__main__":
    main()
