"""What a turn knows of itself, whatever hooks, memory and advisors make of what is sent (R23, R24)."""

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import (
    AdvisorChain,
    AssistantMessage,
    ChatClient,
    ChatClientRequest,
    DefaultToolCallingManager,
    FunctionToolCallback,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    Prompt,
    ToolCallback,
    ToolCallbackProvider,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
    ToolCallLimits,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
)
from vernal.testing import ScriptedChatModel, tool_call

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form


def count(number: int) -> str:
    """Count."""
    return f"{number}"


def endless(rounds: int) -> ScriptedChatModel:
    """A model that asks for one more call each round, then answers."""
    return ScriptedChatModel([*(tool_call("count", number=number) for number in range(rounds)), "Done."])


class Forgetting(ToolCallingAdvisor):
    """Sends the question only, in a prompt of its own: the model sees nothing of what has been done."""

    async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        return request.with_prompt(Prompt(request.prompt.user_message, request.prompt.options))


class Chattering(ToolCallingAdvisor):
    """Puts a user message behind what is sent in each round, so that a turn seems to begin again."""

    async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        messages = (*request.prompt.messages, UserMessage("Go on."))
        return request.with_prompt(request.prompt.with_messages(messages))


def with_memory(window: int) -> list[Any]:
    """A memory inside the loop that keeps little."""
    memory = MessageWindowChatMemory(max_messages=window)
    return [MessageChatMemoryAdvisor(chat_memory=memory, memory_order=1000)]


LIMITS_OF_THREE = [ToolCallLimits(max_total_tool_calls=3), ToolCallLimits(max_calls_per_tool_default=3)]


@pytest.mark.parametrize("kind", [ToolCallingAdvisor, Forgetting, Chattering])
@pytest.mark.parametrize("inside", [0, 1, 500])
@pytest.mark.parametrize("history", [True, False])
@pytest.mark.parametrize("limits", LIMITS_OF_THREE)
def test_limits_count_everything_that_ran_in_the_turn(
    form: "Form", limits: ToolCallLimits, history: bool, inside: int, kind: type[ToolCallingAdvisor]
) -> None:
    """Whatever hooks and memory trim or add, the fourth call breaches a limit of three (R23)."""
    manager = DefaultToolCallingManager(limits=limits)
    loop = kind(tool_calling_manager=manager, conversation_history_enabled=history)
    model = endless(9)
    advisors = with_memory(inside) if inside else []
    outcome = form.ask(ChatClient(model).prompt("Count").tools(count).advisors(loop, *advisors, conversation_id="1"))
    assert outcome.chat_response.finish_reason == "toolCallLimitExceeded"
    assert len(model.requests) == 4


def test_calls_of_earlier_turns_do_not_count(form: "Form") -> None:
    """What memory adds of earlier turns is sent, but does not count in this one (R23)."""
    manager = DefaultToolCallingManager(limits=ToolCallLimits(max_total_tool_calls=2))
    loop = ToolCallingAdvisor(tool_calling_manager=manager)
    script = [tool_call("count", number=1), tool_call("count", number=2), "Done."]
    model = ScriptedChatModel([*script, *script])
    builder = ChatClient.builder(model).default_tools(count)
    client = builder.default_advisors(loop, *with_memory(500), conversation_id="1").build()
    for _ in range(2):
        assert form.ask(client.prompt("Count")).chunks[-1].text == "Done."
    assert len(model.requests[-1].messages) == 6 + 5


def test_call_ids_are_unique_in_the_turn_whatever_is_forgotten(form: "Form") -> None:
    """A model that gives one id to all its calls gets them told apart, also where a hook forgets them (R8, R23)."""
    model = ScriptedChatModel([*(tool_call("count", call_id="1", number=n) for n in range(3)), "Done."])
    seen: list[str] = []

    class Noting(Forgetting):
        async def do_after_call(self, response: Any, chain: AdvisorChain) -> Any:
            seen.extend(call.id for call in response.tool_calls)
            return response

    form.ask(ChatClient(model).prompt("Count").tools(count).advisors(Noting()))
    assert seen[0] == "1"
    assert len(set(seen)) == 3


def test_ids_of_messages_that_a_hook_forgets_are_not_given_again(form: "Form") -> None:
    """A call id that the request came with is in use, though the rounds do not send it any more (R8, R23)."""
    earlier = [
        UserMessage("Count"),
        AssistantMessage(None, [tool_call("count", call_id="1", number=0)]),
        ToolResponseMessage([ToolResponse("1", "count", "0")]),
        AssistantMessage("0"),
    ]
    model = ScriptedChatModel([tool_call("count", call_id="1", number=1), "Done."])
    asked: list[str] = []

    class Noting(Forgetting):
        async def do_after_call(self, response: Any, chain: AdvisorChain) -> Any:
            asked.extend(call.id for call in response.tool_calls)
            return response

    spec = ChatClient(model).prompt("More").messages(*earlier).tools(count)
    form.ask(spec.advisors(Noting()))
    assert len(asked) == 1
    assert asked != ["1"]


def numbered(number: int) -> ToolCallback:
    """A tool with a number in its name."""
    return FunctionToolCallback(count, name=f"tool_{number}")


class Provider(ToolCallbackProvider):
    """Gives its tools when it is asked."""

    def __init__(self, tools: list[ToolCallback]) -> None:
        self.tools = tools

    def get_tool_callbacks(self) -> list[ToolCallback]:
        return self.tools


def offered(model: ScriptedChatModel) -> list[list[str]]:
    """The names of the tools in each request."""
    names = []
    for request in model.requests:
        assert isinstance(request.options, ToolCallingChatOptions)
        names.append([callback.definition.name for callback in request.options.tool_callbacks or ()])
    return names


@given(data=st.data(), order=st.permutations(range(9)))
def test_the_order_of_tools_is_that_of_their_declaration(
    forms: "tuple[Form, ...]", data: st.DataObject, order: list[int]
) -> None:
    """In each round, form and turn: tools of the client, of the request, of providers, then what hooks add (R24)."""
    cuts = sorted(data.draw(st.lists(st.integers(0, 9), min_size=3, max_size=3)))
    first, second, third = cuts
    of_client, of_request, of_provider, of_hook = order[:first], order[first:second], order[second:third], order[third:]

    class Adding(ToolCallingAdvisor):
        async def do_initialize_loop(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
            options = request.prompt.options
            assert isinstance(options, ToolCallingChatOptions)
            tools = (*(options.tool_callbacks or ()), *map(numbered, of_hook))
            return request.with_prompt(request.prompt.with_options(options.copy(tool_callbacks=tools)))

    for form in forms:
        name = f"tool_{order[0]}"
        model = ScriptedChatModel([tool_call(name, number=1), "Done.", "Done."])
        client = ChatClient.builder(model).default_tools(list(map(numbered, of_client))).build()
        for _ in range(2):
            spec = client.prompt("Count").tools(Provider(list(map(numbered, of_provider))))
            form.ask(spec.tools(list(map(numbered, of_request))).advisors(Adding()))
        assert offered(model) == [[f"tool_{number}" for number in order]] * 3


def test_the_options_of_rounds_are_one_object(form: "Form") -> None:
    """Where nobody changes them the rounds share their options, so that what a provider caches of them holds (R24)."""
    model = endless(2)
    form.ask(ChatClient(model).prompt("Count").tools(count))
    first, *later = (request.options for request in model.requests)
    assert all(options is first for options in later)


def test_messages_of_earlier_rounds_are_the_same_objects(form: "Form") -> None:
    """A round appends to what was sent before and copies nothing of it (R24)."""
    model = endless(3)
    form.ask(ChatClient(model).prompt("Count").tools(count))
    for earlier, later in zip(model.requests, model.requests[1:], strict=False):
        prefix = later.messages[: len(earlier.messages)]
        assert all(a is b for a, b in zip(earlier.messages, prefix, strict=True))
