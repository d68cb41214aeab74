"""R4: wherever the memory stands, no message is sent twice and none is lost."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import ALL_FORMS

from vernal import (
    ChatClient,
    ChatMemoryRepository,
    Message,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    UserMessage,
)
from vernal.testing import ScriptedChatModel, tool_call


def look(n: int) -> str:
    """Look."""
    return f"seen {n}"


QUESTIONS = st.lists(st.sampled_from(["Hello.", "Hello.", "Why?"]), min_size=1, max_size=3)


@given(questions=QUESTIONS, rounds=st.lists(st.integers(0, 2), min_size=3, max_size=3), twice=st.booleans())
def test_every_message_is_sent_once_and_remembered_once(questions: list[str], rounds: list[int], twice: bool) -> None:
    """R4: inside the loop or outside, in every form, even if the same advisor is registered by client and request;
    genuinely equal questions survive."""
    for form in ALL_FORMS:
        for order in (200, 2**31):
            memory = MessageWindowChatMemory(max_messages=100)
            advisor = MessageChatMemoryAdvisor(chat_memory=memory, memory_order=order - 2**31)
            asked: list[str] = []
            for number, question in enumerate(questions):
                calls = [tool_call("look", call_id=f"{number}-{n}", n=n) for n in range(rounds[number])]
                model = ScriptedChatModel([*calls, f"answer {number}"])
                client = ChatClient.builder(model).default_advisors(advisor, conversation_id="c").build()
                form.ask(client.prompt(question).tools(look).advisors(*[advisor] if twice else []))
                asked.append(question)
                for prompt in model.requests:
                    assert [m.text for m in prompt.messages if isinstance(m, UserMessage)] == asked
                    assert max(Counter(map(id, prompt.messages)).values()) == 1
            remembered = memory.get("c")
            assert [m.text for m in remembered if isinstance(m, UserMessage)] == questions
            answers = [m.text for m in remembered if m.text and m.text.startswith("answer")]
            assert answers == [f"answer {number}" for number in range(len(questions))]


class Slow(ChatMemoryRepository):
    """Takes steps of the loop for everything."""

    def __init__(self) -> None:
        self._messages: tuple[Message, ...] = ()

    async def afind_conversation_ids(self) -> list[str]:
        return ["c"]

    async def afind_by_conversation_id(self, conversation_id: str) -> list[Message]:
        await asyncio.sleep(0)
        return list(self._messages)

    async def asave_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
        await asyncio.sleep(0)
        self._messages = tuple(messages)
        await asyncio.sleep(0)

    async def adelete_by_conversation_id(self, conversation_id: str) -> None:
        self._messages = ()


@pytest.mark.parametrize("loops", [1, 3])
def test_turns_of_one_conversation_at_once_lose_nothing(loops: int) -> None:
    """R4: each turn's messages are remembered, on one event loop and on several."""
    memory = MessageWindowChatMemory(chat_memory_repository=Slow(), max_messages=100)

    async def turns(place: int) -> None:
        await asyncio.gather(*(memory.aadd("c", [UserMessage(f"{place} {n}")]) for n in range(4)))

    async def main() -> None:
        await asyncio.gather(*(asyncio.to_thread(asyncio.run, turns(place)) for place in range(loops)))

    asyncio.run(main())
    assert Counter(m.text for m in memory.get("c")) == Counter(f"{p} {n}" for p in range(loops) for n in range(4))


def test_who_is_cancelled_while_adding_holds_up_nobody() -> None:
    """R4: wherever it is cancelled, waiting or at work, the next adds."""

    async def main() -> None:
        for steps in range(12):
            memory = MessageWindowChatMemory(chat_memory_repository=Slow())
            tasks = [asyncio.create_task(memory.aadd("c", [UserMessage(str(n))])) for n in range(3)]
            for _ in range(steps):
                await asyncio.sleep(0)
            tasks[0].cancel()
            tasks[1].cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert (await memory.aget("c"))[-1] == UserMessage("2"), steps

    asyncio.run(main())
