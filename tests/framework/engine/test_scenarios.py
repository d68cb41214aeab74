"""Whole conversations about the weather in three cities, as users would write them."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    AdvisorChain,
    BaseAdvisor,
    ChatClient,
    ChatClientRequest,
    ChatResponse,
    DefaultToolCallingManager,
    MessageAggregator,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    Prompt,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
    ToolCallLimits,
    ToolResponseMessage,
    tool,
    tool_callbacks,
)
from vernal.testing import ScriptedChatModel, assert_replayable, chunks, tool_call, tool_calls

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form

CITIES = {"San Francisco": 30, "Tokyo": 10, "Paris": 15}
QUESTION = "What is the weather in San Francisco, Tokyo and Paris?"


class Weather:
    """Knows three cities."""

    @tool
    def get_current_weather(self, city: str) -> dict[str, Any]:
        """The weather of a city."""
        return {"temp": CITIES[city], "unit": "C"}

    @tool(return_direct=True)
    def get_raw_weather(self, city: str) -> dict[str, Any]:
        """The weather of a city, as it is."""
        return {"temp": CITIES[city], "unit": "C"}


def summary(prompt: Prompt) -> str:
    """What a model would make of the tool responses in its prompt: the temperatures."""
    data = [r.data for m in prompt.messages if isinstance(m, ToolResponseMessage) for r in m.responses]
    return "The temperatures are " + ", ".join(str(json.loads(text)["temp"]) for text in data)


def at_once() -> ScriptedChatModel:
    """Asks for all cities in one round."""
    calls = [tool_call("get_current_weather", city=city) for city in CITIES]
    return ScriptedChatModel([tool_calls(*calls), summary])


def one_by_one() -> ScriptedChatModel:
    """Asks for each city in a round of its own."""
    return ScriptedChatModel([*(tool_call("get_current_weather", city=city) for city in CITIES), summary])


MODELS = pytest.mark.parametrize("make", [at_once, one_by_one])


@MODELS
def test_all_cities_are_in_the_answer(form: "Form", make: Callable[[], ScriptedChatModel]) -> None:
    """Calls in parallel and in a row both reach the model's answer (TCI-01)."""
    outcome = form.ask(ChatClient(make()).prompt(QUESTION).tools(Weather()))
    assert outcome.text == "The temperatures are 30, 10, 15"


@MODELS
@pytest.mark.parametrize("window", [500, 20])
@pytest.mark.parametrize("explicit", [True, False])
def test_memory_inside_the_loop(
    form: "Form", make: Callable[[], ScriptedChatModel], window: int, explicit: bool
) -> None:
    """The answer is the same and no message comes twice (TCI-02, TCI-03, TCI-04).

    With an explicit loop whose history is disabled and with the registered one, with a wide window and the default.
    """
    memory, model = MessageWindowChatMemory(max_messages=window), make()
    inside = MessageChatMemoryAdvisor(chat_memory=memory, memory_order=1000)
    spec = ChatClient(model).prompt(QUESTION).tools(Weather()).advisors(inside, conversation_id="1")
    if explicit:
        spec.advisors(ToolCallingAdvisor(conversation_history_enabled=False))
    outcome = form.ask(spec)
    assert outcome.text == "The temperatures are 30, 10, 15"
    for request in model.requests:
        assert len(set(map(id, request.messages))) == len(set(map(repr, request.messages))) == len(request.messages)
    remembered = memory.get("1")
    assert_replayable(remembered)
    assert remembered[:-1] == list(model.requests[-1].messages)
    assert remembered[-1].text == outcome.text


def test_a_direct_tool_answers_itself(form: "Form") -> None:
    """The caller gets the tool's own JSON, and the model is not asked again (TCI-05)."""
    model = ScriptedChatModel([tool_call("get_raw_weather", city="Paris")])
    outcome = form.ask(ChatClient(model).prompt("Weather in Paris?").tools(Weather()))
    assert json.loads(outcome.text) == {"temp": 15, "unit": "C"}
    assert len(model.requests) == 1


@dataclass(kw_only=True, eq=False)
class Watching(BaseAdvisor):
    """Keeps the requests that pass inside the loop."""

    order = 1
    requests: list[ChatClientRequest] = field(default_factory=list)

    async def before(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        self.requests.append(request)
        return request


@MODELS
def test_an_advisor_inside_sees_the_tool_responses(form: "Form", make: Callable[[], ScriptedChatModel]) -> None:
    """From its second request on a tool response is among the messages (TCI-06)."""
    watching = Watching()
    form.ask(ChatClient(make()).prompt(QUESTION).tools(Weather()).advisors(watching))
    first, *later = ([type(m) for m in request.prompt.messages] for request in watching.requests)
    assert ToolResponseMessage not in first
    assert later
    assert all(ToolResponseMessage in kinds for kinds in later)


@MODELS
def test_the_loop_by_hand_with_the_client(form: "Form", make: Callable[[], ScriptedChatModel]) -> None:
    """With the loop left out the user drives it, from calls and from streams aggregated per round (TCI-07)."""
    client, manager = ChatClient(make()), DefaultToolCallingManager()
    options = ToolCallingChatOptions(tool_callbacks=tool_callbacks(Weather()))
    prompt = Prompt(QUESTION, options)

    def ask(prompt: Prompt) -> ChatResponse:
        return form.ask(client.prompt(prompt).advisors(tool_calling_advisor_auto_register=False)).chat_response

    response = ask(prompt)
    while response.has_tool_calls:
        result = manager.execute_tool_calls(prompt, response)
        prompt = Prompt(result.conversation_history, options)
        response = ask(prompt)
    assert response.text == "The temperatures are 30, 10, 15"
    assert_replayable(prompt.messages)


def test_the_loop_by_hand_with_the_model() -> None:
    """The model alone, streamed through an aggregator, drives the same loop (TCI-07)."""
    asked = chunks("Let me ", "see.", *(tool_call("get_current_weather", call_id=city, city=city) for city in CITIES))
    model, manager = ScriptedChatModel([asked, summary]), DefaultToolCallingManager()
    prompt = Prompt(QUESTION, ToolCallingChatOptions(tool_callbacks=tool_callbacks(Weather())))
    aggregator, texts = MessageAggregator(), list[str]()
    while True:
        texts += [chunk.text or "" for chunk in aggregator.over(model.stream(prompt))]
        if not aggregator.response.has_tool_calls:
            break
        result = manager.execute_tool_calls(prompt, aggregator.response)
        prompt = Prompt(result.conversation_history, prompt.options)
    assert "".join(texts) == "Let me see.The temperatures are 30, 10, 15"
    assert aggregator.response.text == "The temperatures are 30, 10, 15"


@MODELS
def test_a_limit_of_one_call_ends_the_turn(form: "Form", make: Callable[[], ScriptedChatModel]) -> None:
    """Three calls under a limit of one give one answer that names the limit, asked at once or in a row (TCI-08)."""
    limits = ToolCallLimits(max_calls_per_tool={"get_current_weather": 1})
    advisor = ToolCallingAdvisor(tool_calling_manager=DefaultToolCallingManager(limits=limits))
    outcome = form.ask(ChatClient(make()).prompt(QUESTION).tools(Weather()).advisors(advisor))
    assert len(outcome.chat_response.generations) == 1
    assert "limit" in outcome.text
    assert outcome.chat_response.finish_reason == "toolCallLimitExceeded"
