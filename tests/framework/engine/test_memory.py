"""What is remembered of a conversation (WIN, R2), and where (REP, R3)."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import (
    AssistantMessage,
    ChatMemory,
    ChatMemoryRepository,
    InMemoryChatMemoryRepository,
    Media,
    Message,
    MessageWindowChatMemory,
    SystemMessage,
    ToolCall,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
)
from vernal.testing import assert_replayable

S1, S2, S3 = (SystemMessage(f"s{n}") for n in (1, 2, 3))
U1, U2, U3 = (UserMessage(f"u{n}") for n in (1, 2, 3))
A1, A2, A3 = (AssistantMessage(f"a{n}") for n in (1, 2, 3))
CALL = AssistantMessage(tool_calls=(ToolCall("1", "look", '{"a":  1}', metadata={"signature": "x"}),))
SEEN = ToolResponseMessage((ToolResponse("1", "look", "seen", is_error=True, media=(Media("image/png", b"1"),)),))


def remembered(size: int, *steps: Sequence[Message]) -> list[Message]:
    """What a window of `size` holds when each of `steps` has been added."""
    memory = MessageWindowChatMemory(max_messages=size)
    for step in steps:
        memory.add("c", step)
    return memory.get("c")


@pytest.mark.parametrize("size", [0, -1, True, 2.5, None])
def test_a_window_holds_something(size: Any) -> None:
    """WIN-01: the text says what was given; twenty messages by default."""
    with pytest.raises(ValueError, match=f"max_messages must be greater than 0, but is {size!r}"):
        MessageWindowChatMemory(max_messages=size)
    assert MessageWindowChatMemory().max_messages == 20
    assert MessageWindowChatMemory(max_messages=1).max_messages == 1


MEMORY, REPOSITORY = MessageWindowChatMemory(), InMemoryChatMemoryRepository()


@pytest.mark.parametrize("conversation_id", [None, "", "  "])
@pytest.mark.parametrize(
    "operation",
    [
        lambda name: MEMORY.add(name, [U1]),
        MEMORY.get,
        MEMORY.clear,
        lambda name: REPOSITORY.save_all(name, [U1]),
        REPOSITORY.find_by_conversation_id,
        REPOSITORY.delete_by_conversation_id,
    ],
)
def test_a_conversation_has_a_name(operation: Any, conversation_id: Any) -> None:
    """WIN-02, REP-01: the text shows what was given as its id."""
    with pytest.raises(ValueError, match=f"conversation_id is {conversation_id!r}"):
        operation(conversation_id)


@pytest.mark.parametrize("store", [MEMORY.add, REPOSITORY.save_all])
@pytest.mark.parametrize(
    ("messages", "text"),
    [(given, "messages is .*; a sequence") for given in (None, U1, "Hello.")]
    + [(given, "among the messages is") for given in ([None], [U1, None], ["Hello."])],
)
def test_only_messages_are_remembered(store: Any, messages: Any, text: str) -> None:
    """WIN-02, REP-01: no messages at all, a message instead of several, something else among them."""
    with pytest.raises(TypeError, match=text):
        store("c", messages)
    assert MEMORY.get("c") == []
    assert REPOSITORY.find_conversation_ids() == []


def test_what_was_added_is_got_until_it_is_cleared() -> None:
    """WIN-03: in order; a conversation that nobody has named before is empty; others are not touched."""
    memory = MessageWindowChatMemory()
    memory.add("c", [U1])
    memory.add("c", [A1, U2])
    memory.add("other", [U3])
    assert memory.get("c") == [U1, A1, U2]
    memory.clear("c")
    memory.clear("never seen")
    assert memory.get("c") == memory.get("unknown") == []
    assert memory.get("other") == [U3]


WINDOWS: dict[str, tuple[int, list[Sequence[Message]], list[Message]]] = {
    "WIN-04": (2, [[U1, A1, U2, A2, U3]], [U3]),
    "WIN-05": (5, [[U1, A1], [U2, A2, U3]], [U1, A1, U2, A2, U3]),
    "WIN-06": (2, [[U1, A1], [U2, A2]], [U2, A2]),
    "WIN-07": (3, [[S1, U1, A1], [U2, A2]], [S1, U2, A2]),
    "WIN-08, R2": (3, [[S1, S2, U1, A1], [U2, A2]], [S1, S2, U2, A2]),
    "WIN-09 three turns": (3, [[U1, A1, U2, A2, U3, A3]], [U3, A3]),
    "WIN-09 a long turn": (4, [[U1, A1, A2, A3, U2, A2]], [U2, A2]),
    "WIN-09 the cut on a user": (4, [[U1, A1, U2, A2, U3, A3]], [U2, A2, U3, A3]),
    "WIN-10, R2": (2, [[S1, S2, S3, U1, A1, U2]], [S1, S2, S3, U2]),
    "WIN-11": (9, [[S1, S2], [S3]], [S3]),
    "WIN-11 among others": (9, [[S1, U1, A1], [S3, U2]], [U1, A1, S3, U2]),
    "WIN-11 the same": (9, [[S1, U1], [S1, U2]], [S1, U1, U2]),
    "WIN-12, R2": (2, [[S1, S2], [U1, A1]], [S1, S2, U1, A1]),
    "WIN-13, R2": (3, [[U1], [CALL, SEEN], [CALL, SEEN], [A1]], [U1, CALL, SEEN, CALL, SEEN, A1]),
    "R2 no user message": (1, [[A1, A2, A3]], [A1, A2, A3]),
    "R2 one too many": (4, [[U1, A1, U2, A2, U3]], [U2, A2, U3]),
    "R2 a turn of one message": (2, [[U1, U2, A2]], [U2, A2]),
    "R2 whole turns": (3, [[U1, CALL, SEEN, A1], [U2]], [U2]),
}


@pytest.mark.parametrize(("size", "steps", "expected"), WINDOWS.values(), ids=WINDOWS.keys())
def test_what_a_window_keeps(size: int, steps: list[Sequence[Message]], expected: list[Message]) -> None:
    """WIN-04 to WIN-13, R2: whole turns go, oldest first; the turn in flight and system messages stay, whatever the
    size (where Spring AI drops them: WIN-08, WIN-10, WIN-12, WIN-13)."""
    assert remembered(size, *steps) == expected


def turns() -> st.SearchStrategy[list[list[Message]]]:
    """Conversations turn by turn: a user message, rounds of calls, an answer; system messages anywhere before."""
    texts = st.sampled_from(["a", "b"])
    rounds = st.integers(0, 3).map(lambda times: [CALL, SEEN] * times)
    answers = st.lists(texts.map(AssistantMessage), max_size=1)

    def turn(user: Message, calls: list[Message], answer: list[AssistantMessage]) -> list[Message]:
        return [user, *calls, *answer]

    return st.lists(st.builds(turn, texts.map(UserMessage), rounds, answers), min_size=1, max_size=6)


@given(size=st.integers(1, 12), conversation=turns(), system=st.booleans())
def test_a_window_drops_whole_turns_oldest_first(size: int, conversation: list[list[Message]], system: bool) -> None:
    """R2: what remains is the system message and a run of whole turns up to the latest; no more is dropped than the
    size asks for, and what remains can be replayed (R1)."""
    first: list[Message] = [S1] if system else []
    kept = remembered(size, *([first] if first else []), *conversation)
    assert kept[: len(first)] == first
    suffixes = [sum(conversation[start:], []) for start in range(len(conversation))]  # noqa: RUF017  # a few short lists
    rest = kept[len(first) :]
    assert rest in suffixes
    fitting = [suffix for suffix in suffixes if len(first) + len(suffix) <= size]
    assert len(rest) == len(fitting[0] if fitting else suffixes[-1])
    assert_replayable(kept)


@given(sizes=st.lists(st.integers(1, 3), max_size=6), size=st.integers(1, 6))
def test_the_turn_in_flight_grows_undisturbed(sizes: list[int], size: int) -> None:
    """R2, WIN-13: however long a turn becomes, its user message and its rounds are all there."""
    memory = MessageWindowChatMemory(max_messages=size)
    memory.add("c", [U1, A1])
    grown: list[Message] = [U2]
    memory.add("c", grown)
    for rounds in sizes:
        memory.add("c", [CALL, SEEN] * rounds)
        grown += [CALL, SEEN] * rounds
    kept = memory.get("c")
    assert kept[-len(grown) :] == grown


def test_a_repository_keeps_conversations_as_they_are() -> None:
    """REP-01, R3: ids, order, metadata, media and error flags; saving replaces, deleting removes."""
    repository = InMemoryChatMemoryRepository()
    messages = [S1, U1, CALL, SEEN, A1]
    repository.save_all("c", messages)
    messages.append(U2)
    repository.save_all("d", [U1])
    assert sorted(repository.find_conversation_ids()) == ["c", "d"]
    assert repository.find_by_conversation_id("c") == [S1, U1, CALL, SEEN, A1]
    repository.find_by_conversation_id("c").clear()
    assert len(repository.find_by_conversation_id("c")) == 5
    repository.save_all("c", [U2])
    assert repository.find_by_conversation_id("c") == [U2]
    repository.delete_by_conversation_id("c")
    repository.delete_by_conversation_id("unknown")
    assert repository.find_by_conversation_id("c") == []
    assert repository.find_conversation_ids() == ["d"]


def test_both_faces_of_memory_and_repository_are_one() -> None:
    """WIN-03, REP-01: what one face has stored the other finds."""
    repository = InMemoryChatMemoryRepository()
    memory = MessageWindowChatMemory(chat_memory_repository=repository)

    async def run() -> tuple[list[Message], list[str], list[Message]]:
        await memory.aadd("c", [U1])
        await repository.asave_all("d", [U2])
        found = await memory.aget("d")
        ids = await repository.afind_conversation_ids()
        await repository.adelete_by_conversation_id("d")
        await memory.aadd("e", [U3])
        await memory.aclear("e")
        return found, ids, await repository.afind_by_conversation_id("c")

    assert asyncio.run(run()) == ([U2], ["c", "d"], [U1])
    assert memory.get("c") == [U1]
    assert memory.get("d") == memory.get("e") == []


def test_a_repository_of_ones_own_is_used() -> None:
    """REP-02: a memory stores where it is told to, whichever face the repository has implemented."""

    class Own(ChatMemoryRepository):
        def __init__(self) -> None:
            self.saved: dict[str, list[Message]] = {}

        def find_conversation_ids(self) -> list[str]:
            return list(self.saved)

        def find_by_conversation_id(self, conversation_id: str) -> list[Message]:
            return self.saved.get(conversation_id, [])

        def save_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
            self.saved[conversation_id] = list(messages)

        def delete_by_conversation_id(self, conversation_id: str) -> None:
            self.saved.pop(conversation_id, None)

    own = Own()
    memory: ChatMemory = MessageWindowChatMemory(chat_memory_repository=own)
    memory.add("c", [U1])
    assert own.saved == {"c": [U1]}
    assert memory.get("c") == [U1]
    memory.clear("c")
    assert own.saved == {}
