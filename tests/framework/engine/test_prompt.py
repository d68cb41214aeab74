"""Prompts, messages and responses as values (PRM)."""

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from vernal import (
    AssistantMessage,
    ChatResponse,
    Generation,
    Media,
    Message,
    MessageType,
    Prompt,
    SystemMessage,
    ToolCall,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
)

CALL = ToolCall("1", "look")
IMAGE = Media("image/png", b"1")
SYSTEM, USER, ASSISTANT = SystemMessage("Be brief."), UserMessage("Hello."), AssistantMessage("Hi.")
TOOL = ToolResponseMessage((ToolResponse("1", "look", "seen"),))


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ([AssistantMessage(tool_calls=(CALL,))], True),
        ([AssistantMessage("No."), AssistantMessage("Yes.", (CALL,))], True),
        ([AssistantMessage("No.")], False),
        ([], False),
    ],
)
def test_a_response_has_tool_calls_where_any_generation_has(outputs: list[AssistantMessage], expected: bool) -> None:
    """PRM-01: also where only the second has some; none without generations."""
    response = ChatResponse(map(Generation, outputs))
    assert response.has_tool_calls is expected
    assert response.tool_calls == ((CALL,) if expected else ())


def test_finish_reasons_are_compared_whatever_their_case() -> None:
    """PRM-02: any of the reasons, of any generation; others are not there."""
    response = ChatResponse.of("Done.", finish_reason="STOP")
    assert response.has_finish_reasons("stop")
    assert response.has_finish_reasons("length", "Stop")
    assert not response.has_finish_reasons("length")
    assert not response.has_finish_reasons()
    assert not ChatResponse().has_finish_reasons("stop")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: AssistantMessage("a", media=["no media"]), "media of an AssistantMessage"),  # type: ignore[list-item]  # a wrong kind
        (lambda: AssistantMessage("a", tool_calls=[None]), "tool calls of an AssistantMessage"),  # type: ignore[list-item]  # a wrong kind
        (lambda: AssistantMessage(7), "text of a AssistantMessage is 7"),  # type: ignore[arg-type]  # a wrong kind
        (lambda: UserMessage(None), "text of a UserMessage is None"),  # type: ignore[arg-type]  # a wrong kind
        (lambda: SystemMessage(None), "text of a SystemMessage is None"),  # type: ignore[arg-type]  # a wrong kind
        (lambda: UserMessage("a", [None]), "media of a UserMessage"),  # type: ignore[list-item]  # a wrong kind
        (lambda: ToolResponseMessage(["a"]), "responses of a ToolResponseMessage"),  # type: ignore[list-item]  # a wrong kind
        (lambda: Prompt([USER, None]), "among the messages of a prompt is None"),  # type: ignore[list-item]  # a wrong kind
        (lambda: Prompt(["Hello."]), "among the messages of a prompt is 'Hello.'"),  # type: ignore[list-item]  # a wrong kind
        (lambda: Prompt(None), "messages of a prompt are None"),  # type: ignore[arg-type]  # a wrong kind
    ],
)
def test_messages_of_wrong_parts_are_refused(make: Any, text: str) -> None:
    """PRM-03, PRM-07: the text names the part and what was given; an empty text is allowed."""
    with pytest.raises(TypeError, match=text):
        make()
    assert UserMessage("").text == SystemMessage("").text == AssistantMessage("").text == ""


def test_a_copy_of_an_assistant_message_keeps_what_is_not_changed() -> None:
    """PRM-03: text, calls, media, reasoning, metadata."""
    message = AssistantMessage("a", (CALL,), (IMAGE,), "why", {"k": 1})
    assert message.copy() == message
    assert message.copy(text="b") == AssistantMessage("b", (CALL,), (IMAGE,), "why", {"k": 1})
    assert message.copy(tool_calls=()) == AssistantMessage("a", (), (IMAGE,), "why", {"k": 1})


@pytest.mark.parametrize(
    "message",
    [
        SystemMessage("a", {"k": 1}),
        UserMessage("a", (IMAGE,), {"k": 1}),
        AssistantMessage("a", (CALL,), (IMAGE,), "why", {"k": 1}),
        ToolResponseMessage((ToolResponse("1", "t", "ok"),), {"k": 1}),
    ],
    ids=lambda message: message.message_type,
)
def test_every_message_can_be_copied_with_changes(message: Message) -> None:
    """A copy of any kind of message is equal to it, save for the named fields; an unknown field is refused."""
    assert message.copy() == message
    changed = message.copy(metadata={"k": 2})
    assert (type(changed), changed.metadata) == (type(message), {"k": 2})
    assert changed.copy(metadata={"k": 1}) == message
    with pytest.raises(TypeError, match="txet"):
        message.copy(txet="b")


def test_a_prompt_keeps_the_messages_themselves() -> None:
    """PRM-03: also those of subclasses."""

    class Cached(UserMessage):
        """A message of somebody's own."""

    message = Cached("Hello.")
    assert Prompt([SYSTEM]).with_messages([message]).messages[0] is message
    assert Prompt(message).with_options(None).messages == (message,)


@pytest.mark.parametrize("value", [SYSTEM, USER, ASSISTANT, TOOL, Prompt([USER, TOOL]), ChatResponse.of("a"), CALL])
def test_values_are_frozen_hashable_copyable_and_picklable(value: Any) -> None:
    """DESIGN, How data flows: messages, prompts and responses are values."""
    assert copy.copy(value) == copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value
    assert hash(copy.deepcopy(value)) == hash(value)
    name = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, name, getattr(value, name))


def test_messages_know_who_speaks() -> None:
    """PRM-04: each kind has its type; a text stands for a user message."""
    kinds = [message.message_type for message in (SYSTEM, USER, ASSISTANT, TOOL)]
    assert kinds == [MessageType.SYSTEM, MessageType.USER, MessageType.ASSISTANT, MessageType.TOOL]
    assert Prompt("Hello.").messages == Prompt(USER).messages == (USER,)


def test_the_first_system_and_the_last_user_message() -> None:
    """PRM-04: found wherever they are; empty ones where there are none."""
    prompt = Prompt([USER, SYSTEM, ASSISTANT, SystemMessage("Second."), UserMessage("Last."), ASSISTANT])
    assert prompt.system_message is prompt.messages[1]
    assert prompt.user_message is prompt.messages[4]
    assert Prompt().system_message == SystemMessage("")
    assert Prompt([ASSISTANT]).user_message == UserMessage("")


def test_augmenting_the_user_message() -> None:
    """PRM-05: the last one is changed in a copy, media and metadata kept; without one it is appended."""
    prompt = Prompt([USER, ASSISTANT, UserMessage("Look.", (IMAGE,), {"k": 1}), TOOL])
    augmented = prompt.augment_user_message("Look well.")
    assert augmented.messages == (USER, ASSISTANT, UserMessage("Look well.", (IMAGE,), {"k": 1}), TOOL)
    assert prompt.user_message.text == "Look."
    assert Prompt([SYSTEM]).augment_user_message("Hello.").messages == (SYSTEM, USER)
    assert Prompt().augment_user_message("Hello.").messages == (USER,)


def test_augmenting_the_system_message() -> None:
    """PRM-05: the first one, wherever it is, is changed in a copy; without one it is put first."""
    prompt = Prompt([USER, SystemMessage("Be brief.", {"k": 1}), SystemMessage("Second.")])
    augmented = prompt.augment_system_message("Be kind.")
    assert augmented.messages == (USER, SystemMessage("Be kind.", {"k": 1}), SystemMessage("Second."))
    assert prompt.system_message.text == "Be brief."
    assert Prompt([USER]).augment_system_message("Be brief.").messages == (SYSTEM, USER)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([USER, ASSISTANT, TOOL, ASSISTANT], TOOL),
        ([TOOL, USER, ASSISTANT], USER),
        ([SYSTEM, ASSISTANT], UserMessage("")),
        ([], UserMessage("")),
    ],
)
def test_the_last_message_of_user_or_tool(messages: list[Message], expected: Message) -> None:
    """PRM-06: the last of either kind, an empty user message where there is none."""
    assert Prompt(messages).last_user_or_tool_response_message == expected
