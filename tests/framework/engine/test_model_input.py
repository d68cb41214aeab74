"""Whatever the model sends (R5, R7, R8): it is told what is wrong, and the turn goes on."""

import json
from typing import TYPE_CHECKING, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import (
    AssistantMessage,
    ChatClient,
    ChatResponse,
    DefaultToolCallingManager,
    DefaultToolExecutionExceptionProcessor,
    Message,
    Prompt,
    ToolCall,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
    tool_callbacks,
)
from vernal.testing import ScriptedChatModel, chunks, tool_calls
from vernal.values.arguments import RAW_ARGUMENTS, is_json_object, normalise, parse_arguments
from vernal.values.replay import repair_calls

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Execute, Form


class Weather:
    """A tool that keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def forecast(self, city: str, days: int = 1, unit: Literal["C", "F"] = "C") -> str:
        """The forecast."""
        self.asked.append((city, days, unit))
        return "sun"

    def now(self) -> str:
        """What needs nothing."""
        self.asked.append("now")
        return "rain"


def ask(form: "Form", weather: Weather, *rounds: Any) -> tuple[ToolResponse, ...]:
    """Runs a turn under the strictest policy; gives the responses of its last round."""
    processor = DefaultToolExecutionExceptionProcessor(always_throw=True)
    manager = DefaultToolCallingManager(tool_execution_exception_processor=processor)
    model = ScriptedChatModel([*rounds, "Done."])
    client = ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(tool_calling_manager=manager)).build()
    assert form.ask(client.prompt("Go on.").tools(weather.forecast, weather.now)).text == "Done."
    last = model.requests[-1].messages[-1]
    assert isinstance(last, ToolResponseMessage)
    return last.responses


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{oops", "JSON object with the members city, days, unit"),
        ("[1]", "JSON object"),
        ('"Oslo"', "JSON object"),
        ("7", "JSON object"),
        ("", "city: missing"),
        ("null", "city: missing"),
        ("{}", "city: missing"),
        ('{"city": 7}', "city: 7 was given; wanted: string"),
        ('{"city": "Oslo", "days": "soon"}', 'days: "soon" was given; wanted: integer'),
        ('{"city": "Oslo", "unit": "K"}', "'C' or 'F'"),
        ('{"city": "Oslo", "days": NaN}', "JSON object"),
        ("[" * 100_000, "JSON object"),
    ],
)
def test_arguments_that_do_not_bind_are_told_to_the_model(form: "Form", text: str, told: str) -> None:
    """R5: which field, why, what is allowed; the tool does not run, and the run does not end, whatever the policy."""
    weather = Weather()
    [response] = ask(form, weather, ToolCall("1", "forecast", text))
    assert response.is_error
    assert told in response.data
    assert weather.asked == []
    for internal in ("pydantic", "Traceback", "JSONDecodeError", "ValidationError", "jsonschema"):
        assert internal not in response.data


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ('```json\n{"city": "Oslo"}\n```', ("Oslo", 1, "C")),
        ('```\n{"city": "Oslo"}```', ("Oslo", 1, "C")),
        ('"{\\"city\\": \\"Oslo\\"}"', ("Oslo", 1, "C")),
        ('{"city": "Oslo", "days": "3"}', ("Oslo", 3, "C")),
        ('{"city": "Oslo", "days": 3.0}', ("Oslo", 3, "C")),
        ('{"city": "Oslo", "days": null}', ("Oslo", 1, "C")),
    ],
)
def test_harmless_forms_are_accepted(form: "Form", text: str, asked: tuple[str, int, str]) -> None:
    """R5: what plainly means the right thing runs, and is stored as JSON that any service takes."""
    weather = Weather()
    [response] = ask(form, weather, ToolCall("1", "forecast", text))
    assert (response.data, response.is_error) == ("sun", False)
    assert weather.asked == [asked]


@pytest.mark.parametrize("text", ["", " ", "null", "{}", "```\nnull\n```"])
def test_blank_arguments_run_what_needs_nothing(form: "Form", text: str) -> None:
    """R5: and nothing else."""
    weather = Weather()
    now, forecast = ask(form, weather, tool_calls(ToolCall("1", "now", text), ToolCall("2", "forecast", text)))
    assert (now.data, now.is_error) == ("rain", False)
    assert forecast.is_error
    assert weather.asked == ["now"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=8,
)


@given(text=st.text(max_size=40) | st.from_regex(r"[\[\]{}\",:0-9a-z ]{0,20}", fullmatch=True))
def test_whatever_was_sent_is_stored_as_an_object(text: str) -> None:
    """R1, R5: valid JSON objects stay to the byte, unparsable texts become `{}` with the raw text beside it."""
    stored, arguments = normalise(ToolCall("1", "forecast", text))
    assert is_json_object(stored.arguments)
    assert arguments == parse_arguments(text)
    if is_json_object(text) and arguments is not None:
        assert stored.arguments == text
    if arguments is None:
        assert stored.arguments == "{}"
        assert stored.metadata[RAW_ARGUMENTS] == text
    assert normalise(stored)[0].arguments == stored.arguments


@given(arguments=st.dictionaries(st.text(), JSON, max_size=4), form=st.sampled_from(["plain", "fenced", "twice"]))
def test_an_object_means_itself_in_each_harmless_form(arguments: dict[str, Any], form: str) -> None:
    """R5: as it is, in a fenced block, or encoded twice."""
    text = json.dumps(arguments)
    text = {"plain": text, "fenced": f"```json\n{text}\n```", "twice": json.dumps(text)}[form]
    assert parse_arguments(text) == arguments


def test_what_is_stored_of_a_harmless_form_stays_readable() -> None:
    """R5: letters beyond ASCII are kept as they are."""
    assert normalise(ToolCall("1", "forecast", '```{"city": "Tromsø"}```'))[0].arguments == '{"city": "Tromsø"}'


def test_an_unknown_name_is_answered_with_the_tools_on_offer(form: "Form") -> None:
    """R7: the model can choose again; its other calls are not lost."""
    weather = Weather()
    responses = ask(form, weather, tool_calls(ToolCall("1", "weather_forecast"), ToolCall("2", "now")))
    assert [(r.data, r.is_error) for r in responses] == [
        ("There is no tool 'weather_forecast'. Available tools: forecast, now.", True),
        ("rain", False),
    ]


def ids(messages: tuple[Message, ...]) -> tuple[list[str], list[str]]:
    """The ids of all calls and of all responses."""
    calls = [call.id for m in messages if isinstance(m, AssistantMessage) for call in m.tool_calls]
    return calls, [r.id for m in messages if isinstance(m, ToolResponseMessage) for r in m.responses]


@pytest.mark.parametrize(
    ("given_ids", "kept"),
    [(["a", "b"], ["a", "b"]), (["", ""], []), (["a", "a"], ["a"]), ([" ", "a"], ["a"]), (["a", "", "a"], ["a"])],
)
def test_bad_ids_are_repaired_in_both_messages(form: "Form", given_ids: list[str], kept: list[str]) -> None:
    """R8: blank and repeated ids become unique ones, the same on the call and on its response; good ones stay."""
    weather = Weather()
    calls = [ToolCall(call_id, "forecast", f'{{"city": "{n}"}}') for n, call_id in enumerate(given_ids)]
    model = ScriptedChatModel([ChatResponse.of(tool_calls=calls), "Done."])
    form.ask(ChatClient(model).prompt("Go on.").tools(weather.forecast))
    of_calls, of_responses = ids(model.requests[-1].messages)
    assert of_calls == of_responses
    assert len(set(of_calls)) == len(given_ids)
    assert all(call_id.strip() for call_id in of_calls)
    assert [call_id for call_id in of_calls if call_id in given_ids] == kept


def test_an_id_that_was_used_before_is_not_used_again(form: "Form") -> None:
    """R8: a model that numbers its calls anew in each round, and in the history that it was given."""
    weather = Weather()
    earlier = [
        UserMessage("Before."),
        AssistantMessage(tool_calls=[ToolCall("call_0", "now")]),
        ToolResponseMessage([ToolResponse("call_0", "now", "rain")]),
    ]
    rounds = [ChatResponse.of(tool_calls=[ToolCall("call_0", "forecast", f'{{"city": "{n}"}}')]) for n in range(3)]
    model = ScriptedChatModel([*rounds, "Done."])
    form.ask(ChatClient(model).prompt("Go on.").messages(*earlier).tools(weather.forecast))
    of_calls, of_responses = ids(model.requests[-1].messages)
    assert of_calls == of_responses
    assert len(set(of_calls)) == 4
    assert len(weather.asked) == 3


def test_ids_are_unique_over_the_chunks_of_a_stream(form: "Form") -> None:
    """R8: two calls in two chunks with the same id are two calls."""
    weather = Weather()
    one, two = (ToolCall("x", "forecast", f'{{"city": "{city}"}}') for city in ("Oslo", "Rome"))
    model = ScriptedChatModel([chunks(one, two), "Done."])
    form.ask(ChatClient(model).prompt("Go on.").tools(weather.forecast))
    of_calls, of_responses = ids(model.requests[-1].messages)
    assert of_calls == of_responses
    assert len(set(of_calls)) == 2
    assert sorted(city for city, _, _ in weather.asked) == ["Oslo", "Rome"]


def test_calls_are_answered_by_id_not_by_name(execute: "Execute") -> None:
    """R8: two calls of one tool get the answer of their own arguments."""

    def double(n: int) -> int:
        return 2 * n

    calls = [ToolCall("b", "double", '{"n": 1}'), ToolCall("a", "double", '{"n": 2}')]
    prompt = Prompt("Go on.", ToolCallingChatOptions(tool_callbacks=tool_callbacks(double)))
    result = execute(DefaultToolCallingManager(), prompt, ChatResponse.of(tool_calls=calls))
    last = result.conversation_history[-1]
    assert isinstance(last, ToolResponseMessage)
    assert {response.id: response.data for response in last.responses} == {"b": "2", "a": "4"}


@given(given_ids=st.lists(st.sampled_from(["", " ", "a", "b", "c"]), max_size=8), used=st.sets(st.sampled_from("abc")))
def test_repaired_ids_are_unique_and_new(given_ids: list[str], used: set[str]) -> None:
    """R8: whatever ids are given, and whichever are in use; a response that is in order is given back itself."""
    response = ChatResponse.of(tool_calls=[ToolCall(call_id, "now") for call_id in given_ids])
    known = set(used)
    repaired = repair_calls(response, known)
    new = [call.id for call in repaired.tool_calls]
    assert len(set(new)) == len(given_ids)
    assert not set(new) & used
    assert known == used | set(new)
    in_order = new == given_ids
    assert (repaired is response) is in_order
    for old, call_id in zip(given_ids, new, strict=True):
        assert call_id == old or not old.strip() or old in used or given_ids.count(old) > 1
