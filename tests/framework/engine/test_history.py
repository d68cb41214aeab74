"""What of the conversation goes to the next round, and what the manager works on."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from vernal import (
    AdvisorChain,
    AssistantMessage,
    CallAdvisor,
    CallAdvisorChain,
    ChatClient,
    ChatClientRequest,
    ChatClientResponse,
    ChatResponse,
    DefaultToolCallingManager,
    MemoryAdvisor,
    Message,
    Prompt,
    StreamAdvisor,
    StreamAdvisorChain,
    SystemMessage,
    ToolCallingAdvisor,
    ToolExecutionResult,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
)
from vernal.testing import ScriptedChatModel, assert_replayable, tool_call

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form


def weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


class Keeper(CallAdvisor, StreamAdvisor, MemoryAdvisor):
    """A memory of the simplest kind: keeps the messages of each request, and answers from a script itself."""

    order = 0

    def __init__(self, *script: ChatResponse) -> None:
        self._script = list(script)
        self.seen: list[tuple[Message, ...]] = []

    def _answer(self, request: ChatClientRequest) -> ChatClientResponse:
        self.seen.append(request.prompt.messages)
        return ChatClientResponse(self._script.pop(0), request.context)

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        return self._answer(request)

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        yield self._answer(request)


@dataclass(kw_only=True, eq=False)
class Recording(DefaultToolCallingManager):
    """Executes tools, and keeps the messages it worked on and what it gave."""

    seen: list[tuple[Message, ...]] = field(default_factory=list)
    results: list[ToolExecutionResult] = field(default_factory=list)

    async def aexecute_tool_calls(self, prompt: Prompt, chat_response: ChatResponse) -> ToolExecutionResult:
        self.seen.append(prompt.messages)
        self.results.append(await super().aexecute_tool_calls(prompt, chat_response))
        return self.results[-1]


def asking(city: str) -> ChatResponse:
    """A response that asks for the weather of a city."""
    return ChatResponse.of(tool_calls=[tool_call("weather", call_id=city, city=city)])


def two_rounds() -> tuple[ChatResponse, ...]:
    """A turn with two tool rounds."""
    return asking("Oslo"), asking("Rome"), ChatResponse.of("Fine.")


def test_the_whole_history_goes_to_the_next_round(form: "Form") -> None:
    """By default a round gets all messages that the manager has returned (TCA-32)."""
    model, manager = ScriptedChatModel(two_rounds()), Recording()
    advisor = ToolCallingAdvisor(tool_calling_manager=manager)
    form.ask(ChatClient(model).prompt("Hello").system("Be brief.").tools(weather).advisors(advisor))
    first, second, third = (request.messages for request in model.requests)
    assert first == (SystemMessage("Be brief."), UserMessage("Hello"))
    assert second == manager.results[0].conversation_history
    assert third == manager.results[1].conversation_history
    assert len(third) == 6


@pytest.mark.parametrize("system", ["Be brief.", None])
def test_with_the_history_disabled_only_the_latest_goes_on(form: "Form", system: str | None) -> None:
    """The next round gets the system message and the tool response, and nothing else (TCA-33, TCA-34).

    Where the request has no system message, none is invented (TCA-35).
    """
    keeper, manager = Keeper(*two_rounds()), Recording()
    advisor = ToolCallingAdvisor(tool_calling_manager=manager, conversation_history_enabled=False)
    spec = ChatClient(ScriptedChatModel()).prompt("Hello").tools(weather).advisors(advisor, keeper)
    form.ask(spec.system(system) if system is not None else spec)
    systems = (SystemMessage(system),) if system is not None else ()
    first, second, third = keeper.seen
    assert first == (*systems, UserMessage("Hello"))
    assert second == (*systems, manager.results[0].conversation_history[-1])
    assert third == (*systems, ToolResponseMessage([ToolResponse("Rome", "weather", "18 °C in Rome")]))


def test_the_manager_gets_the_whole_turn_all_the_same(form: "Form") -> None:
    """With the history disabled the manager works on the complete conversation of the turn (TCA-36, TCA-37)."""
    keeper, manager = Keeper(*two_rounds()), Recording()
    advisor = ToolCallingAdvisor(tool_calling_manager=manager, conversation_history_enabled=False)
    form.ask(ChatClient(ScriptedChatModel()).prompt("Hello").tools(weather).advisors(advisor, keeper))
    assert manager.seen[0] == (UserMessage("Hello"),)
    assert manager.seen[1] == manager.results[0].conversation_history
    assert [m.message_type.value for m in manager.seen[1]] == ["user", "assistant", "tool"]
    assert len(keeper.seen[1]) == 1


class Reminding(ToolCallingAdvisor):
    """Puts a message behind the first tool response."""

    async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        *_, last = request.prompt.messages
        if isinstance(last, ToolResponseMessage) and last.responses[0].id == "Oslo":
            return request.with_prompt(request.prompt.with_messages((*request.prompt.messages, UserMessage("Go on."))))
        return request


def test_what_a_hook_adds_is_part_of_the_conversation(form: "Form") -> None:
    """With the history disabled a hook's message reaches the manager, and each later round, once (TCA-36, R23)."""
    keeper, manager = Keeper(asking("Oslo"), asking("Rome"), asking("Bern"), ChatResponse.of("Fine.")), Recording()
    advisor = Reminding(tool_calling_manager=manager, conversation_history_enabled=False)
    spec = ChatClient(ScriptedChatModel()).prompt("Hello").system("Be brief.").tools(weather)
    form.ask(spec.advisors(advisor, keeper))
    system, added = SystemMessage("Be brief."), UserMessage("Go on.")
    assert [messages[:-1] for messages in keeper.seen[2:]] == [(system, added), (system, added)]
    assert [messages.count(added) for messages in manager.seen] == [0, 1, 1]
    assert [len(messages) for messages in manager.seen] == [2, 5, 7]


def test_a_system_message_that_a_hook_renews_is_there_once(form: "Form") -> None:
    """A hook that words the system message anew in each round leaves no old one behind (R23)."""

    class Renewing(ToolCallingAdvisor):
        async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
            text = f"{request.prompt.system_message.text}!"
            return request.with_prompt(request.prompt.augment_system_message(text))

    for enabled in (True, False):
        keeper = Keeper(*two_rounds())
        advisor = Renewing(conversation_history_enabled=enabled)
        spec = ChatClient(ScriptedChatModel()).prompt("Hello").system("Be brief").tools(weather)
        form.ask(spec.advisors(advisor, keeper))
        systems = [[m.text for m in messages if isinstance(m, SystemMessage)] for messages in keeper.seen]
        assert systems == [["Be brief!"], ["Be brief!!"], ["Be brief!!!"]]


@pytest.mark.parametrize("inside", [True, False])
def test_what_a_hook_takes_away_is_gone(form: "Form", inside: bool) -> None:
    """With the history enabled the messages of a hook are the conversation, memory inside or not (TCA-32, R23)."""

    class Condensing(ToolCallingAdvisor):
        async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
            if len(request.prompt.messages) < 3:
                return request
            return request.with_prompt(request.prompt.with_messages([UserMessage("In short: Hello")]))

    manager, answers = Recording(), two_rounds()
    below = [Keeper(*answers)] if inside else []
    model = ScriptedChatModel(() if inside else answers)
    spec = ChatClient(model).prompt("Hello").tools(weather)
    form.ask(spec.advisors(Condensing(tool_calling_manager=manager), *below))
    assert manager.seen == [(UserMessage("Hello"),), (UserMessage("In short: Hello"),)]


def test_a_history_that_nobody_keeps_is_not_lost(form: "Form") -> None:
    """Disabling the history without a memory inside loses nothing: the rounds get it whole (TCA-33, R1, R4)."""
    model = ScriptedChatModel(two_rounds())
    advisor = ToolCallingAdvisor(conversation_history_enabled=False)
    form.ask(ChatClient(model).prompt("Hello").tools(weather).advisors(advisor))
    assert [len(request.messages) for request in model.requests] == [1, 3, 5]
    for request in model.requests:
        assert_replayable(request.messages)


def test_a_subclass_may_choose_the_instructions(form: "Form") -> None:
    """What `do_get_next_instructions_for_tool_call` gives goes to the next round, in each form (TCA-32, TCA-33)."""

    class LatestExchange(ToolCallingAdvisor):
        """Sends the question and the latest exchange only."""

        async def do_get_next_instructions_for_tool_call(
            self,
            request: ChatClientRequest,
            response: ChatClientResponse,
            tool_execution_result: ToolExecutionResult,
        ) -> tuple[Message, ...]:
            history = tool_execution_result.conversation_history
            return (request.prompt.user_message, *history[-2:])

    for enabled in (True, False):
        model = ScriptedChatModel(two_rounds())
        advisor = LatestExchange(conversation_history_enabled=enabled)
        form.ask(ChatClient(model).prompt("Hello").tools(weather).advisors(advisor))
        assert [len(request.messages) for request in model.requests] == [1, 3, 3]
        _, call, answer = model.requests[-1].messages
        assert isinstance(call, AssistantMessage)
        assert isinstance(answer, ToolResponseMessage)
        assert (call.tool_calls[0].id, answer.responses[0].id) == ("Rome", "Rome")


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(("enabled", "kept"), [(True, slice(None)), (False, slice(0, 4, 3))])
def test_the_default_instructions(streaming: bool, enabled: bool, kept: slice) -> None:
    """The hook and its stream twin give the whole history, or system and last message (TCA-32, TCA-34)."""
    history: Sequence[Message] = (
        SystemMessage("Be brief."),
        UserMessage("Hello"),
        AssistantMessage(None, [tool_call("weather", call_id="1")]),
        ToolResponseMessage([ToolResponse("1", "weather", "18 °C")]),
    )
    advisor = ToolCallingAdvisor(conversation_history_enabled=enabled)
    hook = (
        advisor.do_get_next_instructions_for_tool_call_stream
        if streaming
        else advisor.do_get_next_instructions_for_tool_call
    )
    request = ChatClientRequest(Prompt(history[:2]))
    messages = asyncio.run(hook(request, ChatClientResponse(), ToolExecutionResult(history)))
    assert messages == history[kept]
