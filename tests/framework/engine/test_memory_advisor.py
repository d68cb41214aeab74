"""The advisor that remembers a conversation as messages (MEM)."""

import asyncio
import copy
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    HIGHEST_PRECEDENCE,
    AdvisorChain,
    AssistantMessage,
    BaseAdvisor,
    ChatClient,
    ChatClientRequest,
    ChatClientResponse,
    ChatMemory,
    ChatModel,
    ChatResponse,
    DefaultToolCallingManager,
    FunctionToolCallback,
    Generation,
    Message,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    Prompt,
    SystemMessage,
    ToolCall,
    ToolCallingAdvisor,
    ToolCallLimits,
    ToolMetadata,
    ToolResponse,
    ToolResponseMessage,
    UsageError,
    UserMessage,
    tool,
)
from vernal.testing import ScriptedChatModel, assert_replayable, chunks, tool_call
from vernal.values.replay import NOT_EXECUTED

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form

U0, A0, U1, U2 = UserMessage("First."), AssistantMessage("One."), UserMessage("Second."), UserMessage("Third.")
S1, S2 = SystemMessage("Be brief."), SystemMessage("Be kind.")
CALL = AssistantMessage(tool_calls=(ToolCall("1", "look"),))
SEEN = ToolResponseMessage((ToolResponse("1", "look", "seen"),))
CALL2 = AssistantMessage(tool_calls=(ToolCall("2", "look"),))
SEEN2 = ToolResponseMessage((ToolResponse("2", "look", "seen again"),))
DONE = AssistantMessage("Done.")
INSIDE = HIGHEST_PRECEDENCE + 400


class Session:
    """A client with memory and without a tool loop, as a loop driven by hand uses it."""

    def __init__(self, form: "Form", remembered: list[Message] | None = None, *, max_messages: int = 20) -> None:
        self.form = form
        self.memory = MessageWindowChatMemory(max_messages=max_messages)
        if remembered:
            self.memory.add("c", remembered)
        self.advisor = MessageChatMemoryAdvisor(chat_memory=self.memory)
        self.model = ScriptedChatModel()

    def ask(self, *messages: Message, answer: Any = "Done.") -> tuple[Message, ...]:
        """Sends `messages`; gives what has reached the model."""
        self.model._script.append(answer)
        spec = ChatClient(self.model).prompt(Prompt(messages))
        spec.advisors(self.advisor, tool_calling_advisor_auto_register=False, conversation_id="c")
        self.form.ask(spec)
        return self.model.requests[-1].messages

    @property
    def remembered(self) -> list[Message]:
        messages = self.memory.get("c")
        assert_replayable(messages)
        return messages


def test_an_advisor_needs_a_memory_and_has_its_order() -> None:
    """MEM-01: the text says what was given; the default order is before the tool loop, another one is kept."""
    with pytest.raises(TypeError, match="chat_memory is None; a ChatMemory is wanted"):
        MessageChatMemoryAdvisor(chat_memory=None)  # type: ignore[arg-type]  # a wrong kind
    memory = MessageWindowChatMemory()
    assert MessageChatMemoryAdvisor(chat_memory=memory).order == HIGHEST_PRECEDENCE + 200
    assert MessageChatMemoryAdvisor(chat_memory=memory, memory_order=7).order == 7


@pytest.mark.parametrize("parameters", [{}, {"conversation_id": ""}, {"conversation_id": " "}])
def test_a_request_names_its_conversation(form: "Form", parameters: dict[str, str]) -> None:
    """MEM-02: there is no default conversation, which strangers would share; the text shows how to name one."""
    advisor = MessageChatMemoryAdvisor(chat_memory=MessageWindowChatMemory())
    model = ScriptedChatModel(["Never."])
    with pytest.raises(UsageError, match=r"conversation_id .*\.advisors\(conversation_id="):
        form.ask(ChatClient(model).prompt("Hello.").advisors(advisor, **parameters))
    assert model.requests == []


def test_a_conversation_id_may_be_anything_with_a_text(form: "Form") -> None:
    """MEM-02: a number names the conversation that its text names."""
    memory = MessageWindowChatMemory()
    advisor = MessageChatMemoryAdvisor(chat_memory=memory)
    form.ask(ChatClient(ScriptedChatModel(["Done."])).prompt("Hi.").advisors(advisor, conversation_id=42))
    assert memory.get("42") == [UserMessage("Hi."), DONE]


def test_question_and_answer_are_remembered(form: "Form") -> None:
    """MEM-03, MEM-10: the user's message, and the answer after it."""
    session = Session(form)
    assert session.ask(U1) == (U1,)
    assert session.remembered == [U1, DONE]


def test_of_messages_that_start_a_turn_the_last_is_remembered(form: "Form") -> None:
    """MEM-04: what a request brings along (examples, an older conversation) is sent, not remembered."""
    session = Session(form)
    assert session.ask(U0, A0, U1) == (U0, A0, U1)
    assert session.remembered == [U1, DONE]


def test_a_tool_response_is_remembered_with_its_call(form: "Form") -> None:
    """MEM-04, R1: nothing of the turn was known; its user message and call come with the response."""
    session = Session(form)
    assert session.ask(U0, A0, U1, CALL, SEEN) == (U0, A0, U1, CALL, SEEN)
    assert session.remembered == [U1, CALL, SEEN, DONE]


def test_a_turn_without_its_user_message_is_remembered_from_its_call(form: "Form") -> None:
    """MEM-04, R1: where the user's message is not in the request, a response still comes with its call."""
    session = Session(form)
    assert session.ask(CALL, SEEN, U1) == (CALL, SEEN, U1)
    assert session.remembered == [U1, DONE]
    session = Session(form)
    assert session.ask(S1, CALL, SEEN) == (S1, CALL, SEEN)
    assert session.remembered == [CALL, SEEN, DONE]


def test_messages_without_a_user_start_no_memory(form: "Form") -> None:
    """MEM-04: of a lone answer nothing is remembered but what the model says to it."""
    session = Session(form)
    assert session.ask(A0) == (A0,)
    assert session.remembered == [DONE]


def test_a_loop_by_hand_repeats_nothing(form: "Form") -> None:
    """MEM-05, R4: round by round the prompt goes out as it is, and the memory ends with the whole turn."""
    session = Session(form, [U0, A0])
    assert session.ask(U1, answer=CALL.tool_calls) == (U0, A0, U1)
    assert session.ask(U1, CALL, SEEN, answer=CALL2.tool_calls) == (U0, A0, U1, CALL, SEEN)
    assert session.ask(U1, CALL, SEEN, CALL2, SEEN2) == (U0, A0, U1, CALL, SEEN, CALL2, SEEN2)
    assert session.remembered == [U0, A0, U1, CALL, SEEN, CALL2, SEEN2, DONE]


def test_a_small_window_keeps_the_turn_in_flight(form: "Form") -> None:
    """MEM-06, R2: against Spring AI the turn's own messages are never evicted; the prompt goes out as it is."""
    session = Session(form, [U0, A0], max_messages=3)
    session.ask(U1, answer=CALL.tool_calls)
    session.ask(U1, CALL, SEEN, answer=CALL2.tool_calls)
    assert session.ask(U1, CALL, SEEN, CALL2, SEEN2)[-5:] == (U1, CALL, SEEN, CALL2, SEEN2)
    assert session.remembered == [U1, CALL, SEEN, CALL2, SEEN2, DONE]


@pytest.mark.parametrize(
    ("messages", "sent"),
    [
        ((S1, U1), (S1, U0, A0, U1)),
        ((U1, S1), (S1, U0, A0, U1)),
        ((S1, U1, S2), (S1, U0, A0, U1, S2)),
        ((S1, S2, U1), (S1, U0, A0, S2, U1)),
    ],
)
def test_the_first_system_message_comes_first(
    form: "Form", messages: tuple[Message, ...], sent: tuple[Message, ...]
) -> None:
    """MEM-07, MEM-08, MEM-13: before what is remembered; others stay where they are among the request's messages."""
    session = Session(form, [U0, A0])
    assert session.ask(*messages) == sent
    assert session.remembered == [U0, A0, U1, DONE]


def test_a_remembered_system_message_comes_first_too(form: "Form") -> None:
    """MEM-07: where the request has none; one that both have goes out once (R4)."""
    assert Session(form, [U0, A0, S1]).ask(U1) == (S1, U0, A0, U1)
    assert Session(form, [S1, U0, A0]).ask(S1, U1) == (S1, U0, A0, U1)


@pytest.mark.parametrize(
    ("remembered", "messages", "sent"),
    [
        ([], (U1,), (U1,)),
        ([U0, A0], (U0, A0, U1), (U0, A0, U1)),
        ([U2, A0, U0, A0], (U0, A0, U1), (U2, A0, U0, A0, U1)),
        ([U0, A0], (U0,), (U0, A0, U0)),
        ([U0], (U0,), (U0, U0)),
    ],
)
def test_what_the_prompt_repeats_is_sent_once(
    form: "Form", remembered: list[Message], messages: tuple[Message, ...], sent: tuple[Message, ...]
) -> None:
    """MEM-09, R4: the end of the memory at the head of the prompt is the same; a question asked again is not."""
    session = Session(form, remembered)
    assert session.ask(*messages) == sent
    assert session.remembered == [*sent, DONE]


def test_all_answers_are_remembered(form: "Form") -> None:
    """MEM-10: the outputs of all generations."""
    session = Session(form)
    session.ask(U1, answer=ChatResponse([Generation(A0), Generation(DONE)]))
    assert session.remembered == [U1, A0, DONE]


def test_no_answer_is_none_to_remember(form: "Form") -> None:
    """MEM-10: a response without generations adds nothing."""
    session = Session(form)
    session.ask(U1, answer=ChatResponse())
    assert session.remembered == [U1]


def test_a_streamed_answer_is_remembered_once_and_whole(form: "Form") -> None:
    """MEM-11: the aggregate of the chunks, at the end."""
    session = Session(form)
    session.ask(U1, answer=chunks("Do", "", "ne."))
    assert session.remembered == [U1, DONE]


def test_of_an_answer_that_broke_nothing_is_remembered(form: "Form") -> None:
    """MEM-11: the user's message is; the next turn goes on from there."""
    session = Session(form)
    with pytest.raises(OSError, match="cut"):
        session.ask(U1, answer=chunks("Do", OSError("cut")))
    assert session.remembered == [U1]
    assert session.ask(U2) == (U1, U2)


class Halting(ChatModel):
    """Says one piece, and then nothing more."""

    async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        yield ChatResponse.of("Do")
        await asyncio.Event().wait()


def test_of_an_answer_that_was_left_nothing_is_remembered() -> None:
    """MEM-11: a stream that its reader closes early leaves the user's message, in both forms."""
    memory = MessageWindowChatMemory()
    client = ChatClient(Halting())
    advisor = MessageChatMemoryAdvisor(chat_memory=memory)

    async def leave_early() -> None:
        async with client.prompt("Hi.").advisors(advisor, conversation_id="a").astream().content() as texts:
            assert await anext(aiter(texts)) == "Do"

    with client.prompt("Hi.").advisors(advisor, conversation_id="b").stream().content() as texts:
        assert next(texts) == "Do"
    asyncio.run(leave_early())
    assert memory.get("a") == memory.get("b") == [UserMessage("Hi.")]


@pytest.mark.parametrize("order", [HIGHEST_PRECEDENCE + 200, INSIDE], ids=["outside", "inside"])
def test_two_turns_of_a_session(form: "Form", order: int) -> None:
    """MEM-12: system first, then the first turn, then the second; in the loop or before it."""
    model, memory = ScriptedChatModel(["One.", "Two."]), MessageWindowChatMemory()
    advisor = MessageChatMemoryAdvisor(chat_memory=memory, memory_order=order)
    builder = ChatClient.builder(model).default_system("Be brief.").default_advisors(advisor, conversation_id="c")
    client = builder.build()
    form.ask(client.prompt("First."))
    form.ask(client.prompt("Second."))
    assert model.requests[0].messages == (S1, U0)
    assert model.requests[1].messages == (S1, U0, A0, U1)
    assert memory.get("c") == [U0, A0, U1, AssistantMessage("Two.")]


@tool
def look() -> str:
    """Looks."""
    return "seen"


def inside(model: ScriptedChatModel, memory: ChatMemory) -> ChatClient:
    advisor = MessageChatMemoryAdvisor(chat_memory=memory, memory_order=INSIDE)
    return ChatClient.builder(model).default_tools(look).default_advisors(advisor, conversation_id="c").build()


def test_inside_the_loop_every_round_is_remembered(form: "Form") -> None:
    """MEM-05, R1, R4: calls, responses and answer, each once, in order."""
    model, memory = ScriptedChatModel([CALL.tool_calls, "Done.", "Again."]), MessageWindowChatMemory()
    client = inside(model, memory)
    form.ask(client.prompt("First."))
    assert memory.get("c") == [U0, CALL, SEEN, DONE]
    assert model.requests[1].messages == (U0, CALL, SEEN)
    form.ask(client.prompt("Second."))
    assert model.requests[2].messages == (U0, CALL, SEEN, DONE, U1)


def test_messages_that_were_copied_on_the_way_are_the_same(form: "Form") -> None:
    """R4: they are matched by what they say; an advisor between loop and memory may make them anew."""

    class Copying(BaseAdvisor):
        order = INSIDE - 1

        async def before(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
            return request.with_prompt(request.prompt.with_messages(copy.deepcopy(request.prompt.messages)))

    script = [CALL.tool_calls, CALL2.tool_calls, "Done."]
    model, memory = ScriptedChatModel(script), MessageWindowChatMemory()
    form.ask(inside(model, memory).prompt("First.").advisors(Copying()))
    first, second = ToolResponse("1", "look", "seen"), ToolResponse("2", "look", "seen")
    turn = (U0, CALL, ToolResponseMessage([first]), CALL2, ToolResponseMessage([second]))
    assert model.requests[-1].messages == turn
    assert memory.get("c") == [*turn, DONE]


def test_a_response_of_nothing_adds_nothing() -> None:
    """MEM-10: a careless model gives None."""
    memory = MessageWindowChatMemory()
    advisor = MessageChatMemoryAdvisor(chat_memory=memory)
    response = ChatClientResponse(None, {"conversation_id": "c"})
    assert asyncio.run(advisor.after(response, AdvisorChain())) is response
    assert memory.get("c") == []


def test_of_two_generations_with_calls_the_executed_one_is_remembered(form: "Form") -> None:
    """MEM-10, TCM-16, R1: the calls of the other are answered by nobody, and therefore not kept."""
    response = ChatResponse([Generation(CALL), Generation(CALL2)])
    model, memory = ScriptedChatModel([response, "Done."]), MessageWindowChatMemory()
    form.ask(inside(model, memory).prompt("First."))
    assert memory.get("c") == [U0, CALL, SEEN, DONE]
    assert model.requests[1].messages == (U0, CALL, SEEN)


@pytest.mark.parametrize("order", [HIGHEST_PRECEDENCE + 200, INSIDE], ids=["outside", "inside"])
@pytest.mark.parametrize("ending", ["direct", "limit"])
def test_an_answer_that_is_not_the_models_is_remembered_too(form: "Form", order: int, ending: str) -> None:
    """MEM-10, R4, R14: a direct result, or the text of a limit, wherever the memory stands; no call without answer."""
    direct = FunctionToolCallback(lambda: "result", name="direct", metadata=ToolMetadata(return_direct=True))
    memory = MessageWindowChatMemory()
    advisor = MessageChatMemoryAdvisor(chat_memory=memory, memory_order=order)
    script = [tool_call("look"), tool_call("direct") if ending == "direct" else tool_call("look"), "Done."]
    manager = DefaultToolCallingManager(limits=ToolCallLimits(max_calls_per_tool={"look": 1}))
    model = ScriptedChatModel(script)
    builder = ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(tool_calling_manager=manager))
    client = builder.default_tools(look, direct).default_advisors(advisor, conversation_id="c").build()
    answer = form.ask(client.prompt("First.")).text
    assert answer == "result" if ending == "direct" else "limit" in str(answer)
    remembered = memory.get("c")
    assert (remembered[0], remembered[-1]) == (U0, AssistantMessage(answer))
    assert_replayable(remembered)
    model._script[:] = ["Done."]
    form.ask(client.prompt("Second."))
    assert model.requests[-1].messages == (*remembered, U1)


@pytest.mark.parametrize("moment", ["the second request", "the tool"])
def test_memory_can_be_replayed_after_a_crash_between_rounds(form: "Form", moment: str) -> None:
    """R1: a call without its response is not remembered; what was is fit for the next turn."""
    memory = MessageWindowChatMemory()

    def crash() -> str:
        """Crashes."""
        raise KeyboardInterrupt

    script = [tool_call("crash" if moment == "the tool" else "look"), RuntimeError("crash")]
    with pytest.raises((RuntimeError, KeyboardInterrupt)):
        form.ask(inside(ScriptedChatModel(script), memory).prompt("First.").tools(crash))
    assert_replayable(memory.get("c"))
    model = ScriptedChatModel(["Done."])
    form.ask(inside(model, memory).prompt("Second."))
    sent = model.requests[0].messages
    assert (sent[0], sent[-1]) == (U0, U1)


def test_unanswered_calls_of_a_foreign_memory_are_answered_when_sent(form: "Form") -> None:
    """R1: a store that was written by others may end in a call; the request does not."""
    sent = Session(form, [U0, CALL]).ask(U1)
    refusal = ToolResponseMessage((ToolResponse("1", "look", NOT_EXECUTED, is_error=True),))
    assert sent == (U0, CALL, refusal, U1)
