"""Turns of the offline model: rounds, answers, and the sentence that says what it is."""

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest

from vernal import (
    AssistantMessage,
    ChatOptions,
    DefaultToolCallingManager,
    Message,
    OfflineChatModel,
    Prompt,
    SystemMessage,
    ToolCall,
    ToolCallingChatOptions,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
    tool,
    tool_callbacks,
)
from vernal.values.replay import replay_faults


class Assistant:
    """Tools of several kinds, and a list of what they did."""

    def __init__(self) -> None:
        self.done: list[str] = []

    @tool
    def get_weather(self, city: str) -> str:
        """Current weather of a city."""
        self.done.append(f"weather {city}")
        if city == "Atlantis":
            raise ValueError("there is no Atlantis")
        return f"18 °C and cloudy in {city}"

    @tool
    def find_customer(self, name: str) -> dict[str, Any]:
        """Find a customer by name."""
        return {"id": 7, "name": name, "vip": True, "notes": None}

    @tool
    def get_orders(self, customer_id: int) -> list[dict[str, Any]]:
        """Orders of a customer."""
        return [{"order_id": 17, "total": 9.5}, {"order_id": 18, "tags": ["new", "open"]}]

    @tool
    def send_email(self, to: str, subject: str, body: str) -> None:
        """Send an e-mail."""
        self.done.append(f"email {to}: {body}")

    @tool
    def get_time(self) -> str:
        """Current time."""
        return "10:00"


CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "activities": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["city", "days", "activities"],
}
CUSTOMER = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "mood": {"enum": ["calm", "angry"]}},
    "required": ["id", "name", "mood"],
}


def turn(messages: str | list[Message], assistant: Assistant | None = None, **options: Any) -> tuple[list[str], str]:
    """The calls of a turn, one text a round, and its answer."""
    tools = tool_callbacks(assistant or Assistant())
    asked = ToolCallingChatOptions(tool_callbacks=tools, **options)
    model, manager = OfflineChatModel(today="2025-03-05"), DefaultToolCallingManager()
    prompt = Prompt(messages, asked)
    rounds: list[str] = []
    while (response := model.call(prompt)).has_tool_calls:
        assert response.finish_reason == "tool_calls"
        rounds.append(" ".join(f"{call.name} {call.arguments}" for call in response.tool_calls))
        prompt = Prompt(manager.execute_tool_calls(prompt, response).conversation_history, asked)
        assert replay_faults(prompt.messages) == []
    assert response.finish_reason == "stop"
    return rounds, response.text or ""


def test_parallel_calls_and_one_answer() -> None:
    """Two cities are two calls of one round, and sentences that tools give stand as they are."""
    rounds, answer = turn("What is the weather in Amsterdam and Paris?")
    assert rounds == ['get_weather {"city": "Amsterdam"} get_weather {"city": "Paris"}']
    assert answer == "18 °C and cloudy in Amsterdam\n18 °C and cloudy in Paris"


def test_results_that_are_json_are_worded() -> None:
    """Objects become `key: value`, lists of them lines, and each result is named after its call."""
    _, answer = turn("Show the orders of customer Alice")
    assert answer == (
        'find_customer(name="Alice"): id: 7, name: Alice, vip: yes, notes: none\n'
        "get_orders(customer_id=7):\n- order id: 17, total: 9.5\n- order id: 18, tags: new, open"
    )


def test_errors_are_said_plainly_and_not_tried_again() -> None:
    """A failed call is named with what the tool said, and no call is made twice in a turn."""
    assistant = Assistant()
    rounds, answer = turn("What is the weather in Atlantis?", assistant)
    assert (len(rounds), assistant.done) == (1, ["weather Atlantis"])
    assert answer == 'get_weather(city="Atlantis") failed: there is no Atlantis'


def test_a_second_tool_takes_what_the_first_gave() -> None:
    """An id that only another tool knows is looked up first; a text to be sent is the result of the tool before."""
    rounds, _ = turn("Show the orders of customer Alice")
    assert rounds == ['find_customer {"name": "Alice"}', 'get_orders {"customer_id": 7}']
    assistant = Assistant()
    turn("Get the weather in Paris and email it to bob@example.com", assistant)
    assert assistant.done == ["weather Paris", "email bob@example.com: 18 °C and cloudy in Paris"]


def test_a_lookup_that_fails_is_followed_by_nothing() -> None:
    """Where the first tool failed, the second is not called with a guess."""
    assistant = Assistant()
    rounds, answer = turn("Get the weather in Atlantis and email it to bob@example.com", assistant)
    assert (len(rounds), assistant.done) == (1, ["weather Atlantis"])
    assert "failed" in answer


def test_tool_choice_none_calls_nothing() -> None:
    """With `tool_choice` "none" the answer says that tools are switched off."""
    rounds, answer = turn("What is the weather in Oslo?", tool_choice="none")
    assert rounds == []
    assert "switched off" in answer


def test_tool_choice_required_calls_something() -> None:
    """With `tool_choice` "required" a tool is called though nothing matches, once, with valid arguments."""
    rounds, _ = turn("hello", tool_choice="required")
    assert rounds == ['get_weather {"city": "unknown"}']


def test_tool_choice_by_name() -> None:
    """The tool that `tool_choice` names is the only one; a name that is not on offer is said so."""
    assert turn("What is the weather in Oslo?", tool_choice="get_time")[0] == ["get_time {}"]
    rounds, answer = turn("What is the weather in Oslo?", tool_choice="get_moon")
    assert rounds == []
    assert "'get_moon', which tool_choice names, is not among the tools on offer" in answer


def test_without_parallel_calls_each_round_has_one() -> None:
    """`parallel_tool_calls=False` gives the same calls, one a round."""
    rounds, _ = turn("What is the weather in Oslo, Rome and Bergen?", parallel_tool_calls=False)
    assert [json.loads(each.removeprefix("get_weather "))["city"] for each in rounds] == ["Oslo", "Rome", "Bergen"]


def test_only_the_last_user_message_is_answered() -> None:
    """What was asked and answered before is not asked again; a prompt without a tool's word follows up the last one."""
    before: list[Message] = [
        UserMessage("What is the weather in Rome?"),
        AssistantMessage(None, [ToolCall("call_1", "get_weather", '{"city": "Rome"}')]),
        ToolResponseMessage([ToolResponse("call_1", "get_weather", "18 °C and cloudy in Rome")]),
        AssistantMessage("18 °C and cloudy in Rome"),
    ]
    assert turn([*before, UserMessage("And in Oslo?")])[0] == ['get_weather {"city": "Oslo"}']
    call = OfflineChatModel().call(Prompt([*before, UserMessage("And in Oslo?")], offered())).tool_calls[0]
    assert call.id == "call_2"


def test_ids_are_unique_in_a_conversation_and_the_same_in_a_second_run() -> None:
    """The model is deterministic: the same prompt gives equal responses, call ids included."""
    prompt = Prompt("What is the weather in Oslo, Rome and Bergen?", offered())
    first, second = OfflineChatModel().call(prompt), OfflineChatModel().call(prompt)
    assert first == second
    assert [call.id for call in first.tool_calls] == ["call_1", "call_2", "call_3"]


def test_it_streams_word_by_word() -> None:
    """The words of a stream are the text of the call; finish reason and usage come with the last."""
    model = OfflineChatModel()
    chunks = list(model.stream(Prompt("Hello")))
    whole = model.call(Prompt("Hello"))
    assert "".join(chunk.text or "" for chunk in chunks) == whole.text
    assert all(len((chunk.text or "").split()) == 1 for chunk in chunks)
    assert [chunk.finish_reason for chunk in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    assert chunks[-1].usage == whole.usage


def test_tool_calls_are_streamed_whole() -> None:
    """AGG-04: a round of tool calls is one chunk, equal to the response of the call."""
    prompt = Prompt("What is the weather in Oslo and Rome?", offered())
    assert list(OfflineChatModel().stream(prompt)) == [OfflineChatModel().call(prompt)]


def test_usage_counts_words() -> None:
    """A token is a word: of all messages for the input, of the text or the calls for the output."""
    prompt = Prompt([SystemMessage("Be brief."), UserMessage("The weather in Oslo?")], offered())
    usage = OfflineChatModel().call(prompt).usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (6, len(["get_weather", '{"city":', '"Oslo"}']))


def test_without_a_match_it_says_what_it_is() -> None:
    """The answer names the model for what it is, what was recognised, what was on offer, and how to get a real one."""
    _, answer = turn("Compose a sonnet about Ada Lovelace")
    for part in ("offline model", "Ada Lovelace", "get_weather, find_customer", "VERNAL_CHAT__MODEL", "OPENAI_API_KEY"):
        assert part in answer
    assert "No tool was offered" in (OfflineChatModel().call(Prompt("Compose a sonnet")).text or "")
    assert "no text" in (OfflineChatModel().call(Prompt([])).text or "")


def test_a_missing_argument_is_named() -> None:
    """A tool that fits but cannot be filled is named with what is missing."""
    rounds, answer = turn("What's the weather?")
    assert rounds == []
    assert "get_weather seems to fit, but I found no value for city" in answer


def test_output_of_a_schema_from_the_prompt() -> None:
    """`output_schema` is filled from the prompt; what is not said is the least value that is allowed."""
    options = ChatOptions(output_schema=CITY)
    said = OfflineChatModel().call(Prompt("Plan 3 days in Oslo with museums, skiing and sauna", options))
    unsaid = OfflineChatModel().call(Prompt("Oslo", options))
    assert json.loads(said.text or "") == {"city": "Oslo", "days": 3, "activities": ["museums", "skiing", "sauna"]}
    assert json.loads(unsaid.text or "") == {"city": "Oslo", "days": 0, "activities": []}


def test_output_of_a_schema_from_the_results() -> None:
    """What tools gave comes before what the prompt says; for a list, each result gives an item."""
    _, one = turn("Find customer Alice, she is angry", output_schema=CUSTOMER)
    assert json.loads(one) == {"id": 7, "name": "Alice", "mood": "angry"}
    _, two = turn("Find customers Alice and Bob", output_schema={"type": "array", "items": CUSTOMER})
    assert [each["name"] for each in json.loads(two)] == ["Alice", "Bob"]


def test_where_every_tool_failed_no_values_are_invented() -> None:
    """With an output schema too, the failure is said, and not papered over with invented JSON."""
    _, answer = turn("What is the weather in Atlantis?", output_schema=CITY)
    assert answer == 'get_weather(city="Atlantis") failed: there is no Atlantis'


def test_a_schema_in_the_instruction_counts_like_an_option() -> None:
    """A JSON schema beside the word JSON in the prompt is honoured, and is itself no source of values."""
    schema = json.dumps(CITY, indent=2)
    instruction = f"Your response should be in JSON format.\nIt must follow this schema:\n```{schema}```"
    answer = OfflineChatModel().call(Prompt(f"Two days in Oslo\n\n{instruction}"))
    assert json.loads(answer.text or "") == {"city": "Oslo", "days": 2, "activities": []}
    system = OfflineChatModel().call(Prompt([SystemMessage(instruction), UserMessage("Two days in Oslo")]))
    first = OfflineChatModel().call(Prompt(f"{instruction}\n\nTwo days in Oslo"))
    assert answer.text == system.text == first.text


def test_results_of_any_language_come_back_unharmed() -> None:
    """Unicode in prompts, arguments and results is kept as it is."""
    rounds, answer = turn("What is the weather in 京都?")
    assert rounds == ['get_weather {"city": "京都"}']
    assert answer == "18 °C and cloudy in 京都"


def test_today_can_be_pinned() -> None:
    """`today` is an ISO date; anything else is refused with an example."""
    with pytest.raises(ValueError, match="today is 'tomorrow'; an ISO date such as"):
        OfflineChatModel(today="tomorrow")


def test_it_runs_on_an_event_loop() -> None:
    """The asynchronous face gives what the blocking one gives."""
    prompt = Prompt("What is the weather in Oslo?", offered())
    assert asyncio.run(OfflineChatModel().acall(prompt)) == OfflineChatModel().call(prompt)


def test_a_very_long_prompt_is_read_in_part() -> None:
    """Only the first 4,000 characters are read, so that a long document beside a question costs nothing."""
    rounds, _ = turn("What is the weather in Oslo?\n\n" + "Paris, [[{ 1 - " * 40_000)
    assert rounds[0].startswith('get_weather {"city": "Oslo"}')


def test_importing_it_loads_nothing_heavy() -> None:
    """The module needs the standard library alone, also when it answers."""
    code = (
        "import sys; from vernal.models.offline import OfflineChatModel; from vernal.values.prompt import Prompt;"
        "OfflineChatModel().call(Prompt('Hello')); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"pydantic", "jsonschema", "httpx", "dependency_injector"}.isdisjoint(done.stdout.split())


def offered() -> ToolCallingChatOptions:
    return ToolCallingChatOptions(tool_callbacks=tool_callbacks(Assistant()))
