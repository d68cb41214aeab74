"""What the manager gives back (TER), and what a direct return makes of it (R14)."""

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    ChatClient,
    DefaultToolCallingManager,
    FunctionToolCallback,
    Media,
    Message,
    OnLimitExceeded,
    Prompt,
    ToolCallingChatOptions,
    ToolCallLimits,
    ToolExecutionResult,
    ToolMetadata,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
)
from vernal.testing import ScriptedChatModel, tool_call, tool_calls
from vernal.values.responses import ChatResponse

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Execute, Form

LONDON = ToolResponse("42", "weather", "The weather in London is 20 degrees Celsius")


def result(*responses: ToolResponse) -> ToolExecutionResult:
    return ToolExecutionResult([UserMessage("Weather?"), ToolResponseMessage(responses)], return_direct=True)


def test_a_response_becomes_a_generation() -> None:
    """TER-01: text, finish reason, tool name and id."""
    [generation] = result(LONDON).build_generations()
    assert generation.output.text == LONDON.data
    assert generation.finish_reason == "returnDirect"
    assert generation.metadata.properties == {"toolId": "42", "toolName": "weather"}


def test_each_response_becomes_a_generation_in_order() -> None:
    """TER-02, R14: several results all reach the caller, with their ids and media."""
    image = Media("image/png", b"1")
    generations = result(LONDON, ToolResponse("43", "news", "None.", media=(image,))).build_generations()
    assert [(g.output.text, g.metadata.properties["toolName"]) for g in generations] == [
        (LONDON.data, "weather"),
        ("None.", "news"),
    ]
    assert [g.metadata.properties["toolId"] for g in generations] == ["42", "43"]
    assert [g.output.media for g in generations] == [(), (image,)]


def test_an_empty_history_has_no_last_message() -> None:
    """TER-03, TER-07: without a history it is empty, and asking for generations is an error, not an empty list."""
    assert ToolExecutionResult().conversation_history == ()
    for empty in (ToolExecutionResult(), ToolExecutionResult([])):
        with pytest.raises(IndexError):
            empty.build_generations()


@pytest.mark.parametrize("last", [ToolResponseMessage(()), UserMessage("Hello.")])
def test_nothing_comes_of_a_last_message_without_responses(last: Message) -> None:
    """TER-04, TER-11: a tool message without responses, and a message of another kind, give no generations."""
    history = [ToolResponseMessage((LONDON,)), last]
    assert ToolExecutionResult(history).build_generations() == []


@pytest.mark.parametrize(
    ("response", "text", "name", "call_id"),
    [
        (ToolResponse("1", "weather", None), None, "weather", "1"),  # type: ignore[arg-type]  # a careless manager
        (ToolResponse("1", "weather", ""), "", "weather", "1"),
        (ToolResponse("1", "", "Sun."), "Sun.", "", "1"),
        (ToolResponse(None, "weather", "Sun."), "Sun.", "weather", None),  # type: ignore[arg-type]  # a careless manager
    ],
)
def test_parts_are_taken_as_they_are(response: ToolResponse, text: str | None, name: str, call_id: str) -> None:
    """TER-05, TER-06, TER-09, TER-10: no data, an empty text, an empty name, no id."""
    [generation] = result(response).build_generations()
    assert generation.output.text == text
    assert generation.metadata.properties == {"toolId": call_id, "toolName": name}


def test_only_the_last_tool_message_counts() -> None:
    """TER-08: responses of earlier rounds are not returned again."""
    history = [ToolResponseMessage((ToolResponse("1", "old", "Old."),)), ToolResponseMessage((LONDON,))]
    [generation] = ToolExecutionResult(history).build_generations()
    assert generation.output.text == LONDON.data


@pytest.mark.parametrize("history", [[None], [UserMessage("a"), None], [None, UserMessage("a"), None], ["text"]])
def test_a_history_holds_messages_only(history: list[Any]) -> None:
    """TER-12: the text names what is no message."""
    with pytest.raises(TypeError, match="conversation_history contains"):
        ToolExecutionResult(history)


def test_a_result_is_a_value() -> None:
    """TER-13, TER-14: not direct by default, equal by its parts, frozen, and apart from the list it was made of."""
    history: list[Message] = [UserMessage("a")]
    made = ToolExecutionResult(history)
    assert not made.return_direct
    history.append(UserMessage("b"))
    assert made == ToolExecutionResult([UserMessage("a")])
    assert hash(made) == hash(ToolExecutionResult([UserMessage("a")]))
    assert made != ToolExecutionResult([UserMessage("a")], return_direct=True)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.return_direct = True  # type: ignore[misc]  # what must not work


def direct(name: str, error: Exception | None = None) -> FunctionToolCallback:
    def run() -> str:
        if error is not None:
            raise error
        return f"{name}!"

    return FunctionToolCallback(run, name=name, metadata=ToolMetadata(return_direct=True))


def plain(name: str) -> FunctionToolCallback:
    return FunctionToolCallback(lambda: f"{name}.", name=name)


ROUNDS = {
    "the only tool is direct": (["d1"], True),
    "both are direct": (["d1", "d2"], True),
    "one of them is not": (["d1", "plain"], False),
    "the direct one fails": (["fails"], False),
    "one of two direct ones fails": (["d1", "fails"], False),
    "the direct one is beyond its limit": (["d1", "limited", "limited"], False),
    "nothing was invoked": (["ghost"], False),
    "an unknown one beside it": (["d1", "ghost"], False),
}


@pytest.mark.parametrize(("names", "expected"), ROUNDS.values(), ids=ROUNDS.keys())
def test_a_round_is_direct_where_every_call_of_it_is_and_succeeds(
    execute: "Execute", names: list[str], expected: bool
) -> None:
    """TCM-29, TCM-30, TCM-31, TCM-32, TCM-33, R14: a failed or refused direct call goes back to the model."""
    limits = ToolCallLimits(max_calls_per_tool={"limited": 1}, on_limit_exceeded=OnLimitExceeded.RETURN_ERROR_RESPONSE)
    tools = [direct("d1"), direct("d2"), direct("limited"), direct("fails", OSError("no")), plain("plain")]
    prompt = Prompt("Go on.", ToolCallingChatOptions(tool_callbacks=tools))
    calls = [tool_call(name, call_id=str(index)) for index, name in enumerate(names)]
    outcome = execute(DefaultToolCallingManager(limits=limits), prompt, ChatResponse.of(tool_calls=calls))
    assert outcome.return_direct is expected
    last = outcome.conversation_history[-1]
    assert isinstance(last, ToolResponseMessage)
    assert [response.name for response in last.responses] == names


def test_direct_results_end_the_turn(form: "Form") -> None:
    """TER-02, R14: each result is a generation of the answer, and the model is not asked again."""
    model = ScriptedChatModel([tool_calls(tool_call("d1", call_id="1"), tool_call("d2", call_id="2"))])
    outcome = form.ask(ChatClient(model).prompt("Go on.").tools(direct("d1"), direct("d2")))
    assert [(g.output.text, g.metadata.properties["toolId"]) for g in outcome.chat_response.generations] == [
        ("d1!", "1"),
        ("d2!", "2"),
    ]
    assert outcome.chat_response.finish_reason == "returnDirect"
    assert not outcome.chat_response.has_tool_calls


def test_a_failed_direct_call_goes_back_to_the_model(form: "Form") -> None:
    """TCM-33, R14: the end user never sees the raw error; the model gets it and answers."""
    model = ScriptedChatModel([tool_call("fails"), "It did not work."])
    outcome = form.ask(ChatClient(model).prompt("Go on.").tools(direct("fails", OSError("disk full"))))
    assert outcome.text == "It did not work."
    last = model.requests[-1].messages[-1]
    assert isinstance(last, ToolResponseMessage)
    assert [(r.data, r.is_error) for r in last.responses] == [("disk full", True)]
