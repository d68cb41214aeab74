"""What interceptors and people are shown of a call, and answers in the place of a call."""

import json
from collections.abc import Callable, Mapping

import pytest

from vernal import (
    Allow,
    Answer,
    ChatClient,
    DefaultToolCallingManager,
    Deny,
    Suspend,
    SuspendedTurn,
    ToolCall,
    ToolCallback,
    ToolCallFinished,
    ToolCallingAdvisor,
    ToolCallInterceptor,
    ToolCallRequest,
    ToolContext,
    ToolDefinition,
    ToolResponse,
    ToolResponseMessage,
    TurnSuspended,
    tool,
)
from vernal.testing import Form, ScriptedChatModel, chunks, tool_call, tool_calls

paid: list[float] = []


@tool(effects="write")
def pay(amount: float) -> str:
    """Pay an amount in euros."""
    paid.append(amount)
    return f"paid {amount:g}"


class RemotePay(ToolCallback):
    """A tool of which only the schema is known."""

    definition = ToolDefinition(
        "pay", "Pay.", {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}
    )

    def call(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
        """Pay."""
        return f"paid {json.loads(tool_input)['amount']:g}"


def client(model: ScriptedChatModel, *interceptors: ToolCallInterceptor) -> ChatClient:
    manager = DefaultToolCallingManager(interceptors=interceptors)
    return ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(tool_calling_manager=manager)).build()


def told(model: ScriptedChatModel) -> list[ToolResponse]:
    last = model.requests[-1].messages[-1]
    assert isinstance(last, ToolResponseMessage)
    return list(last.responses)


def suspended(model: ScriptedChatModel, *interceptors: ToolCallInterceptor) -> SuspendedTurn:
    with pytest.raises(TurnSuspended) as raised:
        client(model, *interceptors).prompt("?").tools(pay).call().content()
    return SuspendedTurn.from_json(raised.value.state.to_json())


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("kind", [lambda: pay, RemotePay])
@pytest.mark.parametrize("arguments", ["{}", '{"amount": "much"}', '{"amount": {}}', "[1]", "nonsense", ""])
def test_nobody_is_asked_about_arguments_that_do_not_fit(
    form: Form, kind: Callable[[], object], arguments: str
) -> None:
    """The model is told what is wrong, and no interceptor stumbles or waits over it (R5; pydantic-ai)."""
    asked: list[ToolCallRequest] = []
    model = ScriptedChatModel([ToolCall("a", "pay", arguments), "Sorry."])
    assert form.ask(client(model, asked.append, lambda _: Suspend()).prompt("?").tools(kind())).text == "Sorry."
    (response,) = told(model)
    assert response.is_error
    assert "amount" in response.data
    assert not asked


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("kind", [lambda: pay, RemotePay])
def test_what_was_judged_is_what_runs(form: Form, kind: Callable[[], object]) -> None:
    """Harmless forms are repaired before an interceptor compares them, and the tool gets the same (R5)."""
    asked: list[Mapping[str, object] | None] = []

    def below_hundred(request: ToolCallRequest) -> Deny | None:
        asked.append(request.arguments)
        assert request.arguments is not None
        return None if request.arguments["amount"] < 100 else Deny("Too much.")

    script = [ToolCall("a", "pay", '{"amount": "50", "amount": "70"}'), ToolCall("b", "pay", '{"amount": "500"}'), "."]
    model = ScriptedChatModel(script)
    form.ask(client(model, below_hundred).prompt("?").tools(kind()))
    assert asked == [{"amount": 70}, {"amount": 500}]
    assert told(model)[0].data == "Too much."
    first = model.requests[1].messages[-1]
    assert isinstance(first, ToolResponseMessage)
    assert first.responses[0].data == "paid 70"


def test_who_is_asked_sees_the_arguments_that_will_run() -> None:
    """What an earlier interceptor has changed is what waits, and what runs once it is allowed (pydantic-ai)."""
    model = ScriptedChatModel([tool_call("pay", amount=500), "Done."])
    state = suspended(model, lambda _: Allow({"amount": 50}), lambda _: Suspend())
    (pending,) = state.pending
    assert json.loads(pending.arguments) == {"amount": 50}
    paid.clear()
    assert client(model).prompt().tools(pay).resume(state, {pending.id: Allow()}).call().content() == "Done."
    assert paid == [50]


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize(
    ("result", "text"), [("cached", "cached"), ({"total": 3}, '{"total":3}'), (None, "Done (no result)")]
)
def test_an_answer_stands_in_the_place_of_a_call(form: Form, result: object, text: str) -> None:
    """The tool does not run, its sibling does, and the model is told what it would have been told (LangChain, R15)."""
    paid.clear()
    calls = tool_calls(tool_call("pay", call_id="a", amount=1), tool_call("pay", call_id="b", amount=2))
    model = ScriptedChatModel([calls, "Done."])

    def cache(request: ToolCallRequest) -> Answer | None:
        return Answer(result) if request.call.id == "a" else None

    assert form.ask(client(model, cache).prompt("?").tools(pay)).text == "Done."
    assert paid == [2]
    assert [(one.id, one.data, one.is_error) for one in told(model)] == [("a", text, False), ("b", "paid 2", False)]


def test_an_answer_of_a_direct_tool_is_direct() -> None:
    """It is a result like any other: what the tool's results are for holds for it (R14)."""
    direct = tool(return_direct=True, name="ask_person")(lambda question: "never")
    model = ScriptedChatModel([tool_call("ask_person", question="?")])
    assert client(model, lambda _: Answer("Yes.")).prompt("?").tools(direct).call().content() == "Yes."


def test_a_person_or_a_client_answers_a_waiting_call() -> None:
    """A tool that somebody else runs is suspended, and its result comes with the resumption (LangGraph, CopilotKit)."""
    model = ScriptedChatModel([tool_call("pay", amount=5), "Done."])
    state = suspended(model, lambda _: Suspend("runs in the browser"))
    paid.clear()
    (pending,) = state.pending
    resumed = client(model).prompt().tools(pay).resume(state, {pending.id: Answer({"paid": 5})})
    assert resumed.call().content() == "Done."
    assert (told(model)[0].data, told(model)[0].is_error, paid) == ('{"paid":5}', False, [])


def test_events_tell_of_answered_calls_once() -> None:
    """Whoever listens sees the answer as the end of the call (R20)."""
    model = ScriptedChatModel([tool_call("pay", amount=5), chunks("Done.")])
    with client(model, lambda _: Answer("cached")).prompt("?").tools(pay).stream().events() as events:
        finished = [event for event in events if isinstance(event, ToolCallFinished)]
    assert [event.response.data for event in finished] == ["cached"]


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("face", ["call", "acall"])
def test_a_turn_waits_with_the_assistant_that_its_tool_has_asked(form: Form, face: str) -> None:
    """The decision is not lost in an error: the inner turn is resumed, and its answer is the tool's (LangGraph,
    openai-agents, pydantic-ai)."""
    inner = client(ScriptedChatModel([tool_call("pay", amount=5), "Paid."]), lambda _: Suspend("much money"))
    asked: list[str] = []

    @tool
    def treasurer(wish: str) -> str | None:
        """Ask the treasurer."""
        asked.append(wish)
        return inner.prompt(wish).tools(pay).call().content()

    @tool(name="treasurer")
    async def awaiting(wish: str) -> str | None:
        """Ask the treasurer."""
        asked.append(wish)
        return await inner.prompt(wish).tools(pay).acall().content()

    asking = treasurer if face == "call" else awaiting
    model = ScriptedChatModel([tool_call("treasurer", wish="Pay 5."), "All done."])
    outer = ChatClient(model)
    with pytest.raises(TurnSuspended) as raised:
        form.ask(outer.prompt("?").tools(asking))
    state = SuspendedTurn.from_json(raised.value.state.to_json())
    (waiting,) = state.pending
    nested = state.nested[waiting.id]
    assert [call.name for call in nested.pending] == ["pay"]
    paid.clear()
    decisions = {call.id: Allow() for call in nested.pending}
    answer = inner.prompt().tools(pay).resume(nested, decisions).call().content()
    assert form.ask(outer.prompt().tools(asking).resume(state, {waiting.id: Answer(answer)})).text == "All done."
    assert (told(model)[0].data, paid, asked) == ("Paid.", [5], ["Pay 5."])
