"""Decisions about tool calls before they run, and turns that wait for them."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from vernal import (
    Allow,
    ApprovalInterceptor,
    ChatClient,
    ConfigurationError,
    DefaultToolCallingManager,
    Deny,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    Suspend,
    SuspendedTurn,
    ToolCallFinished,
    ToolCallingAdvisor,
    ToolCallInterceptor,
    ToolCallLimits,
    ToolCallRequest,
    ToolContext,
    ToolResponseMessage,
    TurnSuspended,
    UsageError,
    tool,
)
from vernal.client.spec import ChatClientRequestSpec
from vernal.testing import ScriptedChatModel, assert_replayable, tool_call

INSIDE, OUTSIDE = 1000, -2147483648 + 200


class Orders:
    """Orders that can be looked up and refunded; keeps what ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    @tool(effects="destructive")
    def refund(self, order: str) -> str:
        """Refund an order."""
        self.ran.append(f"refund {order}")
        return f"{order} refunded"

    @tool(effects="read")
    async def look_up(self, order: str, context: ToolContext) -> str:
        """Look an order up."""
        self.ran.append(f"look_up {order}")
        return f"{order} is paid"


Ask = Callable[[ChatClientRequestSpec], str]


@pytest.fixture(params=["call", "stream", "acall", "astream"])
def ask(request: pytest.FixtureRequest) -> Ask:
    """The text of a turn in each of the four forms."""

    async def streamed(spec: ChatClientRequestSpec) -> str:
        return "".join([text async for text in spec.astream().content()])

    async def called(spec: ChatClientRequestSpec) -> str:
        return await spec.acall().content() or ""

    forms: dict[str, Ask] = {
        "call": lambda spec: spec.call().content() or "",
        "stream": lambda spec: "".join(spec.stream().content()),
        "acall": lambda spec: asyncio.run(called(spec)),
        "astream": lambda spec: asyncio.run(streamed(spec)),
    }
    return forms[request.param]


def client(model: ScriptedChatModel, *interceptors: ToolCallInterceptor, **limits: Any) -> ChatClient:
    manager = DefaultToolCallingManager(interceptors=interceptors, limits=ToolCallLimits(**limits))
    return ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(tool_calling_manager=manager)).build()


def suspended(ask: Ask, spec: ChatClientRequestSpec) -> SuspendedTurn:
    """The state of a turn that must suspend, as another process would read it."""
    with pytest.raises(TurnSuspended) as raised:
        ask(spec)
    return SuspendedTurn.from_json(raised.value.state.to_json())


def responses(model: ScriptedChatModel) -> dict[str, tuple[str, bool]]:
    """What the last request tells of each call."""
    last = model.requests[-1].messages[-1]
    assert isinstance(last, ToolResponseMessage)
    return {response.id: (response.data, response.is_error) for response in last.responses}


def test_an_interceptor_sees_the_call_the_tool_and_the_context(ask: Ask) -> None:
    """It gets arguments, definition, metadata and tool context, and what it does not mind runs."""
    seen: list[ToolCallRequest] = []
    model, orders = ScriptedChatModel([tool_call("look_up", call_id="a", order="42"), "Paid."]), Orders()
    spec = client(model, seen.append).prompt("?").tools(orders).tool_context(tenant="acme")
    assert ask(spec) == "Paid."
    (request,) = seen
    assert (request.call.id, request.arguments, request.definition.name) == ("a", {"order": "42"}, "look_up")
    assert (request.metadata.effects, dict(request.context)) == ("read", {"tenant": "acme"})
    assert orders.ran == ["look_up 42"]


def test_a_denied_call_does_not_run_and_the_model_is_told(ask: Ask) -> None:
    """Its siblings run; the first interceptor that denies counts, an `async` one too (R9)."""

    async def deny(request: ToolCallRequest) -> Deny | None:
        return Deny("Ask a human.") if request.definition.name == "refund" else None

    script = [(tool_call("refund", call_id="a", order="1"), tool_call("look_up", call_id="b", order="1")), "Sorry."]
    model, orders = ScriptedChatModel(script), Orders()
    assert ask(client(model, lambda _: None, deny, lambda _: Deny("never")).prompt("?").tools(orders)) == "Sorry."
    assert orders.ran == []
    assert responses(model) == {"a": ("Ask a human.", True), "b": ("never", True)}


def test_changed_arguments_run_and_stand_in_the_history(ask: Ask) -> None:
    """The next interceptor sees them, the tool gets them, the model reads what ran."""
    seen: list[Any] = []

    def change(request: ToolCallRequest) -> Allow:
        return Allow({"order": "43"})

    model, orders = ScriptedChatModel([tool_call("look_up", order="42"), "Paid."]), Orders()
    ask(client(model, change, lambda request: seen.append(request.arguments)).prompt("?").tools(orders))
    assert (orders.ran, seen) == (["look_up 43"], [{"order": "43"}])
    (call,) = model.requests[-1].messages[-2].tool_calls  # type: ignore[attr-defined]  # the assistant's message
    assert json.loads(call.arguments) == {"order": "43"}


def test_an_interceptor_that_fails_ends_the_turn_before_anything_runs(ask: Ask) -> None:
    """It fails closed, and so does one that gives something else."""

    def fail(request: ToolCallRequest) -> None:
        raise PermissionError("policy service down")

    orders, wrong = Orders(), lambda _: True
    script = [(tool_call("look_up", order="1"), tool_call("refund", order="1"))]
    with pytest.raises(PermissionError, match="policy service down"):
        ask(client(ScriptedChatModel(script), fail).prompt("?").tools(orders))
    with pytest.raises(TypeError, match="Allow, Deny, Answer, Suspend or None is wanted"):
        ask(client(ScriptedChatModel(list(script)), wrong).prompt("?").tools(orders))  # type: ignore[arg-type]
    assert orders.ran == []


def test_refused_calls_are_not_asked_about(ask: Ask) -> None:
    """Unknown tools and calls beyond a limit never reach an interceptor."""
    seen: list[str] = []
    script = [(tool_call("nobody"), tool_call("look_up", order="1"), tool_call("look_up", order="2")), "Done."]
    limits = {"max_calls_per_tool_default": 1, "on_limit_exceeded": "return_error_response"}
    asked = client(ScriptedChatModel(script), lambda request: seen.append(request.call.name), **limits)
    assert ask(asked.prompt("?").tools(Orders())) == "Done."
    assert seen == ["look_up"]


SCRIPT = [
    (tool_call("look_up", call_id="a", order="42"), tool_call("refund", call_id="b", order="42")),
    "Refunded.",
]


@pytest.mark.parametrize(
    ("decision", "ran", "told"),
    [
        (Allow(), ["look_up 42", "refund 42"], ("42 refunded", False)),
        (Allow({"order": "43"}), ["look_up 42", "refund 43"], ("43 refunded", False)),
        (Deny("No."), ["look_up 42"], ("No.", True)),
    ],
)
def test_a_suspended_turn_goes_on_in_another_process(
    ask: Ask, decision: Allow | Deny, ran: list[str], told: tuple[str, bool]
) -> None:
    """What had run does not run again, the decision is carried out, and the history can be replayed (R1)."""
    model, orders = ScriptedChatModel(list(SCRIPT)), Orders()
    state = suspended(ask, client(model, ApprovalInterceptor()).prompt("Refund 42").system("Be kind.").tools(orders))
    assert [(call.id, state.reasons[call.id]) for call in state.pending] == [("b", "the tool refund is destructive")]
    assert orders.ran == ["look_up 42"]

    resumed = client(model, ApprovalInterceptor()).prompt().tools(orders).resume(state, {"b": decision})
    assert ask(resumed) == "Refunded."
    assert orders.ran == ran
    assert responses(model) == {"a": ("42 is paid", False), "b": told}
    assert [type(m).__name__ for m in model.requests[-1].messages] == [
        "SystemMessage",
        "UserMessage",
        "AssistantMessage",
        "ToolResponseMessage",
    ]
    assert_replayable(model.requests[-1].messages)


def test_a_resumed_turn_may_suspend_again_and_keeps_its_limits(ask: Ask) -> None:
    """The record of the turn goes with it: calls before the suspension count (R23)."""
    script = [tool_call("refund", call_id="a", order="1"), tool_call("refund", call_id="b", order="2"), "Done."]
    model, orders = ScriptedChatModel(script), Orders()
    limited = client(model, ApprovalInterceptor(), max_total_tool_calls=2)
    state = suspended(ask, limited.prompt("?").tools(orders))
    state = suspended(ask, limited.prompt().tools(orders).resume(state, {"a": Allow()}))
    assert len(state.answered) == 2
    assert ask(limited.prompt().tools(orders).resume(state, {"b": Allow()})) == "Done."
    assert orders.ran == ["refund 1", "refund 2"]


@pytest.mark.parametrize("order", [OUTSIDE, INSIDE])
def test_memory_has_each_message_of_a_resumed_turn_once(ask: Ask, order: int) -> None:
    """Outside and inside the loop, nothing is doubled and nothing lost (R4)."""
    memory = MessageWindowChatMemory()
    model, orders = ScriptedChatModel(["Hello.", *SCRIPT, "You are welcome."]), Orders()
    asked = client(model, ApprovalInterceptor()).mutate().default_tools(orders)
    asked.default_advisors(MessageChatMemoryAdvisor(chat_memory=memory, memory_order=order), conversation_id="c")
    remembering = asked.build()
    ask(remembering.prompt("Hi"))
    state = suspended(ask, remembering.prompt("Refund 42"))
    assert_replayable(memory.get("c"))
    assert ask(remembering.prompt().resume(state, {"b": Allow()})) == "Refunded."
    ask(remembering.prompt("Thanks"))
    texts = [message.text for message in memory.get("c") if message.text]
    assert texts == ["Hi", "Hello.", "Refund 42", "Refunded.", "Thanks", "You are welcome."]
    said = [message.text for message in model.requests[-1].messages if message.text]
    assert said == texts[:-1]
    assert_replayable(memory.get("c"))


def test_a_resumption_is_taken_up_once(ask: Ask) -> None:
    """Asking the same resumed request again would run its tools twice, so it is refused."""
    model, orders = ScriptedChatModel([*SCRIPT, "again"]), Orders()
    approving = client(model, ApprovalInterceptor())
    state = suspended(ask, approving.prompt("?").tools(orders))
    resumed = approving.prompt().tools(orders).resume(state, {"b": Allow()})
    ask(resumed)
    with pytest.raises(UsageError, match="twice"):
        ask(resumed)
    assert orders.ran == ["look_up 42", "refund 42"]


@pytest.mark.parametrize("decisions", [{}, {"a": Allow()}, {"b": Allow(), "z": Deny()}])
def test_each_waiting_call_needs_a_decision_and_no_other(decisions: dict[str, Allow | Deny]) -> None:
    """The error names what is missing and what does not wait."""
    model = ScriptedChatModel(list(SCRIPT))
    approving = client(model, ApprovalInterceptor())
    state = suspended(lambda spec: spec.call().content() or "", approving.prompt("?").tools(Orders()))
    with pytest.raises(ValueError, match="a decision is wanted for each of b"):
        approving.prompt().resume(state, decisions)


def test_without_a_tool_advisor_a_turn_cannot_be_resumed() -> None:
    """The cure is named."""
    model = ScriptedChatModel(list(SCRIPT))
    approving = client(model, ApprovalInterceptor())
    state = suspended(lambda spec: spec.call().content() or "", approving.prompt("?").tools(Orders()))
    spec = approving.prompt().resume(state, {"b": Allow()}).advisors(tool_calling_advisor_auto_register=False)
    with pytest.raises(ConfigurationError, match="ToolCallingAdvisor"):
        spec.call()


def test_events_tell_what_ran_before_and_after_the_suspension() -> None:
    """Each call is told once, in the turn in which it was answered."""
    model, orders = ScriptedChatModel(list(SCRIPT)), Orders()
    approving = client(model, ApprovalInterceptor())
    told: list[str] = []
    events = approving.prompt("?").tools(orders).stream().events()
    with pytest.raises(TurnSuspended) as raised:
        told.extend(event.call_id for event in events if isinstance(event, ToolCallFinished))
    assert told == ["a"]
    resumed = approving.prompt().tools(orders).resume(raised.value.state, {"b": Allow()})
    assert [e.call_id for e in resumed.stream().events() if isinstance(e, ToolCallFinished)] == ["b"]


@pytest.mark.parametrize("text", ["{}", '{"format": 99}', "[]"])
def test_another_json_is_no_suspended_turn(text: str) -> None:
    """The error says what is wanted."""
    with pytest.raises(ValueError, match="to_json"):
        SuspendedTurn.from_json(text)


def test_every_call_can_be_suspended_by_a_function(ask: Ask) -> None:
    """`Suspend` carries its reason into the state."""
    model, orders = ScriptedChatModel([tool_call("look_up", call_id="a", order="1"), "Done."]), Orders()
    state = suspended(ask, client(model, lambda _: Suspend("four eyes")).prompt("?").tools(orders))
    assert dict(state.reasons) == {"a": "four eyes"}
    assert not orders.ran
