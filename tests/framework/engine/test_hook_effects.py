"""What hooks and advisors put into a turn holds for the rest of it, and for no other (R23)."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    AdvisorChain,
    CallAdvisor,
    CallAdvisorChain,
    ChatClient,
    ChatClientRequest,
    ChatClientRequestSpec,
    ChatClientResponse,
    ChatResponse,
    DuplicateToolError,
    FunctionToolCallback,
    Message,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    StreamAdvisor,
    StreamAdvisorChain,
    SystemMessage,
    ToolCallback,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
    ToolExecutionResult,
    ToolResponseMessage,
    UserMessage,
)
from vernal.testing import ScriptedChatModel, tool_call

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form

Hook = Callable[[ToolCallingAdvisor, ChatClientRequest, AdvisorChain], Awaitable[ChatClientRequest]]
REMINDER = UserMessage("Remember to be kind.")


def weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


def injected() -> str:
    """A tool that no request has named."""
    return "injected result"


INJECTED = FunctionToolCallback(injected)


def asking(*cities: str) -> list[ChatResponse]:
    """One response for each city that asks for its weather, then an answer."""
    calls = [ChatResponse.of(tool_calls=[tool_call("weather", call_id=city, city=city)]) for city in cities]
    return [*calls, ChatResponse.of("Fine.")]


def in_front(request: ChatClientRequest, *messages: Message) -> ChatClientRequest:
    """The request with `messages` put before the rest."""
    return request.with_prompt(request.prompt.with_messages((*messages, *request.prompt.messages)))


def with_options(request: ChatClientRequest, **changes: Any) -> ChatClientRequest:
    """The request with changed options."""
    options = request.prompt.options
    assert isinstance(options, ToolCallingChatOptions)
    return request.with_prompt(request.prompt.with_options(options.copy(**changes)))


def tools_of(request: ChatClientRequest) -> tuple[ToolCallback, ...]:
    """The tools on offer."""
    options = request.prompt.options
    assert isinstance(options, ToolCallingChatOptions)
    return tuple(options.tool_callbacks or ())


def once(change: Callable[[ChatClientRequest], ChatClientRequest]) -> Hook:
    """A hook that changes the first request that it sees, and no later one."""
    changed: list[str] = []

    async def hook(self: ToolCallingAdvisor, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        if changed:
            return request
        changed.append("once")
        return change(request)

    return hook


def always(change: Callable[[ChatClientRequest], ChatClientRequest]) -> Hook:
    """A hook that changes every request."""

    async def hook(self: ToolCallingAdvisor, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        return change(request)

    return hook


def advisors_with(name: str, hook: Any, *, history: bool = True) -> list[Any]:
    """A loop with this hook; with the history disabled a memory stands inside."""
    advisor = type("Hooked", (ToolCallingAdvisor,), {name: hook})(conversation_history_enabled=history)
    if history:
        return [advisor]
    return [advisor, MessageChatMemoryAdvisor(chat_memory=MessageWindowChatMemory(), memory_order=1000)]


def spec_of(model: ScriptedChatModel, *advisors: Any) -> ChatClientRequestSpec:
    """A request about the weather."""
    return ChatClient(model).prompt("Hello").tools(weather).advisors(*advisors, conversation_id="1")


BEGINNINGS = ["do_initialize_loop", "do_initialize_loop_stream", "do_before_call", "do_before_stream"]


@pytest.mark.parametrize("history", [True, False])
@pytest.mark.parametrize("hook", BEGINNINGS)
def test_a_message_of_a_hook_stays(form: "Form", hook: str, history: bool) -> None:
    """What one round's hook adds to the messages is in each later request, exactly once (R23, R4)."""
    model = ScriptedChatModel(asking("Oslo", "Rome"))
    form.ask(spec_of(model, *advisors_with(hook, once(lambda r: in_front(r, REMINDER)), history=history)))
    assert [list(request.messages).count(REMINDER) for request in model.requests] == [1, 1, 1]
    assert [len(request.messages) for request in model.requests] == [2, 4, 6]


@pytest.mark.parametrize("history", [True, False])
def test_a_message_of_a_later_round_stays(form: "Form", history: bool) -> None:
    """A message that is added in the second round is in the second and third request, exactly once (R23, R4)."""

    def remind(request: ChatClientRequest) -> ChatClientRequest:
        last = request.prompt.messages[-1]
        if isinstance(last, ToolResponseMessage) and last.responses[0].id == "Oslo":
            return request.with_prompt(request.prompt.with_messages((*request.prompt.messages, REMINDER)))
        return request

    model = ScriptedChatModel(asking("Oslo", "Rome"))
    form.ask(spec_of(model, *advisors_with("do_before_call", always(remind), history=history)).system("Be brief."))
    assert [list(request.messages).count(REMINDER) for request in model.requests] == [0, 1, 1]
    assert [len(request.messages) for request in model.requests] == [2, 5, 7]
    assert [request.messages.count(SystemMessage("Be brief.")) for request in model.requests] == [1, 1, 1]


@pytest.mark.parametrize("history", [True, False])
@pytest.mark.parametrize("hook", BEGINNINGS)
def test_a_system_message_of_a_hook_stays(form: "Form", hook: str, history: bool) -> None:
    """A system message that a hook puts in front is in each later request, exactly once (R23)."""
    system, model = SystemMessage("Be kind."), ScriptedChatModel(asking("Oslo", "Rome"))
    form.ask(spec_of(model, *advisors_with(hook, once(lambda r: in_front(r, system)), history=history)))
    assert [request.messages[0] for request in model.requests] == [system] * 3
    assert [list(request.messages).count(system) for request in model.requests] == [1, 1, 1]


@pytest.mark.parametrize("history", [True, False])
@pytest.mark.parametrize("hook", BEGINNINGS)
def test_options_of_a_hook_stay(form: "Form", hook: str, history: bool) -> None:
    """What a hook sets holds in all later rounds, also when the initialising hook sets it (TCA-57, R23)."""
    model = ScriptedChatModel(asking("Oslo", "Rome"))
    form.ask(spec_of(model, *advisors_with(hook, once(lambda r: with_options(r, temperature=0.25)), history=history)))
    assert [request.options.temperature for request in model.requests if request.options] == [0.25] * 3


@pytest.mark.parametrize("history", [True, False])
@pytest.mark.parametrize("hook", BEGINNINGS)
def test_context_of_a_hook_stays(form: "Form", hook: str, history: bool) -> None:
    """What a hook writes into the context is there in each later round, and on the response (R23)."""
    seen: list[Any] = []

    class Inside(Watching):
        order = 2000

        def see(self, request: ChatClientRequest) -> ChatClientRequest:
            seen.append(request.context.get("mood"))
            return request

    advisors = advisors_with(hook, once(lambda r: r.copy(context={"mood": "kind"})), history=history)
    outcome = form.ask(spec_of(ScriptedChatModel(asking("Oslo", "Rome")), *advisors, Inside()))
    assert seen == ["kind"] * 3
    assert outcome.client_response.context["mood"] == "kind"


@pytest.mark.parametrize("hook", ["do_before_call", "do_before_stream", "do_initialize_loop"])
def test_a_tool_that_a_hook_adds_can_run(form: "Form", hook: str) -> None:
    """The manager sees the options of the hook, whose tool comes after the others (TCA-54, TCA-55, R7, R24)."""
    model = ScriptedChatModel([ChatResponse.of(tool_calls=[tool_call("injected", call_id="1")]), "Fine."])
    add = once(lambda request: with_options(request, tool_callbacks=(*tools_of(request), INJECTED)))
    form.ask(spec_of(model, *advisors_with(hook, add)))
    [response] = model.requests[1].messages[-1].responses  # type: ignore[attr-defined]  # it holds tool responses
    assert (response.data, response.is_error) == ("injected result", False)
    assert [names_of(request.options) for request in model.requests] == [["weather", "injected"]] * 2


def test_a_hook_that_adds_in_each_round_is_refused(form: "Form") -> None:
    """Options carry over, so that the second of one name is an error that names both origins (TCA-56, R29)."""
    model = ScriptedChatModel(asking("Oslo", "Rome"))
    add = always(lambda request: with_options(request, tool_callbacks=(*tools_of(request), INJECTED)))
    with pytest.raises(DuplicateToolError, match=r"\(injected\).*test_hook_effects:injected, .*:injected"):
        form.ask(spec_of(model, *advisors_with("do_before_call", add)))
    assert names_of(model.requests[1].options) == ["weather", "injected", "injected"]


def test_a_hook_that_replaces_is_idempotent(form: "Form") -> None:
    """A hook that sets the same tools each round offers them once in each (TCA-56)."""
    model = ScriptedChatModel(asking("Oslo", "Rome"))
    first = FunctionToolCallback(weather)
    replace = always(lambda request: with_options(request, tool_callbacks=(first, INJECTED)))
    form.ask(spec_of(model, *advisors_with("do_before_call", replace)))
    assert [names_of(request.options) for request in model.requests] == [["weather", "injected"]] * 3


def test_what_a_hook_makes_of_a_response_decides(form: "Form") -> None:
    """Tool calls that `do_after_call` takes away are not executed (TCA-53, TCA-58)."""

    async def drop(self: Any, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        return response.with_chat_response(ChatResponse.of("No tools today."))

    model = ScriptedChatModel(asking("Oslo"))
    outcome = form.ask(spec_of(model, *advisors_with("do_after_call", drop)))
    assert len(model.requests) == 1
    assert outcome.chat_response.text == "No tools today."
    assert not outcome.chat_response.has_tool_calls


def test_context_of_an_after_hook_stays(form: "Form") -> None:
    """What `do_after_call` writes is there in the next round (R23)."""
    model, seen = ScriptedChatModel(asking("Oslo")), list[Any]()

    async def after(self: Any, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        return response.copy(context={"rounds": response.context.get("rounds", 0) + 1})

    class Inside(Watching):
        def see(self, request: ChatClientRequest) -> ChatClientRequest:
            seen.append(request.context.get("rounds"))
            return request

    outcome = form.ask(spec_of(model, *advisors_with("do_after_call", after), Inside()))
    assert seen == [None, 1]
    assert outcome.client_response.context["rounds"] == 2


def test_the_next_instructions_hook_sees_what_was_sent(form: "Form") -> None:
    """It gets the request as the hooks have made it, the response, and the result of the tools (TCA-32)."""
    seen: list[Any] = []

    async def instruct(
        self: Any, request: ChatClientRequest, response: ChatClientResponse, result: ToolExecutionResult
    ) -> tuple[Message, ...]:
        seen.append((request.context["mood"], response.tool_calls[0].id, result.conversation_history[-1]))
        return result.conversation_history

    body = {"do_before_call": once(lambda r: r.copy(context={"mood": "kind"}))}
    advisor = type("Hooked", (ToolCallingAdvisor,), {**body, "do_get_next_instructions_for_tool_call": instruct})()
    model = ScriptedChatModel(asking("Oslo"))
    form.ask(spec_of(model, advisor))
    assert seen == [("kind", "Oslo", model.requests[1].messages[-1])]


# advisors


class Watching(CallAdvisor, StreamAdvisor):
    """Sees each request of its place in the chain, and may change it."""

    def see(self, request: ChatClientRequest) -> ChatClientRequest:
        """The request to go on with."""
        return request

    def back(self, response: ChatClientResponse) -> ChatClientResponse:
        """The response, or chunk, to go back with."""
        return response

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        return self.back(await chain.next_call(self.see(request)))

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        async for chunk in chain.next_stream(self.see(request)):
            yield self.back(chunk)


@pytest.mark.parametrize("way", ["in place", "in a copy of the request", "on the response"])
def test_context_that_an_inner_advisor_writes_is_there_in_the_next_round(form: "Form", way: str) -> None:
    """An advisor inside the loop counts rounds in the context, in place or in a copy, on either way (R23)."""
    seen: list[int] = []

    class Rounds(Watching):
        def see(self, request: ChatClientRequest) -> ChatClientRequest:
            seen.append(request.context.get("rounds", 0))
            if way == "in place":
                request.context["rounds"] = seen[-1] + 1
            return request.copy(context={"rounds": seen[-1] + 1}) if way == "in a copy of the request" else request

        def back(self, response: ChatClientResponse) -> ChatClientResponse:
            return response.copy(context={"rounds": seen[-1] + 1}) if way == "on the response" else response

    outcome = form.ask(spec_of(ScriptedChatModel(asking("Oslo", "Rome")), Rounds()))
    assert seen == [0, 1, 2]
    assert outcome.client_response.context["rounds"] == 3


def test_only_what_was_offered_can_run(form: "Form") -> None:
    """A tool that an inner advisor takes away cannot run, one that it adds can, for as long as it does so (R7)."""

    class Swapping(Watching):
        def see(self, request: ChatClientRequest) -> ChatClientRequest:
            return with_options(request, tool_callbacks=(INJECTED,))

    calls = [tool_call("weather", call_id="1", city="Oslo"), tool_call("injected", call_id="2")]
    model = ScriptedChatModel([ChatResponse.of(tool_calls=calls), "Fine."])
    form.ask(spec_of(model, Swapping()))
    refused, allowed = model.requests[1].messages[-1].responses  # type: ignore[attr-defined]  # tool responses
    assert (refused.data, refused.is_error) == ("There is no tool 'weather'. Available tools: injected.", True)
    assert (allowed.data, allowed.is_error) == ("injected result", False)


def test_nothing_leaks_to_the_next_turn(form: "Form") -> None:
    """Messages, options and context of one turn are not there in the next, with one advisor for both (R23)."""
    contexts: list[dict[str, Any]] = []

    class Inside(Watching):
        def see(self, request: ChatClientRequest) -> ChatClientRequest:
            contexts.append(dict(request.context))
            request.context["left behind"] = True
            return request

    def all_at_once(request: ChatClientRequest) -> ChatClientRequest:
        changed = with_options(in_front(request, REMINDER), temperature=0.25)
        return changed.copy(context={"mood": "kind"})

    model = ScriptedChatModel([*asking("Oslo"), "Again."])
    spec = spec_of(model, *advisors_with("do_initialize_loop", once(all_at_once)), Inside())
    form.ask(spec)
    form.ask(spec)
    assert [len(request.messages) for request in model.requests] == [2, 4, 1]
    assert [request.options.temperature for request in model.requests if request.options] == [0.25, 0.25, None]
    assert contexts[0]["mood"] == contexts[1]["mood"] == "kind"
    assert contexts[2] == {"conversation_id": "1"}


def names_of(options: Any) -> list[str]:
    """The names of the tools on offer, in order."""
    return [callback.definition.name for callback in options.tool_callbacks]
