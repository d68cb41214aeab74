"""How often tools may be called in a turn (LIM): by hand, where the prompt is counted, and in the loop."""

import asyncio
import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    AssistantMessage,
    ChatClient,
    ChatResponse,
    DefaultToolCallingManager,
    FunctionToolCallback,
    Message,
    OnLimitExceeded,
    Prompt,
    SystemMessage,
    ToolCall,
    ToolCallback,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
    ToolCallLimitExceeded,
    ToolCallLimits,
    ToolExecutionResult,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
)
from vernal.testing import ScriptedChatModel, assert_replayable, tool_call, tool_calls
from vernal.tools.limits import LimitBreach

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Execute, Form

ERROR = OnLimitExceeded.RETURN_ERROR_RESPONSE
A_OVER_1 = "Tool call limit (1) exceeded for tool 'toolA'. No further calls to this tool are allowed in this turn."
TOTAL_OVER_1 = "Total tool call limit (1) exceeded for this turn. No further tool calls are allowed."
_numbers = itertools.count()


class Calls:
    """Tools that count."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def tool(self, name: str) -> ToolCallback:
        def run(n: int = 0) -> str:
            self.made.append(name)
            return f"{name} ran"

        return FunctionToolCallback(run, name=name)

    @property
    def tools(self) -> list[ToolCallback]:
        return [self.tool("toolA"), self.tool("toolB")]


def manager(**limits: Any) -> DefaultToolCallingManager:
    return DefaultToolCallingManager(limits=ToolCallLimits(**limits))


def call(name: str) -> ToolCall:
    """A call unlike all others, so that only counts matter."""
    n = next(_numbers)
    return ToolCall(f"id-{n}", name, f'{{"n": {n}}}')


def past(name: str, times: int = 1) -> list[Message]:
    """Calls that were made and answered."""
    messages: list[Message] = []
    for one in [call(name) for _ in range(times)]:
        messages += [AssistantMessage(tool_calls=(one,)), ToolResponseMessage((ToolResponse(one.id, name, "ran"),))]
    return messages


def prompt(calls: Calls, *messages: Message) -> Prompt:
    return Prompt(messages, ToolCallingChatOptions(tool_callbacks=calls.tools))


def asking(*names: str) -> ChatResponse:
    return ChatResponse.of(tool_calls=[call(name) for name in names])


def last(result: ToolExecutionResult) -> list[tuple[str, str, bool]]:
    message = result.conversation_history[-1]
    assert isinstance(message, ToolResponseMessage)
    return [(response.name, response.data, response.is_error) for response in message.responses]


USER = UserMessage("Go on.")
TURNS = {
    "one call of the tool": ({"max_calls_per_tool": {"toolA": 1}}, [USER, *past("toolA")], ("toolA", 1)),
    "another tool's call, in total": ({"max_total_tool_calls": 1}, [USER, *past("toolB")], (None, 1)),
    "forty calls by default": ({}, [USER, *past("toolA", 40)], ("toolA", 40)),
    "a hundred and fifty in total by default": ({}, [USER, *past("toolB", 150)], (None, 150)),
    "after an earlier turn": (
        {"max_calls_per_tool": {"toolA": 1}},
        [UserMessage("First."), *past("toolB"), USER, *past("toolA")],
        ("toolA", 1),
    ),
    "no user message at all": (
        {"max_calls_per_tool": {"toolA": 1}},
        [SystemMessage("Be."), *past("toolA")],
        ("toolA", 1),
    ),
    "the tool's own limit before the total": (
        {"max_calls_per_tool": {"toolA": 1}, "max_total_tool_calls": 1},
        [USER, *past("toolA")],
        ("toolA", 1),
    ),
    "an excluded tool counts to the total": (
        {"excluded_tools": {"toolA"}, "max_total_tool_calls": 1},
        [USER, *past("toolA")],
        (None, 1),
    ),
}


@pytest.mark.parametrize(("limits", "messages", "breach"), TURNS.values(), ids=TURNS.keys())
def test_a_breached_limit_ends_the_round(
    execute_by_hand: "Execute", limits: dict[str, Any], messages: list[Message], breach: tuple[str | None, int]
) -> None:
    """LIM-01, LIM-04, LIM-05, LIM-06, LIM-11, LIM-12, LIM-13, LIM-15: what the prompt's turn holds is counted."""
    calls = Calls()
    with pytest.raises(ToolCallLimitExceeded) as caught:
        execute_by_hand(manager(**limits), prompt(calls, *messages), asking("toolA"))
    assert (caught.value.tool_name, caught.value.limit) == breach
    assert [(name, error) for name, _, error in last(caught.value.partial_result)] == [("toolA", True)]
    assert calls.made == []
    assert_replayable(caught.value.partial_result.conversation_history)


WITHIN = {
    "excluded": ({"max_calls_per_tool_default": 1, "excluded_tools": {"toolA"}}, [USER, *past("toolA", 3)]),
    "one below the limit": ({}, [USER, *past("toolA", 39)]),
    "one below the total": ({}, [USER, *past("toolB", 149)]),
    "unlimited": ({"max_calls_per_tool_default": None}, [USER, *past("toolA", 45)]),
    "unlimited, in the form of settings": (
        {"max_calls_per_tool_default": -1, "max_total_tool_calls": -1},
        [USER, *past("toolA", 155)],
    ),
    "the tool alone unlimited": ({"max_calls_per_tool": {"toolA": None}}, [USER, *past("toolA", 45)]),
    "unlimited in total": (
        {"max_calls_per_tool_default": None, "max_total_tool_calls": None},
        [USER, *past("toolA", 155)],
    ),
    "the limit reached in an earlier turn": ({"max_calls_per_tool": {"toolA": 1}}, [USER, *past("toolA"), USER]),
    "the total reached in an earlier turn": ({"max_total_tool_calls": 1}, [USER, *past("toolB", 10), USER]),
}


@pytest.mark.parametrize(("limits", "messages"), WITHIN.values(), ids=WITHIN.keys())
def test_within_its_limits_a_tool_runs(
    execute_by_hand: "Execute", limits: dict[str, Any], messages: list[Message]
) -> None:
    """LIM-03, LIM-07, LIM-08, LIM-09, LIM-10, LIM-14: a limit of N lets N calls of a turn run."""
    calls = Calls()
    result = execute_by_hand(manager(**limits), prompt(calls, *messages), asking("toolA"))
    assert last(result) == [("toolA", "toolA ran", False)]
    assert calls.made == ["toolA"]


def test_a_breach_can_be_told_to_the_model(execute_by_hand: "Execute") -> None:
    """LIM-02, LIM-18: no exception; the one response holds the limit's text, not the tool's output."""
    calls = Calls()
    limited = manager(max_calls_per_tool={"toolA": 1}, on_limit_exceeded=ERROR)
    result = execute_by_hand(limited, prompt(calls, USER, *past("toolA")), asking("toolA"))
    assert last(result) == [("toolA", A_OVER_1, True)]
    assert not result.return_direct
    assert calls.made == []


def test_a_turn_that_a_limit_ends_is_logged(form: "Form", caplog: pytest.LogCaptureFixture) -> None:
    """The answer is only the refusal: the log says which limit it was, and how to raise it."""
    model = ScriptedChatModel([tool_call("toolA", number=number) for number in range(3)])
    form.ask(client(model, Calls(), max_calls_per_tool={"toolA": 2}).prompt("Go on."))
    [record] = [record for record in caplog.records if record.name == "vernal.tools"]
    assert "a turn was ended: Tool call limit (2) exceeded for tool 'toolA'; raise the limit" in record.getMessage()
    assert "tools.max_calls_per_tool" in record.getMessage()


def test_responses_count_also_without_their_calls(execute_by_hand: "Execute") -> None:
    """LIM-13: by the names of the responses, in a history whose calls were trimmed away."""
    response = ToolResponseMessage([ToolResponse("gone", "toolA", "ran")])
    with pytest.raises(ToolCallLimitExceeded, match="toolA"):
        execute_by_hand(manager(max_calls_per_tool={"toolA": 1}), prompt(Calls(), USER, response), asking("toolA"))


def test_a_manager_may_be_shared() -> None:
    """LIM-13: counts belong to the turn, so that conversations at the same time do not disturb each other."""
    shared, calls = manager(max_total_tool_calls=1), Calls()

    async def run() -> list[ToolExecutionResult]:
        rounds = [shared.aexecute_tool_calls(prompt(calls, USER), asking("toolA")) for _ in range(5)]
        return await asyncio.gather(*rounds)

    assert [last(result) for result in asyncio.run(run())] == [[("toolA", "toolA ran", False)]] * 5


def test_within_a_batch_counts_go_up_call_by_call(execute: "Execute") -> None:
    """LIM-16, R1, R9: the first runs, the second breaches, and each is answered, as is what comes after the breach."""
    calls = Calls()
    limited = manager(max_calls_per_tool={"toolA": 1}, on_limit_exceeded=ERROR)
    result = execute(limited, prompt(calls, USER), asking("toolA", "toolA", "toolA", "toolB"))
    assert last(result) == [
        ("toolA", "toolA ran", False),
        ("toolA", A_OVER_1, True),
        ("toolA", A_OVER_1, True),
        ("toolB", "toolB ran", False),
    ]
    assert sorted(calls.made) == ["toolA", "toolB"]


def test_a_breach_in_a_batch_keeps_what_came_before_it(execute: "Execute") -> None:
    """LIM-16, LIM-19, R12: calls before the breach run and are in the partial result; none after it runs."""
    calls = Calls()
    response = asking("toolB", "toolA", "toolA", "toolB")
    with pytest.raises(ToolCallLimitExceeded) as caught:
        execute(manager(max_calls_per_tool={"toolA": 1}), prompt(calls, USER), response)
    partial = caught.value.partial_result
    assert partial.conversation_history[:2] == (USER, AssistantMessage(tool_calls=response.tool_calls))
    assert last(partial) == [
        ("toolB", "toolB ran", False),
        ("toolA", "toolA ran", False),
        ("toolA", A_OVER_1, True),
        (
            "toolB",
            "This tool call was not executed, because the tool call limit of this turn is exceeded.",
            True,
        ),
    ]
    assert sorted(calls.made) == ["toolA", "toolB"]
    assert caught.value.refused_id == response.tool_calls[2].id
    assert not partial.return_direct
    assert_replayable(partial.conversation_history)


def test_an_unknown_tool_beyond_the_limit_gives_the_limit_error(execute_by_hand: "Execute") -> None:
    """LIM-14: the limit is checked before the tool is looked up."""
    with pytest.raises(ToolCallLimitExceeded, match="ghost"):
        execute_by_hand(
            manager(max_calls_per_tool={"ghost": 1}), prompt(Calls(), USER, *past("ghost")), asking("ghost")
        )


def client(model: ScriptedChatModel, calls: Calls, **limits: Any) -> ChatClient:
    advisor = ToolCallingAdvisor(tool_calling_manager=manager(**limits))
    return ChatClient.builder(model).tool_advisor(advisor).default_tools(*calls.tools).build()


def test_a_breach_ends_the_turn_with_an_answer(form: "Form") -> None:
    """LIM-01, LIM-14, LIM-20: the loop turns the breach into the answer, and the model is not asked again."""
    calls = Calls()
    model = ScriptedChatModel([call("toolA"), call("toolA"), call("toolA"), "Never."])
    outcome = form.ask(client(model, calls, max_calls_per_tool={"toolA": 2}).prompt("Go on."))
    assert calls.made == ["toolA", "toolA"]
    assert len(model.requests) == 3
    assert outcome.text == A_OVER_1.replace("(1)", "(2)")
    assert outcome.chat_response.finish_reason == "toolCallLimitExceeded"


@pytest.mark.parametrize("times", [40, 41])
def test_the_loop_counts_its_own_calls(form: "Form", times: int) -> None:
    """LIM-05, LIM-13, R23: forty calls run, the 41st does not, though the prompt of each round is made anew."""
    calls = Calls()
    model = ScriptedChatModel([*(call("toolA") for _ in range(times)), "Done."])
    outcome = form.ask(client(model, calls).prompt("Go on."))
    assert len(calls.made) == 40
    assert (outcome.text == "Done.") is (times == 40)


def test_a_new_turn_counts_from_zero(form: "Form") -> None:
    """LIM-09, LIM-10: what ran in an earlier turn of the conversation is not counted."""
    calls = Calls()
    model = ScriptedChatModel([call("toolA"), "Done."])
    spec = (
        client(model, calls, max_total_tool_calls=1).prompt("Go on.").messages(UserMessage("First."), *past("toolA", 5))
    )
    assert form.ask(spec).text == "Done."
    assert calls.made == ["toolA"]


def test_refused_calls_count_as_well(form: "Form") -> None:
    """LIM-17: three answered calls reach a total of three, whether they ran or not."""
    calls = Calls()
    model = ScriptedChatModel([call("toolA"), call("toolA"), call("toolA"), call("toolB"), "Done."])
    limits = {"max_calls_per_tool": {"toolA": 1}, "max_total_tool_calls": 3, "on_limit_exceeded": ERROR}
    assert form.ask(client(model, calls, **limits).prompt("Go on.")).text == "Done."
    final = model.requests[-1].messages[-1]
    assert isinstance(final, ToolResponseMessage)
    assert final.responses[0].data == TOTAL_OVER_1.replace("(1)", "(3)")
    assert calls.made == ["toolA"]


def test_what_had_run_is_told_beside_the_breach(form: "Form") -> None:
    """LIM-20, R12: the text is the breach's, the other responses of the round are under partialToolResponses."""
    calls = Calls()

    def half() -> str:
        raise OSError("broke in the middle")

    model = ScriptedChatModel([tool_calls(tool_call("half"), call("toolA"), call("toolA"))])
    spec = client(model, calls, max_calls_per_tool={"toolA": 1}).prompt("Go on.").tools(half)
    [generation] = form.ask(spec).chat_response.generations
    assert generation.output.text == A_OVER_1
    partial = generation.metadata.properties["partialToolResponses"]
    assert [(response.name, response.data, response.is_error) for response in partial] == [
        ("half", "broke in the middle", True),
        ("toolA", "toolA ran", False),
    ]


@pytest.mark.parametrize("history", [(), (USER,)])
def test_a_breach_without_responses_gives_its_own_text(history: tuple[Message, ...]) -> None:
    """LIM-20: a partial result that ends in no tool message gives the breach's text, and no partial responses."""
    error = ToolCallLimitExceeded(LimitBreach("toolA", 1), ToolExecutionResult(history), "x")
    generation = error.build_generation()
    assert generation.output.text == A_OVER_1
    assert generation.metadata.properties["partialToolResponses"] == ()
    assert generation.finish_reason == "toolCallLimitExceeded"


def test_the_texts_of_both_limits() -> None:
    """LIM-18: the model is told what is over, the developer also what to do about it."""
    own, total = LimitBreach("toolA", 1), LimitBreach(None, 1)
    assert (own.text_for_model, total.text_for_model) == (A_OVER_1, TOTAL_OVER_1)
    for breach in (own, total):
        text = str(ToolCallLimitExceeded(breach, ToolExecutionResult(), ""))
        assert text.startswith(breach.message)
        assert "tools.max_total_tool_calls" in text


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"max_calls_per_tool_default": 0}, "max_calls_per_tool_default is 0"),
        ({"max_calls_per_tool": {"toolA": 0}}, "max_calls_per_tool of 'toolA' is 0"),
        ({"max_calls_per_tool": {"toolA": -2}}, "max_calls_per_tool of 'toolA' is -2"),
        ({"max_calls_per_tool": {" ": 1}}, "names the tool ' '"),
        ({"excluded_tools": {""}}, "names the tool ''"),
        ({"max_total_tool_calls": 0}, "max_total_tool_calls is 0"),
        ({"max_total_tool_calls": True}, "max_total_tool_calls is True"),
        ({"max_total_tool_calls": 1.5}, "max_total_tool_calls is 1.5"),
        ({"max_identical_calls": 0}, "max_identical_calls is 0"),
        ({"on_limit_exceeded": "ignore"}, "ignore"),
        ({"on_limit_exceeded": None}, "None"),
    ],
)
def test_limits_that_cannot_be_meant_are_refused(limits: dict[str, Any], text: str) -> None:
    """LIM-21: the text names the field and what was given."""
    with pytest.raises(ValueError, match=text):
        ToolCallLimits(**limits)


def test_limits_are_apart_from_what_they_were_made_of() -> None:
    """LIM-21: a value, which nobody changes by changing the map or set that it was made of."""
    own, excluded = {"toolA": 1}, {"toolB"}
    limits = ToolCallLimits(max_calls_per_tool=own, excluded_tools=excluded)  # type: ignore[arg-type]  # any set will do
    own["toolA"] = 9
    excluded.add("toolC")
    assert dict(limits.max_calls_per_tool) == {"toolA": 1}
    assert set(limits.excluded_tools) == {"toolB"}
    assert hash(limits) == hash(dataclasses.replace(limits))


def test_of_limit_and_exclusion_the_exclusion_holds(execute_by_hand: "Execute") -> None:
    """LIM-22: there is no last call of a builder; a tool named in both has no limit, until it is excluded no more."""
    both = ToolCallLimits(max_calls_per_tool={"toolA": 1}, excluded_tools=frozenset({"toolA"}))
    given = prompt(Calls(), USER, *past("toolA"))
    result = execute_by_hand(DefaultToolCallingManager(limits=both), given, asking("toolA"))
    assert last(result) == [("toolA", "toolA ran", False)]
    limited = dataclasses.replace(both, excluded_tools=frozenset())
    with pytest.raises(ToolCallLimitExceeded):
        execute_by_hand(DefaultToolCallingManager(limits=limited), given, asking("toolA"))


def test_a_scripted_call_runs_once_per_round(form: "Form") -> None:
    """LIM-14: the limit of one lets one call run, and the model may still answer."""
    calls = Calls()
    model = ScriptedChatModel([tool_call("toolA", n=1), "Done."])
    assert form.ask(client(model, calls, max_total_tool_calls=1).prompt("Go on.")).text == "Done."
    assert calls.made == ["toolA"]
