"""The tool advisor that a chat client registers by itself: when, which one, and with what history."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    HIGHEST_PRECEDENCE,
    Advisor,
    CallAdvisor,
    CallAdvisorChain,
    ChatClient,
    ChatClientRequest,
    ChatClientResponse,
    ChatResponse,
    ConfigurationError,
    DefaultToolCallingManager,
    MemoryAdvisor,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    Prompt,
    StreamAdvisor,
    StreamAdvisorChain,
    ToolAdvisor,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
    ToolExecutionResult,
    tool_callbacks,
)
from vernal.testing import ScriptedChatModel, tool_call

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form

DEFAULT = HIGHEST_PRECEDENCE + 300


def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"{city}: 25 °C"


TOOLS = tool_callbacks(get_weather)


class Passing(CallAdvisor, StreamAdvisor):
    """Passes requests on, counts them, and gives each through `change` first."""

    def __init__(self, order: int = DEFAULT + 100) -> None:
        self._order = order
        self.count = 0

    @property
    def order(self) -> int:
        return self._order

    def change(self, request: ChatClientRequest) -> ChatClientRequest:
        """The request to go on with."""
        return request

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        self.count += 1
        return await chain.next_call(self.change(request))

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        self.count += 1
        async for chunk in chain.next_stream(self.change(request)):
            yield chunk


class Injecting(Passing):
    """Puts the weather tool into the options."""

    def change(self, request: ChatClientRequest) -> ChatClientRequest:
        options = ToolCallingChatOptions(tool_callbacks=TOOLS)
        return request.with_prompt(request.prompt.with_options(options))


class Idle(Passing, ToolAdvisor):
    """A tool advisor that executes nothing."""


class OtherMemory(Passing, MemoryAdvisor):
    """A memory that is not of the house; the marker is all that it shares with it."""


class Unmarked(Passing):
    """Stands where a memory might, and is none."""


@dataclass(kw_only=True, eq=False)
class Noting(ToolCallingAdvisor):
    """Notes which of its copies runs."""

    ran: "list[Noting]" = field(default_factory=list)

    async def do_initialize_loop(self, request: ChatClientRequest, chain: Any) -> ChatClientRequest:
        self.ran.append(self)
        return request


def scripted(options: ToolCallingChatOptions | None = None) -> ScriptedChatModel:
    """A model that asks for the weather of Paris, then tells it."""
    call = tool_call("get_weather", call_id="1", city="Paris")
    return ScriptedChatModel([ChatResponse.of(tool_calls=[call]), "Paris: 25 °C"], options=options)


def test_tools_on_the_request_are_executed(form: "Form") -> None:
    """A request with tools and no tool advisor runs the loop (TCR-01, TCR-13)."""
    model, inside = scripted(), Passing()
    outcome = form.ask(ChatClient(model).prompt("Weather in Paris?").tools(get_weather).advisors(inside))
    assert outcome.text == "Paris: 25 °C"
    assert (inside.count, len(model.requests)) == (2, 2)


def test_the_parameter_leaves_the_loop_out(form: "Form") -> None:
    """With `tool_calling_advisor_auto_register=False` the tool call comes back unexecuted (TCR-02, TCR-14).

    One parameter stands for the constants and the helper of other versions (TCR-03, TCR-04).
    """
    model, inside = scripted(), Passing()
    spec = ChatClient(model).prompt("Weather in Paris?").tools(get_weather).advisors(inside)
    outcome = form.ask(spec.advisors(tool_calling_advisor_auto_register=False))
    assert [call.name for call in outcome.chat_response.tool_calls] == ["get_weather"]
    assert (inside.count, len(model.requests)) == (1, 1)


def test_the_parameter_may_be_a_default_of_the_client(form: "Form") -> None:
    """Set on the builder it holds for all requests of the client, and a request may say otherwise (TCR-02)."""
    model = scripted()
    builder = ChatClient.builder(model).default_tools(get_weather)
    client = builder.default_advisors(tool_calling_advisor_auto_register=False).build()
    assert form.ask(client.prompt("Paris?")).chat_response.has_tool_calls
    assert form.ask(client.prompt("Paris?").advisors(tool_calling_advisor_auto_register=True)).text == "Paris: 25 °C"


@pytest.mark.parametrize("value", [True, "false", 0, "", ()])
def test_only_false_itself_leaves_the_loop_out(form: "Form", value: Any) -> None:
    """Any other value, also one that is false in a condition, leaves it on (TCR-17)."""
    spec = ChatClient(scripted()).prompt("Paris?").tools(get_weather)
    assert form.ask(spec.advisors(tool_calling_advisor_auto_register=value)).text == "Paris: 25 °C"


def test_without_tools_the_loop_leaves_after_one_pass(form: "Form") -> None:
    """A request without any tools runs through the advisor once (TCR-05)."""
    model, inside, loop = ScriptedChatModel(["Hello."]), Passing(), Noting()
    client = ChatClient.builder(model).tool_advisor(loop).build()
    assert form.ask(client.prompt("Hi").advisors(inside)).text == "Hello."
    assert (inside.count, len(model.requests), len(loop.ran)) == (1, 1, 1)


def test_tools_that_an_advisor_injects_are_executed(form: "Form") -> None:
    """An advisor just before the loop may bring the tools (TCR-06, TCR-15)."""
    model, inside = scripted(), Passing()
    outcome = form.ask(ChatClient(model).prompt("Paris?").advisors(Injecting(DEFAULT - 10), inside))
    assert outcome.text == "Paris: 25 °C"
    assert (inside.count, len(model.requests)) == (2, 2)


def test_tools_of_the_model_are_executed(form: "Form") -> None:
    """Tools in the model's own default options suffice (TCR-07)."""
    model, inside = scripted(ToolCallingChatOptions(tool_callbacks=TOOLS)), Passing()
    assert form.ask(ChatClient(model).prompt("Paris?").advisors(inside)).text == "Paris: 25 °C"
    assert (inside.count, len(model.requests)) == (2, 2)


def test_tools_of_the_options_are_executed(form: "Form") -> None:
    """Tools in the options of the request suffice (TCR-08)."""
    model, inside = scripted(), Passing()
    spec = ChatClient(model).prompt("Paris?").options(ToolCallingChatOptions(tool_callbacks=TOOLS)).advisors(inside)
    assert form.ask(spec).text == "Paris: 25 °C"
    assert (inside.count, len(model.requests)) == (2, 2)


def test_a_tool_advisor_on_the_request_is_the_only_one(form: "Form") -> None:
    """Where the request brings a loop, no second one is added (TCR-09)."""
    model, own, prototype = scripted(), Noting(), Noting()
    client = ChatClient.builder(model).tool_advisor(prototype).build()
    assert form.ask(client.prompt("Paris?").tools(get_weather).advisors(own)).text == "Paris: 25 °C"
    assert len(model.requests) == 2
    assert (own.ran, prototype.ran) == ([own], [])


def test_the_prototype_of_the_client_executes(form: "Form") -> None:
    """The manager of the tool advisor that the client was built with executes the calls (TCR-10)."""

    class Canned(DefaultToolCallingManager):
        async def aexecute_tool_calls(self, prompt: Prompt, chat_response: ChatResponse) -> ToolExecutionResult:
            executed.append(chat_response)
            return await super().aexecute_tool_calls(prompt, chat_response)

    executed: list[ChatResponse] = []
    model = scripted()
    client = ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(tool_calling_manager=Canned())).build()
    assert form.ask(client.prompt("Paris?").tools(get_weather)).text == "Paris: 25 °C"
    assert (len(executed), len(model.requests)) == (1, 2)


@pytest.mark.parametrize("method", ["call", "acall", "stream", "astream"])
def test_two_tool_advisors_are_refused(method: str) -> None:
    """The error names both with their orders, when the turn is made and before the model is asked (TCR-11)."""
    model = scripted()
    spec = ChatClient(model).prompt("Paris?").advisors(Idle(7), ToolCallingAdvisor(advisor_order=8))
    with pytest.raises(ConfigurationError, match=r"At most one ToolAdvisor .* Idle \(order 7\), Tool Calling .* 8\)"):
        getattr(spec, method)()
    assert model.requests == []


def test_any_tool_advisor_takes_the_place(form: "Form") -> None:
    """An advisor that is marked, even if it does nothing, keeps the loop out (TCR-12)."""
    model, inside = scripted(), Passing()
    spec = ChatClient(model).prompt("Paris?").tools(get_weather).advisors(inside, Idle())
    assert form.ask(spec).chat_response.has_tool_calls
    assert (inside.count, len(model.requests)) == (1, 1)


def test_any_prototype_is_used_as_it_is(form: "Form") -> None:
    """A prototype that is no `ToolCallingAdvisor` is not copied (TCR-10, TCR-18)."""
    idle = Idle()
    client = ChatClient.builder(scripted()).tool_advisor(idle).build()
    assert form.ask(client.prompt("Paris?").tools(get_weather)).chat_response.has_tool_calls
    assert idle.count == 1


def remembering(order: int) -> Advisor:
    """A memory of the house."""
    return MessageChatMemoryAdvisor(chat_memory=MessageWindowChatMemory(), memory_order=order)


@pytest.mark.parametrize(
    ("memory", "order", "enabled"),
    [
        (remembering, DEFAULT + 1, False),
        (OtherMemory, 1000, False),
        (remembering, DEFAULT, True),
        (OtherMemory, DEFAULT - 1, True),
        (Unmarked, 1000, True),
    ],
)
def test_a_memory_inside_the_loop_takes_over_the_history(form: "Form", memory: Any, order: int, enabled: bool) -> None:
    """Behind the loop's order a marked memory disables its history; at it or before it does not (TCR-16)."""
    prototype = Noting()
    client = ChatClient.builder(ScriptedChatModel(["25 °C"])).tool_advisor(prototype).build()
    form.ask(client.prompt("Paris?").tools(get_weather).advisors(memory(order), conversation_id="1"))
    [ran] = prototype.ran
    assert ran.conversation_history_enabled is enabled


def test_the_order_that_counts_is_that_of_the_prototype(form: "Form") -> None:
    """A memory at the default order stands inside a loop that was moved before it (TCR-16)."""
    prototype = Noting(advisor_order=HIGHEST_PRECEDENCE + 100)
    client = ChatClient.builder(scripted()).tool_advisor(prototype).build()
    spec = client.prompt("Paris?").tools(get_weather)
    form.ask(spec.advisors(remembering(HIGHEST_PRECEDENCE + 200), conversation_id="1"))
    assert not prototype.ran[0].conversation_history_enabled


def test_a_prototype_with_its_history_disabled_stays_so(form: "Form") -> None:
    """Registering may disable the history, never enable it (TCR-16)."""
    prototype = Noting(conversation_history_enabled=False)
    client = ChatClient.builder(scripted()).tool_advisor(prototype).build()
    form.ask(client.prompt("Paris?").tools(get_weather))
    assert not prototype.ran[0].conversation_history_enabled


def test_the_prototype_is_never_changed(form: "Form") -> None:
    """A copy is registered, and two clients of one builder do not share what a request needs (TCR-18)."""
    prototype = Noting()
    client = ChatClient.builder(ScriptedChatModel(["One.", "Two.", "Three."])).tool_advisor(prototype).build()
    for advisors in ([remembering(1000)], [], [remembering(1000)]):
        form.ask(client.prompt("Hi").advisors(*advisors, conversation_id="1"))
    assert prototype not in prototype.ran
    assert [ran.conversation_history_enabled for ran in prototype.ran] == [False, True, False]
    assert prototype.conversation_history_enabled
    assert client.tool_advisor is prototype


def test_each_request_runs_through_its_own_advisors(form: "Form") -> None:
    """What a client has prepared for one request is used for no other, however much alike they are (TCR-18, R23)."""
    client = ChatClient(ScriptedChatModel(["One.", "Two.", "Three."]))
    first, second = Passing(), Passing()
    for advisor in (first, second, second):
        form.ask(client.prompt("Hi").advisors(advisor))
    assert (first.count, second.count) == (1, 2)
