"""Stores that each do one thing wrong, and the checks of the suite that must see it (`fails`)."""

import asyncio
import json
import threading
from collections.abc import Iterable, Sequence

from vernal import AssistantMessage, ChatMemoryRepository, InMemoryChatMemoryRepository, Message, ToolCall
from vernal.testing import ChatMemoryRepositoryContract

Suite = ChatMemoryRepositoryContract


class _Saving(InMemoryChatMemoryRepository):
    """Saves something else than it was given."""

    def saved(self, conversation_id: str, messages: Sequence[Message]) -> Iterable[Message]:
        return messages

    def save_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
        super().save_all(conversation_id, messages)
        super().save_all(conversation_id, list(self.saved(conversation_id, messages)))


class TestSound(Suite):
    """Nothing is wrong."""

    fails: frozenset[str] = frozenset()

    def create_repository(self) -> ChatMemoryRepository:
        return _Saving()


class TestAppending(Suite):
    """Old messages stay."""

    fails = frozenset(
        {
            "test_saving_replaces",
            "test_conversations_survive_a_restart",
            "test_threads_do_not_disturb_each_other",
            "test_tasks_do_not_disturb_each_other",
        }
    )

    class Broken(InMemoryChatMemoryRepository):
        def save_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
            old = self.find_by_conversation_id(conversation_id)
            super().save_all(conversation_id, messages)
            super().save_all(conversation_id, [*old, *messages])

    def create_repository(self) -> ChatMemoryRepository:
        return self.Broken()


class TestWithoutMetadata(Suite):
    """Metadata are dropped."""

    fails = frozenset({"test_what_is_saved_is_found_exactly", "test_conversations_survive_a_restart"})

    class Broken(_Saving):
        def saved(self, conversation_id: str, messages: Sequence[Message]) -> Iterable[Message]:
            return (message.copy(metadata={}) for message in messages)

    def create_repository(self) -> ChatMemoryRepository:
        return self.Broken()


class TestCutting(Suite):
    """Long texts are cut, as by a column of limited length."""

    fails = frozenset({"test_texts_are_kept_to_the_byte"})

    class Broken(_Saving):
        def saved(self, conversation_id: str, messages: Sequence[Message]) -> Iterable[Message]:
            return (message.copy(text=message.text[:9999]) if message.text else message for message in messages)

    def create_repository(self) -> ChatMemoryRepository:
        return self.Broken()


class TestRewritingArguments(Suite):
    """Arguments are read and written again."""

    fails = frozenset(
        {
            "test_arguments_are_kept_to_the_byte",
            "test_what_is_saved_is_found_exactly",
            "test_conversations_survive_a_restart",
        }
    )

    class Broken(_Saving):
        def saved(self, conversation_id: str, messages: Sequence[Message]) -> Iterable[Message]:
            for message in messages:
                if isinstance(message, AssistantMessage) and message.tool_calls:
                    calls = [
                        ToolCall(call.id, call.name, json.dumps(json.loads(call.arguments)), metadata=call.metadata)
                        for call in message.tool_calls
                    ]
                    yield message.copy(tool_calls=calls)
                else:
                    yield message

    def create_repository(self) -> ChatMemoryRepository:
        return self.Broken()


class TestWithoutDuplicates(Suite):
    """Equal messages are one."""

    fails = frozenset(
        {
            "test_order_and_equal_messages_are_kept",
            "test_saving_replaces",
            "test_threads_do_not_disturb_each_other",
            "test_tasks_do_not_disturb_each_other",
        }
    )

    class Broken(_Saving):
        def saved(self, conversation_id: str, messages: Sequence[Message]) -> Iterable[Message]:
            kept: list[Message] = []
            for message in messages:
                if message not in kept:
                    kept.append(message)
            return kept

    def create_repository(self) -> ChatMemoryRepository:
        return self.Broken()


class TestCaseless(Suite):
    """The case of ids does not count."""

    fails = frozenset({"test_conversations_are_kept_apart"})

    class Broken(InMemoryChatMemoryRepository):
        def save_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
            super().save_all(conversation_id and conversation_id.lower(), messages)

        def find_by_conversation_id(self, conversation_id: str) -> list[Message]:
            return super().find_by_conversation_id(conversation_id and conversation_id.lower())

    def create_repository(self) -> ChatMemoryRepository:
        return self.Broken()


class TestRemembersQuestions(Suite):
    """Who asks for a conversation makes it known."""

    fails = frozenset({"test_an_unknown_conversation_is_empty", "test_deleting_forgets_one_conversation"})

    class Broken(InMemoryChatMemoryRepository):
        def find_by_conversation_id(self, conversation_id: str) -> list[Message]:
            found = super().find_by_conversation_id(conversation_id)
            super().save_all(conversation_id, found)
            return found

    def create_repository(self) -> ChatMemoryRepository:
        return self.Broken()


class TestDeletesByPrefix(Suite):
    """More is deleted than was named."""

    fails = frozenset({"test_deleting_forgets_one_conversation"})

    class Broken(InMemoryChatMemoryRepository):
        def delete_by_conversation_id(self, conversation_id: str) -> None:
            super().delete_by_conversation_id(conversation_id)
            for name in self.find_conversation_ids():
                if name.startswith(conversation_id):
                    super().delete_by_conversation_id(name)

    def create_repository(self) -> ChatMemoryRepository:
        return self.Broken()


class TestIdForEachMessage(Suite):
    """The ids of rows are told, not those of conversations."""

    fails = frozenset({"test_ids_are_told_once"})

    class Broken(InMemoryChatMemoryRepository):
        def find_conversation_ids(self) -> list[str]:
            return [name for name in super().find_conversation_ids() for _ in self.find_by_conversation_id(name)]

    def create_repository(self) -> ChatMemoryRepository:
        return self.Broken()


class TestTakesAnyName(Suite):
    """A blank id is one like any other."""

    fails = frozenset({"test_a_conversation_has_a_name"})

    class Broken(InMemoryChatMemoryRepository):
        def save_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
            super().save_all(conversation_id or "default", messages)

    def create_repository(self) -> ChatMemoryRepository:
        return self.Broken()


class TestTakesAnything(Suite):
    """What is no message is left out without a word."""

    fails = frozenset({"test_only_messages_are_saved"})

    class Broken(InMemoryChatMemoryRepository):
        def save_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
            given = messages if isinstance(messages, list | tuple) else []
            super().save_all(conversation_id, [each for each in given if isinstance(each, Message)])

    def create_repository(self) -> ChatMemoryRepository:
        return self.Broken()


class TestSharing(Suite):
    """The very list that was given is kept."""

    fails = frozenset({"test_lists_are_not_shared"})

    class Broken(InMemoryChatMemoryRepository):
        def save_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
            super().save_all(conversation_id, messages)
            self._conversations[conversation_id] = messages  # type: ignore[assignment]  # that is what is wrong

    def create_repository(self) -> ChatMemoryRepository:
        return self.Broken()


class TestTwoStores(Suite):
    """The faces have a store each."""

    fails = frozenset({"test_both_faces_are_one_store"})

    class Broken(InMemoryChatMemoryRepository):
        def __init__(self) -> None:
            super().__init__()
            self.other = InMemoryChatMemoryRepository()

        async def asave_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
            self.other.save_all(conversation_id, messages)

        def save_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
            super().save_all(conversation_id, messages)

        async def afind_by_conversation_id(self, conversation_id: str) -> list[Message]:
            return self.other.find_by_conversation_id(conversation_id)

        def find_by_conversation_id(self, conversation_id: str) -> list[Message]:
            return super().find_by_conversation_id(conversation_id)

        async def afind_conversation_ids(self) -> list[str]:
            return self.other.find_conversation_ids()

        def find_conversation_ids(self) -> list[str]:
            return super().find_conversation_ids()

        async def adelete_by_conversation_id(self, conversation_id: str) -> None:
            self.other.delete_by_conversation_id(conversation_id)

        def delete_by_conversation_id(self, conversation_id: str) -> None:
            super().delete_by_conversation_id(conversation_id)

    def create_repository(self) -> ChatMemoryRepository:
        return self.Broken()


class TestOneThread(Suite):
    """Only the thread that made it may use it."""

    fails = frozenset({"test_threads_do_not_disturb_each_other"})

    class Broken(InMemoryChatMemoryRepository):
        def __init__(self) -> None:
            super().__init__()
            self.thread = threading.get_ident()

        def save_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
            if threading.get_ident() != self.thread:
                raise RuntimeError("this store was made in another thread")
            super().save_all(conversation_id, messages)

        async def asave_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
            await super().asave_all(conversation_id, messages)

    def create_repository(self) -> ChatMemoryRepository:
        return self.Broken()


class TestMessageByMessage(Suite):
    """Saving takes several steps, between which others save."""

    fails = frozenset({"test_tasks_do_not_disturb_each_other"})

    class Broken(InMemoryChatMemoryRepository):
        async def asave_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
            super().save_all(conversation_id, messages)
            super().save_all(conversation_id, [])
            for message in messages:
                super().save_all(conversation_id, [*super().find_by_conversation_id(conversation_id), message])
                await asyncio.sleep(0)

        def save_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
            super().save_all(conversation_id, messages)

    def create_repository(self) -> ChatMemoryRepository:
        return self.Broken()


class TestForgetsAtRestart(Suite):
    """Nothing was written down."""

    fails = frozenset({"test_conversations_survive_a_restart"})

    def create_repository(self) -> ChatMemoryRepository:
        return InMemoryChatMemoryRepository()

    def reopen(self, repository: ChatMemoryRepository) -> ChatMemoryRepository:
        return InMemoryChatMemoryRepository()
