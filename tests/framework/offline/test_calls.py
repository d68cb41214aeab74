"""Which tools the offline model calls for a prompt, and with which arguments."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from vernal.models.offline import OfflineChatModel
from vernal.tools.callback import ToolCallback
from vernal.tools.context import ToolContext
from vernal.tools.definition import ToolDefinition
from vernal.values.options import ToolCallingChatOptions
from vernal.values.prompt import Prompt

HERE = Path(__file__).parent

STRING: dict[str, Any] = {"type": "string"}
INTEGER: dict[str, Any] = {"type": "integer"}
NUMBER: dict[str, Any] = {"type": "number"}
BOOLEAN: dict[str, Any] = {"type": "boolean"}


class OfferedTool(ToolCallback):
    """A tool that is only offered, never run."""

    def __init__(self, definition: ToolDefinition) -> None:
        self._definition = definition

    @property
    def definition(self) -> ToolDefinition:
        return self._definition

    def call(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
        raise AssertionError("a model never runs a tool")


def tool(
    name: str,
    description: str,
    needed: dict[str, Any] | None = None,
    optional: dict[str, Any] | None = None,
    defs: dict[str, Any] | None = None,
) -> OfferedTool:
    properties = {**(needed or {}), **(optional or {})}
    schema = {"type": "object", "properties": properties, "required": list(needed or ()), "additionalProperties": False}
    return OfferedTool(ToolDefinition(name, description, {**schema, "$defs": defs or {}}))


def string(description: str = "", **keywords: Any) -> dict[str, Any]:
    return {**STRING, "description": description, **keywords}


def one_of(*values: str) -> dict[str, Any]:
    return {**STRING, "enum": list(values)}


def listed(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


HOME = [
    tool(
        "get_weather",
        "Current weather of a city.",
        {"city": string('Name of the city, such as "Amsterdam".')},
        {"units": one_of("celsius", "fahrenheit"), "days": {**INTEGER, "default": 1}},
    ),
    tool("get_forecast", "Weather forecast for the coming days.", {"location": STRING, "days": INTEGER}),
    tool("get_order", "Status of an order.", {"order_id": string("ID of the order")}),
    tool("cancel_order", "Cancel an order that has not been shipped.", {"order_id": STRING}),
    tool("refund", "Refund an order.", {"order": STRING, "amount": NUMBER}),
    tool("get_order_int", "Look up an order by number", {"order_id": INTEGER}),
    tool("add", "Add two numbers.", {"a": NUMBER, "b": NUMBER}),
    tool("multiply", "Multiply two numbers.", {"a": NUMBER, "b": NUMBER}),
    tool("calculate", "Evaluate an arithmetic expression.", {"expression": STRING}),
    tool("sum_numbers", "Sum of a list of numbers", {"numbers": listed(NUMBER)}),
    tool("get_time", "Current time."),
    tool("get_time_in", "Current time in a time zone.", {"timezone": string("IANA time zone")}),
    tool(
        "convert_currency",
        "Convert an amount from one currency to another.",
        {"amount": NUMBER, "from_currency": STRING, "to_currency": STRING},
    ),
    tool(
        "convert_temp",
        "Convert a temperature",
        {
            "value": NUMBER,
            "from_unit": one_of("celsius", "fahrenheit", "kelvin"),
            "to_unit": one_of("celsius", "fahrenheit", "kelvin"),
        },
    ),
    tool("add_items", "Add items to the shopping list.", {"items": listed(STRING)}),
    tool(
        "add_todo",
        "Add an entry to the todo list.",
        {"title": STRING},
        {"priority": one_of("low", "medium", "high"), "due": string(format="date")},
    ),
    tool(
        "create_event",
        "Create a calendar event.",
        {"title": STRING, "date": string(format="date")},
        {"time": string(format="time"), "attendees": listed(STRING)},
    ),
    tool("set_reminder", "Set a reminder.", {"text": string("What to be reminded of")}, {"when": STRING}),
    tool(
        "send_email",
        "Send an e-mail.",
        {"to": string("E-mail address of the recipient"), "subject": STRING, "body": STRING},
    ),
    tool("send_message", "Send a message to a person.", {"recipient": STRING, "message": STRING}),
    tool("search_web", "Search the web.", {"query": string("Search query")}, {"limit": {**INTEGER, "default": 5}}),
    tool("read_file", "Read the contents of a file.", {"path": STRING}),
    tool("list_files", "List files of a directory.", {}, {"directory": STRING}),
    tool("set_light", "Turn a light on or off.", {"room": STRING, "on": BOOLEAN}),
    tool(
        "set_brightness",
        "Set brightness of the lamp in percent",
        {"room": STRING, "percent": {**INTEGER, "minimum": 0, "maximum": 100}},
    ),
    tool("translate", "Translate a text.", {"text": STRING, "target_language": STRING}),
    tool(
        "book_flight",
        "Book a flight.",
        {"origin": STRING, "destination": STRING, "date": string(format="date")},
        {"passengers": {**INTEGER, "default": 1}, "travel_class": one_of("economy", "business", "first")},
    ),
    tool(
        "create_user",
        "Create a user account.",
        {"name": STRING, "email": string(format="email")},
        {"age": INTEGER, "admin": BOOLEAN},
    ),
    tool(
        "place_order",
        "Place an order for products.",
        {
            "lines": listed(
                {
                    "type": "object",
                    "properties": {"quantity": INTEGER, "product": STRING},
                    "required": ["quantity", "product"],
                }
            )
        },
        {
            "address": {
                "type": "object",
                "properties": {"street": STRING, "city": STRING, "zip": STRING},
                "required": ["city"],
            }
        },
    ),
    tool(
        "ship",
        "Ship an order to an address",
        {"order_id": STRING, "address": {"$ref": "#/$defs/Address"}},
        defs={"Address": {"type": "object", "properties": {"street": STRING, "city": STRING}, "required": ["city"]}},
    ),
    tool("get_stock_price", "Price of a stock.", {"symbol": string("Ticker symbol, e.g. AAPL")}),
    tool("get_distance", "Distance between two cities in km", {"origin": STRING, "destination": STRING}),
    tool("open_url", "Open a web page", {"url": string(format="uri")}),
    tool("play_song", "Play a song.", {"title": STRING}, {"artist": STRING}),
    tool("roll_dice", "Roll dice.", {"sides": INTEGER, "count": INTEGER}),
    tool("find_customer", "Find a customer by name.", {"name": STRING}),
    tool("get_orders", "Orders of a customer.", {"customer_id": INTEGER}),
    tool("define_word", "Definition of a word", {"word": STRING}),
    tool("set_alarm", "Set an alarm.", {"time": string(format="time")}),
    tool("start_timer", "Start a timer.", {"minutes": INTEGER}),
    tool("get_news", "Latest news about a topic.", {"topic": STRING}),
    tool("wetter", "Das aktuelle Wetter in einer Stadt", {"stadt": STRING}),
    tool("weather_zh", "查询城市的天气", {"city": string("城市名称")}),
]
OFFICE = [
    tool("get_user_info", "Information about a user.", {"user_id": INTEGER}),
    tool("set_temperature", "Set the thermostat.", {"degrees": NUMBER}, {"room": STRING}),
    tool(
        "schedule_meeting",
        "Schedule a meeting.",
        {"participants": listed(STRING), "start": string(format="date-time"), "duration_minutes": INTEGER},
        {"topic": STRING},
    ),
    tool("tag_photo", "Add tags to a photo.", {"photo_id": STRING, "tags": listed(STRING)}),
    tool(
        "get_exchange_rate",
        "Exchange rate of two currencies.",
        {"base": string("Currency code"), "quote": string("Currency code")},
    ),
    tool("book_table", "Book a table at a restaurant.", {"restaurant": STRING, "people": INTEGER, "time": STRING}),
    tool("get_joke", "A joke.", {}, {"category": one_of("programming", "misc", "pun")}),
    tool("square_root", "Square root of a number.", {"x": NUMBER}),
    tool("bmi", "Body mass index.", {"weight_kg": NUMBER, "height_m": NUMBER}),
    tool("is_prime", "Whether a number is prime.", {"n": INTEGER}),
    tool("reverse_string", "Reverse a string.", {"text": STRING}),
    tool("count_words", "Count the words of a text.", {"text": STRING}),
    tool("random_number", "A random number.", {"minimum": INTEGER, "maximum": INTEGER}),
    tool("get_capital", "Capital of a country.", {"country": STRING}),
    tool("get_population", "Population of a country or city.", {"place": STRING}),
    tool(
        "days_between",
        "Number of days between two dates.",
        {"start": string(format="date"), "end": string(format="date")},
    ),
    tool(
        "deploy",
        "Deploy a service.",
        {"service": STRING, "environment": one_of("dev", "staging", "production")},
        {"dry_run": {**BOOLEAN, "default": False}},
    ),
    tool("run_query", "Run an SQL query.", {"sql": STRING}),
    tool("subscribe", "Subscribe to the newsletter.", {"email": STRING}, {"weekly": BOOLEAN}),
    tool(
        "transfer", "Transfer money between accounts.", {"from_account": STRING, "to_account": STRING, "amount": NUMBER}
    ),
    tool("get_balance", "Balance of an account.", {"account": STRING}),
    tool("rate_movie", "Rate a movie.", {"title": STRING, "stars": {**INTEGER, "minimum": 1, "maximum": 5}}),
    tool(
        "get_route",
        "Route between two places.",
        {"start": STRING, "end": STRING},
        {"mode": one_of("car", "bike", "walk")},
    ),
    tool("switch_device", "Switch a device on or off.", {"device": STRING, "on": BOOLEAN}),
    tool("get_horoscope", "Horoscope of a sign.", {"sign": one_of("aries", "taurus", "leo")}),
    tool("convert_units", "Convert between units.", {"value": NUMBER, "from_unit": STRING, "to_unit": STRING}),
    tool("find_restaurants", "Find restaurants.", {"cuisine": STRING, "city": STRING}, {"max_price": NUMBER}),
    tool("set_volume", "Set the volume.", {"level": {**INTEGER, "minimum": 0, "maximum": 100}}),
    tool("track_parcel", "Track a parcel.", {"tracking_number": STRING}),
    tool("delete_file", "Delete a file.", {"path": STRING}),
    tool(
        "create_issue",
        "Create an issue.",
        {"title": STRING},
        {"labels": listed(one_of("bug", "docs", "feature")), "assignee": STRING},
    ),
    tool("pay_invoice", "Pay an invoice.", {"invoice": STRING, "amount": NUMBER, "currency": one_of("USD", "EUR")}),
    tool("say_hello", "Greet a person.", {"name": STRING}),
    tool("check_inventory", "Stock of a product in the warehouse.", {"product": STRING}),
    tool("apply_discount", "Apply a discount code", {"code": STRING, "percent": NUMBER}),
    tool(
        "log_workout",
        "Log a workout.",
        {"exercise": STRING, "minutes": INTEGER},
        {"intensity": one_of("low", "medium", "high")},
    ),
    tool(
        "add_contact",
        "Add a contact to the address book.",
        {"name": STRING},
        {"phone": STRING, "email": STRING, "birthday": string(format="date")},
    ),
    tool("get_timezone", "Time zone of a city.", {"city": STRING}),
    tool("summarize", "Summarize a text.", {"text": STRING}, {"max_words": INTEGER}),
    tool("lookup_ip", "Location of an IP address.", {"ip": STRING}),
]
TOOLS = {each.definition.name: each for each in (*HOME, *OFFICE)}
ONLY_ALONE = ("get_order_int", "wetter", "weather_zh", "get_time_in")


def calls(prompt: str, tools: list[OfferedTool]) -> list[str]:
    """The calls that the model asks for, on 5 March 2025, a Wednesday, as they would be written in Python."""
    options = ToolCallingChatOptions(tool_callbacks=tools)
    response = asyncio.run(OfflineChatModel(today="2025-03-05").acall(Prompt(prompt, options)))
    return [f"{call.name}({written(call.arguments)})" for call in response.tool_calls] or ["-"]


def written(arguments: str) -> str:
    return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in json.loads(arguments).items())


def table(name: str) -> list[tuple[str, list[str]]]:
    """The prompts of a file, each with the calls that stand indented under it; "-" stands for none."""
    rows: list[tuple[str, list[str]]] = []
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            rows[-1][1].append(line.strip())
        else:
            rows.append((line, []))
    return rows


@pytest.mark.parametrize(("prompt", "expected"), table("few_tools.txt"))
def test_with_a_few_tools_on_offer(prompt: str, expected: list[str]) -> None:
    """An only tool is called whatever the words, if the prompt can fill it; in English, and sanely in other languages.

    The tools on offer stand in brackets behind the prompt.
    """
    text, names = prompt.removesuffix("]").rsplit("  [", 1)
    assert calls(text, [TOOLS[name] for name in names.split()]) == expected


@pytest.mark.parametrize(("prompt", "expected"), table("household.txt"))
def test_with_forty_tools_of_a_household_on_offer(prompt: str, expected: list[str]) -> None:
    """Among many tools those are called of which the prompt speaks, with the values that it names."""
    assert calls(prompt, [each for each in HOME if each.definition.name not in ONLY_ALONE]) == expected


@pytest.mark.parametrize(("prompt", "expected"), table("office.txt"))
def test_with_forty_tools_of_an_office_on_offer(prompt: str, expected: list[str]) -> None:
    """Among many tools those are called of which the prompt speaks, with the values that it names."""
    assert calls(prompt, OFFICE) == expected


def test_every_tool_is_called_by_some_prompt() -> None:
    """No tool of the tables stands there only to be passed over."""
    rows = [row for name in ("few_tools.txt", "household.txt", "office.txt") for row in table(name)]
    called = {call.split("(")[0] for _, expected in rows for call in expected}
    assert set(TOOLS) == called - {"-"}
