"""The tool-calling loop: rounds, who sees them, and its ways out."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    CallAdvisor,
    CallAdvisorChain,
    ChatClient,
    ChatClientRequest,
    ChatClientRequestSpec,
    ChatClientResponse,
    ChatResponse,
    DefaultToolCallingManager,
    FinishReason,
    FunctionToolCallback,
    Prompt,
    StreamAdvisor,
    StreamAdvisorChain,
    ToolCallingAdvisor,
    ToolCallLimits,
    ToolExecutionResult,
    ToolMetadata,
    Usage,
)
from vernal.testing import ScriptedChatModel, tool_call, tool_calls

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form


def weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


@dataclass(kw_only=True, eq=False)
class Recording(DefaultToolCallingManager):
    """Executes tools, and keeps what it was asked."""

    asked: list[tuple[Prompt, ChatResponse]] = field(default_factory=list)

    async def aexecute_tool_calls(self, prompt: Prompt, chat_response: ChatResponse) -> ToolExecutionResult:
        self.asked.append((prompt, chat_response))
        return await super().aexecute_tool_calls(prompt, chat_response)


class Observer(CallAdvisor, StreamAdvisor):
    """Keeps the requests and the last responses that pass by at its place in the chain."""

    def __init__(self, order: int) -> None:
        self._order = order
        self.requests: list[ChatClientRequest] = []
        self.responses: list[ChatClientResponse] = []

    @property
    def order(self) -> int:
        return self._order

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        self.requests.append(request)
        self.responses.append(await chain.next_call(request))
        return self.responses[-1]

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        self.requests.append(request)
        async for chunk in chain.next_stream(request):
            yield chunk
        self.responses.append(chunk)


class Mute(CallAdvisor, StreamAdvisor):
    """Answers without any chat response."""

    order = 0

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        return ChatClientResponse(None, {**request.context, "mute": True})

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        yield ChatClientResponse(None, {**request.context, "mute": True})


def spec_of(model: ScriptedChatModel, *advisors: Any, **loop: Any) -> ChatClientRequestSpec:
    """A request about the weather, with a tool advisor that has the fields `loop`."""
    return ChatClient(model).prompt("Hello").tools(weather).advisors(ToolCallingAdvisor(**loop), *advisors)


def test_an_answer_without_tool_calls_ends_the_turn(form: "Form") -> None:
    """The model's answer comes back as it is, and no tool is executed (TCA-17, TCA-41)."""
    manager, answer = Recording(), ChatResponse.of("Hello back").with_usage(Usage(1, 2, 3))
    outcome = form.ask(spec_of(ScriptedChatModel([answer]), tool_calling_manager=manager))
    assert len(outcome.chunks) == 1
    assert outcome.chat_response == answer
    assert manager.asked == []


def test_an_answer_without_a_chat_response_ends_the_turn(form: "Form") -> None:
    """A client response that holds none comes back, and neither tools nor the checker are asked (TCA-18, TCA-25)."""
    manager, checked = Recording(), list[ChatResponse]()

    def checker(response: ChatResponse) -> bool:
        checked.append(response)
        return True

    loop = {"tool_calling_manager": manager, "tool_execution_eligibility_checker": checker}
    outcome = form.ask(spec_of(ScriptedChatModel(), Mute(), **loop))
    assert outcome.client_response.context["mute"] is True
    assert [chunk.chat_response for chunk in outcome.chunks] == [None]
    assert (manager.asked, checked) == ([], [])


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_each_round_asks_the_model_and_runs_tools_once(form: "Form", rounds: int) -> None:
    """With n tool rounds the chain below runs n + 1 times, tools n times (TCA-19, TCA-20, TCA-42)."""
    calls = [tool_call("weather", city=f"City {n}") for n in range(rounds)]
    model, manager, inside = ScriptedChatModel([*calls, "Fine."]), Recording(), Observer(0)
    outcome = form.ask(spec_of(model, inside, tool_calling_manager=manager))
    assert len(model.requests) == len(inside.requests) == rounds + 1
    assert len(manager.asked) == rounds
    assert outcome.text == "Fine."
    assert [chunk.text for chunk in outcome.chunks] == ["Fine."]
    assert not any(chunk.has_tool_calls for chunk in outcome.chunks)


def test_advisors_below_see_rounds_and_those_above_the_turn(form: "Form") -> None:
    """Each round runs a fresh chain of the advisors after the loop; those before it see one exchange (TCA-21)."""
    above, below, lower = Observer(-2147483648), Observer(1), Observer(2)
    model = ScriptedChatModel([tool_call("weather", city="Oslo"), tool_call("weather", city="Rome"), "Fine."])
    form.ask(spec_of(model, above, below, lower))
    assert (len(above.requests), len(above.responses)) == (1, 1)
    assert [len(seen) for seen in (below.requests, below.responses, lower.requests)] == [3, 3, 3]
    assert above.responses[0].text == "Fine."


def test_a_round_carries_context_messages_and_options_of_the_turn(form: "Form") -> None:
    """The request of a round has the turn's context, the present messages and the present options (TCA-22)."""
    above, below = Observer(-2147483648), Observer(0)
    model = ScriptedChatModel([tool_call("weather", city="Oslo"), "Fine."])
    form.ask(spec_of(model, above, below).advisors(tenant="acme"))
    [outer], [first, second] = above.requests, below.requests
    assert first.context["tenant"] == second.context["tenant"] == "acme"
    assert dict(first.context) == dict(second.context) == dict(outer.context)
    assert first.prompt.options == second.prompt.options == outer.prompt.options
    assert [m.message_type.value for m in second.prompt.messages] == ["user", "assistant", "tool"]


def test_the_checker_may_keep_tools_from_running(form: "Form") -> None:
    """Where the checker says no, the response with its tool calls comes back after one request (TCA-23, TCA-43)."""
    model, manager = ScriptedChatModel([tool_call("weather", city="Oslo")]), Recording()
    loop = {"tool_calling_manager": manager, "tool_execution_eligibility_checker": lambda response: False}
    outcome = form.ask(spec_of(model, **loop))
    assert [call.name for call in outcome.chat_response.tool_calls] == ["weather"]
    assert len(outcome.chunks) == len(model.requests) == 1
    assert manager.asked == []


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_checker_decides_and_not_the_response(form: "Form", asynchronous: bool) -> None:
    """A checker, plain or asynchronous, that says yes to a response without calls starts a round (TCA-24)."""
    answers: Iterator[bool] = iter([True, False])

    class Obedient(Recording):
        async def aexecute_tool_calls(self, prompt: Prompt, chat_response: ChatResponse) -> ToolExecutionResult:
            self.asked.append((prompt, chat_response))
            return ToolExecutionResult(prompt.messages)

    def plain(response: ChatResponse) -> bool:
        return next(answers)

    async def awaited(response: ChatResponse) -> bool:
        return next(answers)

    manager, model = Obedient(), ScriptedChatModel(["one", "two"])
    checker = awaited if asynchronous else plain
    outcome = form.ask(spec_of(model, tool_calling_manager=manager, tool_execution_eligibility_checker=checker))
    assert len(model.requests) == 2
    assert len(manager.asked) == 1
    assert outcome.chunks[-1].text == "two"


def test_the_checker_is_never_asked_about_nothing() -> None:
    """Without a chat response there is no tool call, whatever checker is set (TCA-25)."""

    def checker(response: ChatResponse) -> bool:
        raise AssertionError(response)

    advisor = ToolCallingAdvisor(tool_execution_eligibility_checker=checker)
    assert asyncio.run(advisor.is_tool_call_response(None)) is False
    assert asyncio.run(ToolCallingAdvisor().is_tool_call_response(ChatResponse.of("no"))) is False


# return direct


def direct(city: str) -> str:
    """Weather, straight to the caller."""
    return f"Tool result data for {city}"


DIRECT = FunctionToolCallback(direct, metadata=ToolMetadata(return_direct=True))


def asks(usage: Usage, *calls: Any) -> ChatResponse:
    """A response that asks for tools, with an id, a model and a property of its own."""
    response = ChatResponse.of(tool_calls=calls).with_usage(usage)
    metadata = response.metadata.copy(id="resp-1", model="scripted", properties={"system_fingerprint": "fp"})
    return response.copy(metadata=metadata)


def test_a_direct_result_is_the_answer(form: "Form") -> None:
    """The tool's text comes back as the one generation, the model is not asked again (TCA-26, TCA-27, TCA-44)."""
    manager = Recording()
    model = ScriptedChatModel([asks(Usage(1, 2, 3), tool_call("direct", call_id="1", city="Oslo"))])
    outcome = form.ask(spec_of(model, tool_calling_manager=manager).tools(DIRECT))
    [generation] = outcome.chat_response.generations
    assert generation.output.text == "Tool result data for Oslo"
    assert generation.finish_reason == FinishReason.RETURN_DIRECT.value == "returnDirect"
    assert not outcome.chat_response.has_tool_calls
    assert len(outcome.chunks) == len(model.requests) == len(manager.asked) == 1
    metadata = outcome.chat_response.metadata
    assert (metadata.id, metadata.model) == ("resp-1", "scripted")
    assert (metadata.usage, metadata.properties["system_fingerprint"]) == (Usage(1, 2, 3), "fp")


def test_a_direct_result_of_a_later_round_tells_all_usage(form: "Form") -> None:
    """A direct return after another round shows the usage of both (TCA-28, TCA-51)."""
    first = asks(Usage(10, 20, 30), tool_call("weather", call_id="1", city="Oslo"))
    second = asks(Usage(1, 2, 3), tool_call("direct", call_id="2", city="Oslo"))
    outcome = form.ask(spec_of(ScriptedChatModel([first, second])).tools(DIRECT))
    assert len(outcome.chunks) == 1
    assert outcome.chat_response.text == "Tool result data for Oslo"
    assert outcome.chat_response.usage == Usage(11, 22, 33)
    assert outcome.chat_response.metadata.round_usages == (Usage(10, 20, 30), Usage(1, 2, 3))


# limits


def test_a_breached_limit_ends_the_turn(form: "Form") -> None:
    """The refusal is the answer, and what had succeeded stands beside it (TCA-38, TCA-39)."""
    model = ScriptedChatModel([tool_calls(tool_call("weather", city="Oslo"), tool_call("weather", city="Rome"))])
    manager = Recording(limits=ToolCallLimits(max_calls_per_tool={"weather": 1}))
    outcome = form.ask(spec_of(model, tool_calling_manager=manager))
    [generation] = outcome.chat_response.generations
    assert "Tool call limit (1) exceeded for tool 'weather'" in outcome.text
    assert generation.output.text == outcome.text
    assert generation.finish_reason == FinishReason.TOOL_CALL_LIMIT_EXCEEDED.value == "toolCallLimitExceeded"
    [success] = generation.metadata.properties["partialToolResponses"]
    assert (success.data, success.is_error) == ("18 °C in Oslo", False)
    assert len(outcome.chunks) == len(model.requests) == len(manager.asked) == 1
    assert not outcome.chunks[0].has_tool_calls


def test_a_limit_breached_later_tells_all_usage(form: "Form") -> None:
    """The answer of a breach in a later round shows the usage of all rounds (TCA-40)."""
    first = asks(Usage(10, 20, 30), tool_call("weather", call_id="1", city="Oslo"))
    second = asks(Usage(1, 2, 3), tool_call("weather", call_id="2", city="Rome"))
    manager = Recording(limits=ToolCallLimits(max_total_tool_calls=1))
    outcome = form.ask(spec_of(ScriptedChatModel([first, second]), tool_calling_manager=manager))
    assert outcome.chat_response.usage == Usage(11, 22, 33)
    assert outcome.chat_response.metadata.round_usages == (Usage(10, 20, 30), Usage(1, 2, 3))
    assert outcome.chat_response.metadata.id == "resp-1"
    assert len(outcome.chunks) == 1
