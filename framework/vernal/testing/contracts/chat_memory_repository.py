"""What every store of conversations must hold (REP-01, R3)."""

import asyncio
import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from vernal.memory.repository import ChatMemoryRepository
from vernal.values.messages import (
    AssistantMessage,
    Media,
    Message,
    SystemMessage,
    ToolCall,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
)
from vernal.values.serialization import dump_messages

METADATA = {"number": 1, "text": "é", "none": None, "list": [1, [2.5, {"deep": True}]], "empty": {}}
IMAGE = Media("image/png", b"\x00\x01\xfe\xff", name="a.png")
EVERY_MESSAGE: tuple[Message, ...] = (
    SystemMessage("Be brief.", METADATA),
    SystemMessage(""),
    UserMessage("Hello", [IMAGE, Media("audio/wav", url="https://example.com/a.wav")], METADATA),
    AssistantMessage("Let me look.", reasoning="Hm.", metadata=METADATA),
    AssistantMessage(
        None,
        [
            ToolCall("a", "look", '{"b":  1.0, "a": "\\u00e9"}', metadata={"signature": "c2ln"}),
            ToolCall("b", "look", "{}"),
        ],
        [IMAGE],
    ),
    ToolResponseMessage(
        [
            ToolResponse("a", "look", "seen", media=[IMAGE], metadata=METADATA),  # type: ignore[arg-type]  # any sequence
            ToolResponse("b", "look", "it failed", is_error=True),
        ],
        METADATA,
    ),
    AssistantMessage(""),
    AssistantMessage(),
)
TEXTS = (
    "é e\u0301 ß Ω 東京 עברית 🌦️👩‍👩‍👧",
    " leading and trailing \n\r\n\t ",
    "'; DROP TABLE messages; -- \" \\ % _ {} $1 :a ?",
    "line\u2028separator\u2029\x7f\u200b",
    "long " * 20_000,
)
NAMES = ("c", "C", "c ", "cc", "é", "e\u0301", "%", "_", "*", "../c", "a/b", "a\\b", "a:b", "'", '"', "東京", "x" * 255)
A, B = UserMessage("a"), AssistantMessage("b")


class ChatMemoryRepositoryContract:
    """Tests for a `ChatMemoryRepository`; a subclass defines `create_repository`.

    Each test makes a store of its own and uses it in both faces, from several threads and event loops.
    """

    def create_repository(self) -> ChatMemoryRepository:
        """An empty store."""
        raise NotImplementedError(f"{type(self).__name__} has no create_repository; let it give an empty store")

    def reopen(self, repository: ChatMemoryRepository) -> ChatMemoryRepository:
        """The same conversations after a restart; for a store that keeps nothing beyond the process, the store."""
        return repository

    @pytest.mark.parametrize("blocking", [True, False])
    def test_what_is_saved_is_found_exactly(self, blocking: bool) -> None:
        """R3: every kind of message, with ids, error flags, media, reasoning and metadata, in order."""
        store = _Store(self.create_repository(), blocking)
        store.save("c", EVERY_MESSAGE)
        _assert_same(store.find("c"), EVERY_MESSAGE)

    def test_texts_are_kept_to_the_byte(self) -> None:
        """R3: texts of all scripts, of any length, with any punctuation; nothing is trimmed or normalised."""
        store = _Store(self.create_repository())
        messages = [message for text in TEXTS for message in (UserMessage(text), AssistantMessage(text))]
        store.save("c", messages)
        _assert_same(store.find("c"), messages)

    def test_arguments_are_kept_to_the_byte(self) -> None:
        """R3: a service that caches by prefix, or signs calls, must see the very text again."""
        store = _Store(self.create_repository())
        texts = ['{"b":1,"a":2}', '{ "a" : 1.00 }', '{"a":"\\u00e9"}', '{"a":"é"}', "{}", '{"n":12345678901234567890}']
        calls = [ToolCall(f"id {n}", "look", text) for n, text in enumerate(texts)]
        store.save("c", [AssistantMessage(tool_calls=calls)])
        (message,) = store.find("c")
        assert isinstance(message, AssistantMessage)
        assert [call.arguments for call in message.tool_calls] == texts

    @pytest.mark.parametrize("blocking", [True, False])
    def test_saving_replaces(self, blocking: bool) -> None:
        """REP-01: the new messages stand in the place of the old ones, be they fewer, more or none."""
        store = _Store(self.create_repository(), blocking)
        for messages in ([A, B, A], [B], [B, A, B, A], []):
            store.save("c", messages)
            assert store.find("c") == messages, f"{messages!r} were saved last, and must be all there is"

    def test_order_and_equal_messages_are_kept(self) -> None:
        """R3, R4: a long conversation comes back in its order; two equal messages are two."""
        store = _Store(self.create_repository())
        messages = [UserMessage(f"{n % 7}") for n in range(200)]
        store.save("c", messages)
        assert store.find("c") == messages

    def test_conversations_are_kept_apart(self) -> None:
        """REP-01: ids are compared as they are: case, blanks, scripts and wildcards count."""
        store = _Store(self.create_repository())
        for name in NAMES:
            store.save(name, [UserMessage(name)])
        assert {name: store.find(name) for name in NAMES} == {name: [UserMessage(name)] for name in NAMES}
        assert sorted(store.ids()) == sorted(NAMES)

    def test_an_unknown_conversation_is_empty(self) -> None:
        """REP-01: asking for it is no error, and does not make it known."""
        store = _Store(self.create_repository())
        store.save("c", [A])
        assert store.find("unknown") == []
        assert store.ids() == ["c"]

    @pytest.mark.parametrize("blocking", [True, False])
    def test_deleting_forgets_one_conversation(self, blocking: bool) -> None:
        """REP-01: its messages and its id are gone, other conversations stay; an unknown one is no error."""
        store = _Store(self.create_repository(), blocking)
        for name in ("c", "cc"):
            store.save(name, [A])
        store.delete("c")
        store.delete("c")
        store.delete("unknown")
        assert store.find("c") == []
        assert (store.ids(), store.find("cc")) == (["cc"], [A])

    def test_ids_are_told_once(self) -> None:
        """REP-01: however often a conversation was saved."""
        store = _Store(self.create_repository())
        assert store.ids() == []
        for name in ("c", "d", "c", "d"):
            store.save(name, [A, B])
        assert sorted(store.ids()) == ["c", "d"]

    @pytest.mark.parametrize("name", [None, "", "  "])
    def test_a_conversation_has_a_name(self, name: Any) -> None:
        """REP-01: a blank id is refused by every operation, with a ValueError."""
        store = _Store(self.create_repository())
        for operation in (store.find, store.delete, lambda given: store.save(given, [A])):
            with pytest.raises(ValueError, match=r"."):
                operation(name)
        assert store.ids() == []

    @pytest.mark.parametrize("messages", [None, [None], [A, "text"], A, "text"])
    def test_only_messages_are_saved(self, messages: Any) -> None:
        """REP-01: anything else is refused with a TypeError, and what was there stays."""
        store = _Store(self.create_repository())
        store.save("c", [B])
        with pytest.raises(TypeError):
            store.save("c", messages)
        assert store.find("c") == [B]

    def test_lists_are_not_shared(self) -> None:
        """R26: what is done to a list that was given or found changes nothing in the store."""
        store = _Store(self.create_repository())
        given: list[Message] = [A, B]
        store.save("c", given)
        given.clear()
        store.find("c").clear()
        assert store.find("c") == [A, B]

    def test_both_faces_are_one_store(self) -> None:
        """What one face has saved the other finds, and deletes."""
        repository = self.create_repository()
        blocking, asynchronous = _Store(repository), _Store(repository, blocking=False)
        blocking.save("c", [A])
        asynchronous.save("d", [B])
        assert (asynchronous.find("c"), blocking.find("d")) == ([A], [B])
        assert sorted(blocking.ids()) == sorted(asynchronous.ids()) == ["c", "d"]
        blocking.delete("d")
        asynchronous.delete("c")
        assert blocking.ids() == asynchronous.ids() == []

    def test_threads_do_not_disturb_each_other(self) -> None:
        """Conversations saved at the same time are all there; of one saved by several, one is there, whole."""
        store = _Store(self.create_repository())
        start, errors = threading.Barrier(8), list[BaseException]()

        def work(number: int) -> None:
            try:
                start.wait()
                for _ in range(5):
                    store.save(f"own {number}", [UserMessage(f"{number}")] * 3)
                    store.save("shared", [UserMessage(f"{number}")] * 20)
            except BaseException as error:  # noqa: BLE001  # shown below, in the thread of the test
                errors.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        for number in range(8):
            assert store.find(f"own {number}") == [UserMessage(f"{number}")] * 3
        _assert_whole(store.find("shared"))

    def test_tasks_do_not_disturb_each_other(self) -> None:
        """The same of the tasks of one event loop."""
        repository = self.create_repository()

        async def work(number: int) -> None:
            for _ in range(5):
                await repository.asave_all(f"own {number}", [UserMessage(f"{number}")] * 3)
                await repository.asave_all("shared", [UserMessage(f"{number}")] * 20)

        async def main() -> None:
            await asyncio.gather(*map(work, range(8)))
            for number in range(8):
                found = await repository.afind_by_conversation_id(f"own {number}")
                assert found == [UserMessage(f"{number}")] * 3
            _assert_whole(await repository.afind_by_conversation_id("shared"))

        asyncio.run(main())

    def test_conversations_survive_a_restart(self) -> None:
        """R3: what was saved is there when the store is opened again (`reopen`), and can be changed."""
        first = self.create_repository()
        _Store(first).save("c", EVERY_MESSAGE)
        again = _Store(self.reopen(first))
        _assert_same(again.find("c"), EVERY_MESSAGE)
        again.save("c", [A])
        assert (again.find("c"), again.ids()) == ([A], ["c"])


class _Store:
    """A repository through one of its faces, from plain code; each asynchronous operation has a loop of its own."""

    def __init__(self, repository: ChatMemoryRepository, blocking: bool = True) -> None:
        self._repository = repository
        self._blocking = blocking

    def find(self, name: str) -> list[Message]:
        if self._blocking:
            return self._repository.find_by_conversation_id(name)
        return asyncio.run(self._repository.afind_by_conversation_id(name))

    def save(self, name: str, messages: Sequence[Message]) -> None:
        if self._blocking:
            self._repository.save_all(name, messages)
        else:
            asyncio.run(self._repository.asave_all(name, messages))

    def ids(self) -> list[str]:
        if self._blocking:
            return self._repository.find_conversation_ids()
        return asyncio.run(self._repository.afind_conversation_ids())

    def delete(self, name: str) -> None:
        if self._blocking:
            self._repository.delete_by_conversation_id(name)
        else:
            asyncio.run(self._repository.adelete_by_conversation_id(name))


def _assert_same(found: Sequence[Message], saved: Sequence[Message]) -> None:
    told, wanted = (
        [json.dumps(each, ensure_ascii=False) for each in dump_messages(messages)] for messages in (found, saved)
    )
    assert told == wanted
    assert list(found) == list(saved)


def _assert_whole(found: Sequence[Message]) -> None:
    assert len(found) == 20, f"{len(found)} messages were found; one of the saved conversations has 20"
    assert len({message.text for message in found}) == 1, "messages of two conversations are mixed"
