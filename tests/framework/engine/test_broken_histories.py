"""Conversations that others have made, cut or left behind reach the model so that it can answer (R1)."""

import logging
from collections.abc import Sequence

import pytest

from vernal import (
    HIGHEST_PRECEDENCE,
    AdvisorChain,
    AssistantMessage,
    BaseAdvisor,
    ChatClient,
    ChatClientRequest,
    ChatClientResponse,
    Message,
    Prompt,
    ToolCall,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
    tool,
)
from vernal.testing import Form, ScriptedChatModel, tool_call

ASKED = UserMessage("Weather in Oslo and Rome?")
CALLS = AssistantMessage(None, [ToolCall("a", "weather", "{}"), ToolCall("b", "weather", "{}")])
OSLO, ROME = ToolResponse("a", "weather", "rain"), ToolResponse("b", "weather", "sun")


@tool
def weather() -> str:
    """The weather."""
    return "fog"


def answers(messages: Sequence[Message]) -> list[list[tuple[str, bool]]]:
    return [[(r.data, r.is_error) for r in m.responses] for m in messages if isinstance(m, ToolResponseMessage)]


MISSING = ("This tool call was not executed.", True)


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize(
    ("history", "told"),
    [
        ([ASKED, CALLS], [[MISSING, MISSING]]),
        ([ASKED, CALLS, UserMessage("Hello?")], [[MISSING, MISSING]]),
        ([ASKED, CALLS, ToolResponseMessage([ROME])], [[MISSING, ("sun", False)]]),
        ([ToolResponseMessage([OSLO]), ASKED], []),
        ([ASKED, CALLS, ToolResponseMessage([OSLO]), ToolResponseMessage([ROME])], [[("rain", False), ("sun", False)]]),
        (
            [ASKED, CALLS, UserMessage("Well?"), ToolResponseMessage([ROME, OSLO])],
            [[("rain", False), ("sun", False)]],
        ),
    ],
    ids=["pending", "left behind", "half", "orphan", "one message each", "interrupted"],
)
def test_a_given_conversation_is_made_fit(
    form: Form, history: list[Message], told: list[list[tuple[str, bool]]], caplog: pytest.LogCaptureFixture
) -> None:
    """Calls without results, results without calls, apart or in pieces: none is refused by a service, none lost, and a
    warning is logged (pydantic-ai, Vercel AI SDK, LangGraph, R1)."""
    model = ScriptedChatModel(["Fine."])
    with caplog.at_level(logging.WARNING, "vernal.client"):
        assert form.ask(ChatClient(model).prompt("Now?").messages(history).tools(weather)).text == "Fine."
    assert answers(model.requests[0].messages) == told
    assert "repaired" in caplog.text


def test_ids_that_a_service_left_blank_or_repeats_become_unique() -> None:
    """Results stay with their calls, in their order (R8; Ollama's and Gemini's conversations)."""
    blank = AssistantMessage(None, [ToolCall("", "weather", "{}"), ToolCall("", "weather", "{}")])
    again = AssistantMessage(None, [ToolCall("call_0", "weather", "{}")])
    history: list[Message] = [ASKED, blank, ToolResponseMessage([ToolResponse("", "weather", d) for d in "12"])]
    history += [again, ToolResponseMessage([ToolResponse("call_0", "weather", "3")])] * 2
    model = ScriptedChatModel(["Fine."])
    ChatClient(model).prompt("Now?").messages(history).call().content()
    assert [[data for data, _ in one] for one in answers(model.requests[0].messages)] == [["1", "2"], ["3"], ["3"]]


@pytest.mark.parametrize("form", Form)
def test_arguments_that_are_no_json_are_repaired(form: Form) -> None:
    """They become `{}` in every round, since services refuse a conversation with others (R1)."""
    calls = AssistantMessage(None, [ToolCall("a", "weather", "{oops")])
    model = ScriptedChatModel([tool_call("weather"), "Fine."])
    history = (ASKED, calls, ToolResponseMessage([OSLO]))
    form.ask(ChatClient(model).prompt("Now?").messages(history).tools(weather))
    for request in model.requests:
        repaired = request.messages[1]
        assert isinstance(repaired, AssistantMessage)
        assert [call.arguments for call in repaired.tool_calls] == ["{}"]


def test_a_sound_conversation_is_sent_as_it_is() -> None:
    """Nothing is copied, so that a provider finds what it has written already."""
    history = (ASKED, CALLS, ToolResponseMessage([ROME, OSLO]), AssistantMessage("Rain and sun."))
    model = ScriptedChatModel(["Fine."])
    ChatClient(model).prompt("Now?").messages(history).call().content()
    assert all(sent is given for sent, given in zip(model.requests[0].messages, history, strict=False))


class Trim(BaseAdvisor):
    """Keeps the last messages, whatever they are."""

    order = HIGHEST_PRECEDENCE + 400

    def __init__(self, kept: int) -> None:
        self.kept = kept

    async def before(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        """The request with the last messages."""
        return request.with_prompt(Prompt(request.prompt.messages[-self.kept :], request.prompt.options))

    async def after(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        """The response as it is."""
        return response


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("kept", [1, 2, 3])
def test_trimming_in_the_loop_may_cut_anywhere(form: Form, kept: int) -> None:
    """A result whose call was cut off does not reach the model alone (pydantic-ai's history processors)."""
    model = ScriptedChatModel([tool_call("weather"), tool_call("weather"), "Fog."])
    assert form.ask(ChatClient(model).prompt("?").advisors(Trim(kept)).tools(weather)).text == "Fog."


@pytest.mark.parametrize("form", Form)
def test_only_what_an_advisor_left_on_offer_runs(form: Form) -> None:
    """Also where the advisor made a new `Prompt` of its own (R7, R23)."""

    class Narrow(Trim):
        async def before(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
            options = request.prompt.options
            assert isinstance(options, ToolCallingChatOptions)
            return request.with_prompt(Prompt(request.prompt.messages, options.copy(tool_callbacks=())))

    model = ScriptedChatModel([tool_call("weather"), "Sorry."])
    assert form.ask(ChatClient(model).prompt("?").advisors(Narrow(0)).tools(weather)).text == "Sorry."
    assert answers(model.requests[1].messages)[0][0][1]


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("choice", ["required", "weather"])
def test_a_forced_call_is_forced_once(form: Form, choice: str) -> None:
    """Else the model could never answer (openai-agents, Spring AI)."""

    def answer(prompt: Prompt) -> object:
        assert isinstance(prompt.options, ToolCallingChatOptions)
        return "Fog." if prompt.options.tool_choice == "auto" else tool_call("weather")

    options = ToolCallingChatOptions(tool_choice=choice)
    model = ScriptedChatModel([answer, answer])
    assert form.ask(ChatClient(model).prompt("?").options(options).tools(weather)).text == "Fog."


def test_a_forced_call_may_stay_forced() -> None:
    """For a turn that a direct tool ends (smolagents)."""
    final = tool(name="final_answer", return_direct=True)(lambda text: text)
    model = ScriptedChatModel([tool_call("weather"), tool_call("final_answer", text="Fog.")])
    client = ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(reset_tool_choice=False)).build()
    options = ToolCallingChatOptions(tool_choice="required")
    assert client.prompt("?").options(options).tools(weather, final).call().content() == "Fog."
    assert [getattr(request.options, "tool_choice", None) for request in model.requests] == ["required", "required"]
