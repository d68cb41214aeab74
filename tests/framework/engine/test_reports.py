"""What users of other frameworks reported or asked for, as it goes here; faults found so have tests of their own."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from vernal import (
    HIGHEST_PRECEDENCE,
    LOWEST_PRECEDENCE,
    AdvisorChain,
    AssistantMessage,
    BaseAdvisor,
    CallAdvisor,
    CallAdvisorChain,
    ChatClient,
    ChatClientRequest,
    ChatClientResponse,
    ChatModel,
    ChatResponse,
    DefaultToolCallResultConverter,
    FunctionToolCallback,
    Generation,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    Prompt,
    StreamAdvisor,
    StreamAdvisorChain,
    ToolCall,
    ToolCallResultConverter,
    ToolContext,
    ToolResponseMessage,
    UserMessage,
    tool,
)
from vernal.testing import Form, ScriptedChatModel, assert_replayable, chunks, tool_call, tool_calls

forms = pytest.mark.parametrize("form", Form)


@tool
def weather() -> str:
    """The weather."""
    return "fog"


def told(model: ScriptedChatModel) -> list[tuple[str, bool]]:
    last = model.requests[-1].messages[-1]
    assert isinstance(last, ToolResponseMessage)
    return [(response.data, response.is_error) for response in last.responses]


@forms
@pytest.mark.parametrize("space", ["", " ", "\n\n", "Let me see. "])
def test_text_before_a_call_ends_no_turn(form: Form, space: str) -> None:
    """Streamed or not, blank or not, the tool runs and the model answers (pydantic-ai)."""
    model = ScriptedChatModel([chunks(space, tool_call("weather")), chunks("It is ", "foggy.")])
    assert form.ask(ChatClient(model).prompt("?").tools(weather)).text.endswith("It is foggy.")


@pytest.mark.parametrize("value", ["", [], {}, 0, False, set(), b""], ids=repr)
def test_an_empty_result_is_a_result(value: object) -> None:
    """It is no error, and belongs to its call (Haystack)."""
    model = ScriptedChatModel([tool_call("look"), "Nothing."])
    look = FunctionToolCallback(lambda: value, name="look", description="Look.")
    ChatClient(model).prompt("?").tools(look).call().content()
    assert [is_error for _, is_error in told(model)] == [False]


NAMES = ["schema", "copy", "json", "validate", "model_config", "config", "context", "args", "kwargs", "_x", "__x"]


@pytest.mark.parametrize("name", NAMES)
def test_a_parameter_may_have_any_name(name: str) -> None:
    """No name is taken by the machinery (LangChain, pydantic-ai)."""
    made: dict[str, Any] = {}
    exec(f"def f({name}: int) -> int:\n    'A tool.'\n    return {name}", made)
    model = ScriptedChatModel([ToolCall("a", "f", json.dumps({name: 3})), "Three."])
    ChatClient(model).prompt("?").tools(made["f"]).call().content()
    assert told(model) == [("3", False)]


@forms
def test_a_schema_by_hand_and_a_context_go_together(form: Form) -> None:
    """What the engine fills need not stand in the schema (LangChain)."""

    def greet(name: str, context: ToolContext) -> str:
        return f"{name} of {context['tenant']}"

    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    model = ScriptedChatModel([tool_call("greet", name="Ada"), "Hello."])
    callback = FunctionToolCallback(greet, description="Greet.", input_schema=schema)
    form.ask(ChatClient(model).prompt("?").tools(callback).tool_context(tenant="acme"))
    assert told(model) == [("Ada of acme", False)]


@forms
def test_tools_of_a_turn_share_what_the_request_gave_them(form: Form) -> None:
    """The mapping is read-only, the objects in it are theirs (Spring AI)."""

    @tool
    def put(item: str, context: ToolContext) -> str:
        """Put an item."""
        context["basket"].append(item)
        return "ok"

    @tool
    async def count(context: ToolContext) -> int:
        """Count the items."""
        return len(context["basket"])

    model = ScriptedChatModel([tool_call("put", item="tea"), tool_call("count"), "One."])
    form.ask(ChatClient(model).prompt("?").tools(put, count).tool_context(basket=[]))
    assert told(model) == [("1", False)]


@forms
def test_the_system_text_may_change_from_round_to_round(form: Form) -> None:
    """By an advisor in the loop, from what the tools have changed meanwhile (agno)."""
    done: list[str] = []

    @tool
    def create(name: str) -> str:
        """Create an item."""
        done.append(name)
        return "ok"

    class State(BaseAdvisor):
        order = HIGHEST_PRECEDENCE + 400

        async def before(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
            """With the present state."""
            return request.with_prompt(request.prompt.augment_system_message(f"Items: {done}"))

        async def after(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
            """As it is."""
            return response

    model = ScriptedChatModel([tool_call("create", name="a"), "Done."])
    form.ask(ChatClient(model).prompt("?").system("Items: ?").advisors(State()).tools(create))
    assert [request.messages[0].text for request in model.requests] == ["Items: []", "Items: ['a']"]


class Nudge(CallAdvisor, StreamAdvisor):
    """Asks once more where the model said nothing at all."""

    order = LOWEST_PRECEDENCE - 500

    def again(self, request: ChatClientRequest) -> ChatClientRequest:
        """The request, with a word more."""
        messages = (*request.prompt.messages, UserMessage("Please answer."))
        return request.with_prompt(request.prompt.with_messages(messages))

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        """The answer, or the second one."""
        response = await chain.copy(self).next_call(request)
        if response.text or response.has_tool_calls:
            return response
        return await chain.copy(self).next_call(self.again(request))

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        """The same in chunks."""
        said = False
        async for chunk in chain.copy(self).next_stream(request):
            said = said or bool(chunk.text) or chunk.has_tool_calls
            yield chunk
        if not said:
            async for chunk in chain.copy(self).next_stream(self.again(request)):
                yield chunk


@forms
def test_an_empty_answer_may_be_asked_for_again(form: Form) -> None:
    """An advisor of the user's does it, and no tool runs twice (ADK, hermes, AgentScope)."""
    ran: list[int] = []

    @tool
    def act() -> str:
        """Act."""
        ran.append(1)
        return "acted"

    model = ScriptedChatModel([tool_call("act"), "", "Done."])
    assert form.ask(ChatClient(model).prompt("?").tools(act).advisors(Nudge())).text == "Done."
    assert ran == [1]


@forms
@pytest.mark.parametrize("order", [200, 400], ids=["outside", "inside"])
def test_a_conversation_goes_on_after_a_turn_that_failed(form: Form, order: int) -> None:
    """Whatever was remembered of it can be replayed (openai-agents, LangGraph, R1)."""
    memory = MessageWindowChatMemory()
    advisor = MessageChatMemoryAdvisor(chat_memory=memory, memory_order=HIGHEST_PRECEDENCE + order)
    model = ScriptedChatModel([tool_call("weather"), ConnectionError("gone"), "Here again."])
    client = ChatClient.builder(model).default_advisors(advisor).default_tools(weather).build()
    with pytest.raises(ConnectionError):
        form.ask(client.prompt("First").advisors(conversation_id="1"))
    assert form.ask(client.prompt("Second").advisors(conversation_id="1")).text == "Here again."
    assert_replayable(memory.get("1"))


@forms
def test_memory_outside_the_loop_remembers_an_answer_without_calls(form: Form) -> None:
    """A streamed turn with tools is remembered as its question and its answer (Spring AI)."""
    memory = MessageWindowChatMemory()
    model = ScriptedChatModel([chunks(tool_call("weather")), chunks("It is ", "foggy.")])
    advisor = MessageChatMemoryAdvisor(chat_memory=memory)
    form.ask(ChatClient(model).prompt("?").tools(weather).advisors(advisor, conversation_id="1"))
    assert memory.get("1") == [UserMessage("?"), AssistantMessage("It is foggy.")]


class Echo(ChatModel):
    """Calls `who`, and answers with what it said."""

    async def acall(self, prompt: Prompt) -> ChatResponse:
        """A call, or the answer."""
        last = prompt.messages[-1]
        if isinstance(last, ToolResponseMessage):
            return ChatResponse((Generation(AssistantMessage(last.responses[0].data)),))
        return ChatResponse((Generation(AssistantMessage(None, [ToolCall("same", "who", "{}")])),))


def test_turns_at_the_same_time_know_nothing_of_each_other() -> None:
    """One client, many users, equal call ids (agno)."""

    @tool
    async def who(context: ToolContext) -> str:
        """Who asks."""
        await asyncio.sleep(0)
        return str(context["user"])

    async def main() -> list[str | None]:
        client = ChatClient(Echo())
        turns = (client.prompt("?").tools(who).tool_context(user=number).acall().content() for number in range(50))
        return await asyncio.gather(*turns)

    assert asyncio.run(main()) == [str(number) for number in range(50)]


@forms
def test_assistants_ask_each_other_in_any_face(form: Form) -> None:
    """A blocking tool, an asynchronous one, a streaming one, side by side (pydantic-ai, openai-agents, R30)."""
    inner = ChatClient(ScriptedChatModel(["yes"] * 3))

    @tool
    def ask() -> str | None:
        """Ask."""
        return inner.prompt("?").call().content()

    @tool
    async def ask_awaiting() -> str | None:
        """Ask."""
        return await inner.prompt("?").acall().content()

    @tool
    def ask_streaming() -> str:
        """Ask."""
        return "".join(inner.prompt("?").stream().content())

    calls = tool_calls(*(tool_call(name) for name in ("ask", "ask_awaiting", "ask_streaming")))
    model = ScriptedChatModel([calls, "Done."])
    form.ask(ChatClient(model).prompt("?").tools(ask, ask_awaiting, ask_streaming))
    assert told(model) == [("yes", False)] * 3


@forms
@pytest.mark.parametrize(
    "error",
    [StopIteration("s"), StopAsyncIteration("s"), TimeoutError(), ExceptionGroup("g", [ValueError("v")])],
    ids=repr,
)
def test_any_exception_of_a_tool_is_told(form: Form, error: Exception) -> None:
    """Also those that Python treats in its own way, and those without a message (R11)."""

    @tool
    def block() -> str:
        """Fail."""
        raise error

    @tool
    async def wait() -> str:
        """Fail."""
        raise error

    model = ScriptedChatModel([tool_calls(tool_call("block"), tool_call("wait")), "Sorry."])
    assert form.ask(ChatClient(model).prompt("?").tools(block, wait)).text == "Sorry."
    assert all(text.strip() and is_error for text, is_error in told(model))


def test_long_results_may_be_shortened_by_their_converter() -> None:
    """For all that a tool gives, in one place (smolagents, LangChain)."""

    class Short(ToolCallResultConverter):
        def convert(self, result: Any, return_type: Any) -> str:
            """The begin of it."""
            text = DefaultToolCallResultConverter().convert(result, return_type)
            return text if len(text) <= 20 else f"{text[:20]}…"

    @tool(result_converter=Short())
    def read() -> list[str]:
        """Read."""
        return ["line"] * 1000

    model = ScriptedChatModel([tool_call("read"), "Lines."])
    ChatClient(model).prompt("?").tools(read).call().content()
    assert told(model) == [('["line","line","line…', False)]
