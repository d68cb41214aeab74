"""The same call again and again is noticed well before the count limit (R10)."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import (
    AssistantMessage,
    ChatClient,
    ChatResponse,
    DefaultToolCallingManager,
    FunctionToolCallback,
    Message,
    Prompt,
    ToolCall,
    ToolCallback,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
    ToolCallLimits,
    ToolEffects,
    ToolMetadata,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
)
from vernal.testing import ScriptedChatModel, tool_call, tool_calls
from vernal.tools.round import REPEATED_TEXT
from vernal.tools.turns import OUTCOME_UNKNOWN

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Execute, Form


class Worker:
    """A tool that keeps what it was called with; it fails while `failures` last."""

    def __init__(self, failures: int = 0, **metadata: Any) -> None:
        self.made: list[int] = []
        self.failures = failures
        self.metadata = ToolMetadata(**metadata)

    @property
    def tool(self) -> ToolCallback:
        def work(n: int = 0) -> str:
            self.made.append(n)
            if len(self.made) <= self.failures:
                raise OSError("busy")
            return f"did {n}"

        return FunctionToolCallback(work, metadata=self.metadata)


def other() -> str:
    return "other"


def ask(form: "Form", worker: Worker, *rounds: Any, **limits: Any) -> list[tuple[str, bool]]:
    """Runs a turn with these calls; gives the answers, in order, and whether they are errors."""
    model = ScriptedChatModel([*rounds, "Done."])
    advisor = ToolCallingAdvisor(tool_calling_manager=DefaultToolCallingManager(limits=ToolCallLimits(**limits)))
    client = ChatClient.builder(model).tool_advisor(advisor).build()
    assert form.ask(client.prompt("Go on.").tools(worker.tool, other)).text == "Done."
    messages = [m for m in model.requests[-1].messages if isinstance(m, ToolResponseMessage)]
    return [(response.data, response.is_error) for message in messages for response in message.responses]


def work(n: int = 0) -> ToolCall:
    return tool_call("work", n=n)


HINT = (REPEATED_TEXT, True)


def test_the_third_identical_call_in_a_row_is_answered_with_a_hint(form: "Form") -> None:
    """R10: two run, the third and the fourth do not; another call in between starts anew."""
    worker = Worker()
    answers = ask(form, worker, work(), work(), work(), work(), tool_call("other"), work())
    assert answers == [("did 0", False)] * 2 + [HINT] * 2 + [("other", False), ("did 0", False)]
    assert worker.made == [0, 0, 0]


def test_calls_with_other_arguments_are_no_repetition(form: "Form") -> None:
    """R10: what is the same is tool and arguments together, whatever the order and spacing of the text."""
    worker = Worker()
    ask(form, worker, work(1), work(2), work(1), work(2), work(1))
    assert worker.made == [1, 2, 1, 2, 1]
    texts = ['{"n":1,"m":2}', '{"m": 2, "n": 1}', '{ "n" : 1, "m" : 2 }']
    worker = Worker()
    assert ask(form, worker, *(ToolCall("", "work", text) for text in texts))[-1] == HINT
    assert worker.made == [1, 1]


def test_repetitions_within_a_batch_are_noticed(form: "Form") -> None:
    """R10: three identical calls in one answer of the model: the third is not run."""
    worker = Worker()
    assert ask(form, worker, tool_calls(work(), work(), work())) == [("did 0", False)] * 2 + [HINT]
    assert worker.made == [0, 0]


def test_how_many_identical_calls_run_can_be_set(form: "Form") -> None:
    """R10: `max_identical_calls`, and None for any number."""
    worker = Worker()
    ask(form, worker, work(), work(), work(), max_identical_calls=1)
    assert worker.made == [0]
    worker = Worker()
    ask(form, worker, *[work()] * 5, max_identical_calls=None)
    assert worker.made == [0] * 5


def test_a_tool_that_polls_is_left_alone(form: "Form") -> None:
    """R10: `polling` says that repeated identical calls are meant."""
    worker = Worker(polling=True)
    ask(form, worker, *[work()] * 5)
    assert worker.made == [0] * 5


@pytest.mark.parametrize("effects", [ToolEffects.WRITE, ToolEffects.DESTRUCTIVE])
@pytest.mark.parametrize("rounds", [[work(), tool_call("other"), work()], [tool_calls(work(), work())]])
def test_a_write_runs_once(form: "Form", effects: ToolEffects, rounds: Sequence[Any]) -> None:
    """R10: from the second on, also where other calls came in between, also in one batch."""
    worker = Worker(effects=effects)
    assert ask(form, worker, *rounds)[-1] == HINT
    assert worker.made == [0]


def test_an_idempotent_write_and_a_read_may_be_repeated(form: "Form") -> None:
    """R10: they are held to the rule of three only."""
    for metadata in ({"effects": "write", "idempotent": True}, {"effects": "read"}):
        worker = Worker(**metadata)
        assert ask(form, worker, work(), work(), work())[-1] == HINT
        assert worker.made == [0, 0]


def test_a_write_that_failed_may_be_tried_again(form: "Form") -> None:
    """R10: it took no effect; a third failure in a row is noticed all the same."""
    worker = Worker(failures=1, effects="write")
    assert ask(form, worker, work(), work()) == [("busy", True), ("did 0", False)]
    worker = Worker(failures=9, effects="write")
    assert ask(form, worker, work(), work(), work()) == [("busy", True)] * 2 + [HINT]


def test_arguments_that_fit_nothing_are_repetitions_too(form: "Form") -> None:
    """R10: the same unparsable text three times; what parses to nothing is another call than that."""
    worker = Worker()
    garbage = ToolCall("", "work", "{oops")
    assert ask(form, worker, garbage, garbage, garbage)[-1] == HINT
    assert ask(form, worker, garbage, garbage, ToolCall("", "work", "{}"))[-1] == ("did 0", False)
    assert ask(form, worker, garbage, garbage, ToolCall("", "work", "{other"))[-1] != HINT


def test_a_new_turn_knows_nothing_of_earlier_ones(form: "Form") -> None:
    """R10: it is the turn in which the same call is noticed."""
    worker = Worker(effects="write")
    for _ in range(2):
        ask(form, worker, work())
    assert worker.made == [0, 0]


def past(call: ToolCall, **response: Any) -> list[Message]:
    answer = ToolResponse(call.id, call.name, "before", **response)
    return [AssistantMessage(tool_calls=(call,)), ToolResponseMessage((answer,))]


@pytest.mark.parametrize(
    ("response", "runs"),
    [({}, False), ({"is_error": True}, True), ({"is_error": True, "metadata": {OUTCOME_UNKNOWN: True}}, False)],
)
def test_by_hand_the_prompt_tells_what_was_done(
    execute_by_hand: "Execute", response: dict[str, Any], runs: bool
) -> None:
    """R10, R16: a write that succeeded or whose outcome is unknown is not done again, one that failed is."""
    worker = Worker(effects="write")
    messages = [UserMessage("Go on."), *past(ToolCall("1", "work", '{"n": 0}'), **response)]
    prompt = Prompt(messages, ToolCallingChatOptions(tool_callbacks=[worker.tool]))
    execute_by_hand(DefaultToolCallingManager(), prompt, ChatResponse.of(tool_calls=[work()]))
    assert worker.made == ([0] if runs else [])


def test_a_write_that_ran_into_its_timeout_is_not_done_again(form: "Form", execute_by_hand: "Execute") -> None:
    """R10, R16: whether it took effect is unknown; in the loop, and by hand, where the history tells it."""
    begun: list[str] = []

    async def slow() -> str:
        begun.append("slow")
        await asyncio.Event().wait()
        return "never"

    metadata = ToolMetadata(effects=ToolEffects.WRITE, timeout=0.01)
    tool, manager = FunctionToolCallback(slow, metadata=metadata), DefaultToolCallingManager()
    model = ScriptedChatModel([tool_call("slow"), tool_call("slow"), "Done."])
    form.ask(ChatClient(model).prompt("Go on.").tools(tool))
    assert begun == ["slow"]
    prompt = Prompt("Go on.", ToolCallingChatOptions(tool_callbacks=[tool]))
    for call_id in ("1", "2"):
        response = ChatResponse.of(tool_calls=[ToolCall(call_id, "slow")])
        prompt = prompt.with_messages(execute_by_hand(manager, prompt, response).conversation_history)
    assert begun == ["slow", "slow"]


def test_by_hand_unparsable_arguments_are_told_apart(execute_by_hand: "Execute") -> None:
    """R10, R1: `{}` in the history that stands for garbage is no call without arguments."""
    worker, garbage = Worker(), ToolCall("1", "work", "{}", metadata={"rawArguments": "{oops"})
    second = ToolCall("2", "work", "{}", metadata={"rawArguments": "{oops"})
    messages = [UserMessage("Go on."), *past(garbage, is_error=True), *past(second, is_error=True)]
    prompt = Prompt(messages, ToolCallingChatOptions(tool_callbacks=[worker.tool]))
    execute_by_hand(DefaultToolCallingManager(), prompt, ChatResponse.of(tool_calls=[ToolCall("3", "work", "{}")]))
    assert worker.made == [0]


@given(numbers=st.lists(st.integers(0, 1), max_size=12), write=st.booleans())
def test_no_sequence_of_calls_escapes(forms: "tuple[Form, ...]", numbers: list[int], write: bool) -> None:
    """R10: whatever comes in whatever order, a read runs at most twice in a row, a write once; all is answered."""
    for form in forms:
        worker = Worker(effects="write") if write else Worker()
        answers = ask(form, worker, *map(work, numbers))
        assert len(answers) == len(numbers)
        if write:
            assert worker.made == list(dict.fromkeys(numbers))
        else:
            expected = [n for i, n in enumerate(numbers) if numbers[max(i - 2, 0) : i + 1] != [n] * 3]
            assert worker.made == expected
