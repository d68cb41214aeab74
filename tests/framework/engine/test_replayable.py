"""After anything that can happen the history can be replayed (R1)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import (
    HIGHEST_PRECEDENCE,
    AssistantMessage,
    ChatClient,
    ChatGenerationMetadata,
    ChatResponse,
    DefaultToolCallingManager,
    DefaultToolExecutionExceptionProcessor,
    FunctionToolCallback,
    Generation,
    Message,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    Prompt,
    SystemMessage,
    ToolCall,
    ToolCallback,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
    ToolCallLimitExceeded,
    ToolCallLimits,
    ToolExecutionException,
    ToolMetadata,
    ToolResponse,
    ToolResponseMessage,
    UsageError,
    UserMessage,
)
from vernal.testing import ScriptedChatModel, assert_replayable, chunks
from vernal.values.replay import NOT_EXECUTED, replay_faults, replayable

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form


class Crash(BaseException):
    """What no policy catches."""


class Fatal(Exception):
    """What the processor raises."""


def _fail() -> str:
    raise ValueError("failed")


def _fatal() -> str:
    raise Fatal("fatal")


def _crash() -> str:
    raise Crash


def ok(n: int = 0) -> str:
    return f"ok {n}"


def tools() -> list[ToolCallback]:
    direct = ToolMetadata(return_direct=True)
    return [
        FunctionToolCallback(ok, metadata=ToolMetadata(effects="write")),  # type: ignore[arg-type]  # texts are taken
        FunctionToolCallback(lambda: "direct", name="direct", metadata=direct),
        FunctionToolCallback(_fail, name="fail", metadata=direct),
        FunctionToolCallback(_fatal, name="fatal"),
        FunctionToolCallback(_crash, name="crash"),
    ]


NAMES = st.sampled_from(["ok", "ok", "ok", "direct", "fail", "fatal", "crash", "ghost", ""])
IDS = st.sampled_from(["", " ", "1", "1", "2", "3"])
ARGUMENTS = st.sampled_from(
    ["{}", '{"n": 1}', '{"n": 2}', '{"n": "x"}', "", "null", "[1]", "{oops", '```json\n{"n": 1}\n```', '{"n": NaN}']
)
CALLS = st.lists(st.builds(ToolCall, IDS, NAMES, ARGUMENTS), max_size=3)
REASONS = st.sampled_from([None, "stop", "tool_calls", "tool_calls", "length", "content_filter"])
TEXTS = st.sampled_from([None, "", "text"])


def _response(generations: list[tuple[str | None, list[ToolCall], str | None]]) -> ChatResponse:
    return ChatResponse(
        Generation(AssistantMessage(text, calls), ChatGenerationMetadata(reason)) for text, calls, reason in generations
    )


RESPONSES = st.lists(st.tuples(TEXTS, CALLS, REASONS), max_size=2).map(_response)
ANSWERS = st.one_of(
    RESPONSES,
    RESPONSES,
    st.lists(RESPONSES, max_size=3).map(lambda parts: chunks(*parts) if parts else "text"),
    st.builds(lambda response: chunks(response, Fatal("broke")), RESPONSES),
    st.just(Fatal("refused")),
)


@dataclass(frozen=True)
class Setting:
    """Where the memory stands, how large it is, and how strict the rest."""

    memory: int | None
    size: int
    limit: int
    on_limit: str
    rethrow: bool


SETTINGS = st.builds(
    Setting,
    memory=st.sampled_from([None, 200, 400]),
    size=st.integers(1, 8),
    limit=st.integers(1, 4),
    on_limit=st.sampled_from(["throw", "return_error_response"]),
    rethrow=st.booleans(),
)


def client(model: ScriptedChatModel, memory: MessageWindowChatMemory, setting: Setting) -> ChatClient:
    manager = DefaultToolCallingManager(
        limits=ToolCallLimits(max_total_tool_calls=setting.limit, on_limit_exceeded=setting.on_limit),  # type: ignore[arg-type]  # texts are taken
        tool_execution_exception_processor=DefaultToolExecutionExceptionProcessor(
            rethrow_exceptions=[Fatal] if setting.rethrow else []
        ),
    )
    builder = ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(tool_calling_manager=manager))
    builder.default_system("Be brief.").default_tools(*tools())
    if setting.memory is not None:
        advisor = MessageChatMemoryAdvisor(chat_memory=memory, memory_order=HIGHEST_PRECEDENCE + setting.memory)
        builder.default_advisors(advisor, conversation_id="c")
    return builder.build()


@given(script=st.lists(ANSWERS, min_size=1, max_size=6), setting=SETTINGS, turns=st.integers(1, 3))
def test_requests_and_memory_can_always_be_replayed(
    forms: "tuple[Form, ...]", script: list[Any], setting: Setting, turns: int
) -> None:
    """R1: whatever the model sends and the tools do, turn after turn, each request that a model receives and each
    memory is replayable, and the latest question is in every request."""
    for form in forms:
        model, memory = ScriptedChatModel(script), MessageWindowChatMemory(max_messages=setting.size)
        asked = client(model, memory, setting)
        for turn in range(turns):
            before, broken = len(model.requests), False
            try:
                form.ask(asked.prompt(f"Question {turn}"))
            except (Fatal, Crash):
                broken = True
            except UsageError:
                broken = True  # the end of the script
                assert model.remaining == 0
            requests = model.requests[before:]
            assert requests
            for request in requests:
                assert_replayable(request.messages)
                assert request.messages[0] == SystemMessage("Be brief.")
                questions = [m.text for m in request.messages if isinstance(m, UserMessage)]
                assert questions[-1] == f"Question {turn}"
            remembered = memory.get("c")
            assert_replayable(remembered)
            if setting.memory is not None:
                assert UserMessage(f"Question {turn}") in remembered
            if broken:
                break


@given(script=st.lists(RESPONSES, min_size=1, max_size=6), setting=SETTINGS)
def test_histories_of_a_loop_by_hand_can_always_be_replayed(script: list[ChatResponse], setting: Setting) -> None:
    """R1, R12: of every round, and of what an exception carries."""
    manager = DefaultToolCallingManager(
        limits=ToolCallLimits(max_total_tool_calls=setting.limit, on_limit_exceeded=setting.on_limit),  # type: ignore[arg-type]  # texts are taken
        tool_execution_exception_processor=DefaultToolExecutionExceptionProcessor(always_throw=setting.rethrow),
    )
    options = ToolCallingChatOptions(tool_callbacks=tools())
    model = ScriptedChatModel([*script, "Done."])
    prompt = Prompt("Go on.", options)
    response = model.call(prompt)
    while response.has_tool_calls:
        try:
            result = manager.execute_tool_calls(prompt, response)
        except Crash:
            return
        except (ToolCallLimitExceeded, ToolExecutionException) as error:
            assert_replayable(error.partial_result.conversation_history)
            return
        assert_replayable(result.conversation_history)
        assert result.conversation_history[: len(prompt.messages)] == prompt.messages
        prompt = Prompt(result.conversation_history, options)
        response = model.call(prompt)


MESSAGES: st.SearchStrategy[list[Message]] = st.lists(
    st.one_of(
        st.sampled_from([SystemMessage("s"), UserMessage("u"), AssistantMessage("a")]),
        st.lists(IDS.filter(str.strip), min_size=1, max_size=2, unique=True).map(
            lambda ids: AssistantMessage(tool_calls=[ToolCall(call_id, "ok") for call_id in ids])
        ),
        st.lists(IDS.filter(str.strip), max_size=2).map(
            lambda ids: ToolResponseMessage(ToolResponse(call_id, "ok", "done") for call_id in ids)
        ),
    ),
    max_size=8,
)


@given(messages=MESSAGES)
def test_any_history_can_be_made_replayable(messages: list[Message]) -> None:
    """R1: calls are answered by an error, answers without a call are left out, nothing else changes."""
    repaired = replayable(messages)
    assert_replayable(repaired)
    kinds = (SystemMessage, UserMessage, AssistantMessage)
    assert [m for m in repaired if isinstance(m, kinds)] == [m for m in messages if isinstance(m, kinds)]
    if not replay_faults(messages):
        assert repaired == tuple(messages)
    assert replayable(repaired) == repaired


@given(before=MESSAGES, new=MESSAGES)
def test_what_is_known_to_be_replayable_is_not_looked_at_again(before: list[Message], new: list[Message]) -> None:
    """R1: the result is the same, whatever follows; where the beginning is another, nothing is taken for known."""
    known = replayable(before)
    assert replayable((*known, *new), known=known) == replayable((*known, *new))
    assert replayable(new, known=(UserMessage("another"), *known)) == replayable(new)


A, B = ToolCall("1", "ok"), ToolCall("2", "ok")
ANSWER_A, ANSWER_B = ToolResponse("1", "ok", "a"), ToolResponse("2", "ok", "b")


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([AssistantMessage(tool_calls=[A])], "ends with the tool calls ['1']"),
        ([AssistantMessage(tool_calls=[A]), UserMessage("u")], "message 1 follows the tool calls ['1']"),
        ([ToolResponseMessage([ANSWER_A])], "message 0 answers the calls ['1'], but [] are"),
        ([AssistantMessage(tool_calls=[A, B]), ToolResponseMessage([ANSWER_A])], "but ['1', '2'] are"),
        ([AssistantMessage(tool_calls=[A]), ToolResponseMessage([ANSWER_A, ANSWER_A])], "answers the calls ['1', '1']"),
        ([AssistantMessage(tool_calls=[A, A]), ToolResponseMessage([ANSWER_A] * 2)], "unique, non-blank ids"),
        ([AssistantMessage(tool_calls=[ToolCall("", "ok")]), ToolResponseMessage([])], "unique, non-blank ids"),
        (
            [AssistantMessage(tool_calls=[ToolCall("1", "ok", "{oops")]), ToolResponseMessage([ANSWER_A])],
            "the arguments of call '1' are '{oops', no JSON object",
        ),
        (
            [AssistantMessage(tool_calls=[ToolCall("1", "ok", "[1]")]), ToolResponseMessage([ANSWER_A])],
            "the arguments of call '1' are '[1]', no JSON object",
        ),
        (
            [AssistantMessage(tool_calls=[A]), ToolResponseMessage([ANSWER_A]), ToolResponseMessage([ANSWER_A])],
            "message 2 answers the calls ['1'], but [] are",
        ),
    ],
)
def test_the_assertion_names_every_fault(messages: list[Message], fault: str) -> None:
    """R1: `assert_replayable` fails, and says which message is wrong and why."""
    with pytest.raises(AssertionError) as caught:
        assert_replayable(messages)
    assert fault in str(caught.value)


def test_a_fault_is_told_once() -> None:
    """R1: the messages after it are judged by themselves."""
    call = AssistantMessage(tool_calls=[A])
    assert len(replay_faults([call, UserMessage("u"), AssistantMessage("a"), UserMessage("v")])) == 1
    assert len(replay_faults([call, UserMessage("u"), call, UserMessage("v"), call])) == 3


def test_a_call_that_was_left_out_is_answered_beside_the_others() -> None:
    """R1: by an error that says so, in call order; answers to no call go."""
    stray = ToolResponse("9", "ok", "stray")
    repaired = replayable([AssistantMessage(tool_calls=[A, B]), ToolResponseMessage([stray, ANSWER_B])])
    refusal = ToolResponse("1", "ok", NOT_EXECUTED, is_error=True)
    assert repaired[1] == ToolResponseMessage([refusal, ANSWER_B])


def test_the_assertion_is_silent_where_all_is_well() -> None:
    """R1: answers may come in another order within their message; the next round has its own."""
    assert_replayable(
        [
            SystemMessage("s"),
            UserMessage("u"),
            AssistantMessage("text", [A, B]),
            ToolResponseMessage([ANSWER_B, ANSWER_A]),
            AssistantMessage(tool_calls=[ToolCall("3", "ok")]),
            ToolResponseMessage([ToolResponse("3", "ok", "c")]),
            AssistantMessage("done"),
        ]
    )
