"""R2: a memory window drops whole turns, oldest first."""

from hypothesis import given
from hypothesis import strategies as st

from vernal import (
    AssistantMessage,
    Message,
    MessageWindowChatMemory,
    SystemMessage,
    ToolCall,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
)
from vernal.testing import assert_replayable


def turn(number: int, rounds: int, *, finished: bool) -> list[Message]:
    """A user's message, rounds of tool calls, and an answer if it is finished."""
    messages: list[Message] = [UserMessage(f"question {number}")]
    for index in range(rounds):
        call_id = f"{number}-{index}"
        messages.append(AssistantMessage(tool_calls=[ToolCall(call_id, "look")]))
        messages.append(ToolResponseMessage([ToolResponse(call_id, "look", "seen")]))
    return [*messages, AssistantMessage(f"answer {number}")] if finished else messages


TURNS = st.lists(st.integers(0, 3), min_size=1, max_size=6)


@given(rounds=TURNS, window=st.integers(1, 12), finished=st.booleans(), system=st.booleans(), together=st.booleans())
def test_only_whole_old_turns_go(rounds: list[int], window: int, finished: bool, system: bool, together: bool) -> None:
    """R2: what stays is the system message and the latest turns, each whole, the one in flight among them; and no more
    goes than the window asks for. It does not matter in how many steps they were added."""
    turns = [turn(n, r, finished=finished or n < len(rounds) - 1) for n, r in enumerate(rounds)]
    memory = MessageWindowChatMemory(max_messages=window)
    if system:
        memory.add("c", [SystemMessage("s")])
    for messages in turns:
        for step in [messages] if together else [[message] for message in messages]:
            memory.add("c", step)
    remembered = memory.get("c")
    spoken = [message for message in remembered if not isinstance(message, SystemMessage)]
    assert (len(remembered) - len(spoken)) == system
    assert_replayable(remembered)
    kept = next(n for n in range(len(turns)) if spoken == [m for later in turns[n:] for m in later])
    assert kept == len(turns) - 1 or len(remembered) <= window
    if together and kept:
        assert len(remembered) + len(turns[kept - 1]) > window
