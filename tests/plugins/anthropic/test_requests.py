"""Requests in Anthropic's protocol."""

from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    AssistantMessage,
    Media,
    Message,
    Prompt,
    SystemMessage,
    ToolCall,
    ToolResponse,
    ToolResponseMessage,
    UsageError,
    UserMessage,
    tool,
    tool_callbacks,
)
from vernal_anthropic import AnthropicChatOptions
from vernal_anthropic.messages import BLOCKS
from vernal_anthropic.schemas import strict_schema

if TYPE_CHECKING:
    from tests.plugins.conftest import Service

MARK = {"type": "ephemeral"}
THINKING = {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}


@tool
def weather(city: str) -> str:
    """Weather of a city."""
    return city


@tool
def clock() -> str:
    """The time."""
    return "12:00"


def text(words: str, **more: Any) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": words, **more}


def messages(service: "Service", *given: Message) -> list[dict[str, Any]]:
    """The messages of the request for these."""
    sent: list[dict[str, Any]] = service.sent(Prompt(given))["messages"]
    return sent


def test_system_messages_stand_above_the_conversation(service: "Service") -> None:
    """Wherever they stand, they are joined in order in a member of their own."""
    body = service.sent(Prompt([SystemMessage("Be brief."), UserMessage("hi"), SystemMessage("Be kind.")]))
    assert body["system"] == [text("Be brief."), text("Be kind.")]
    assert body["messages"] == [{"role": "user", "content": [text("hi")]}]


def test_messages_of_one_speaker_become_one_and_results_stand_first(service: "Service") -> None:
    """The service wants all results of a round in one message, before what the user says to them (R1)."""
    calls = [ToolCall("a", "weather", '{"city": "Oslo"}'), ToolCall("b", "clock", "")]
    sent = messages(
        service,
        UserMessage("hi"),
        AssistantMessage("Let me see.", calls),
        ToolResponseMessage(
            [ToolResponse("a", "weather", "cold"), ToolResponse("b", "clock", "broken", is_error=True)]
        ),
        UserMessage("And?"),
    )
    assert sent[1]["content"] == [
        text("Let me see."),
        {"type": "tool_use", "id": "a", "name": "weather", "input": {"city": "Oslo"}},
        {"type": "tool_use", "id": "b", "name": "clock", "input": {}},
    ]
    assert sent[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": "cold"},
        {"type": "tool_result", "tool_use_id": "b", "content": "broken", "is_error": True},
        text("And?"),
    ]


def test_texts_without_a_visible_character_are_left_out(service: "Service") -> None:
    """The service refuses them, and with them the whole request."""
    sent = messages(service, UserMessage("hi"), AssistantMessage("\n"), UserMessage(" "), UserMessage("there?"))
    assert sent == [{"role": "user", "content": [text("hi"), text("there?")]}]


def test_ids_of_other_services_become_ids_that_this_one_takes(service: "Service") -> None:
    """A history may come from anywhere; both sides of a call have the same id, and two calls never the same (R8)."""
    calls = [ToolCall("call:1", "clock"), ToolCall("call.1", "clock")]
    responses = [ToolResponse(call.id, "clock", "x") for call in calls]
    sent = messages(service, UserMessage("hi"), AssistantMessage(None, calls), ToolResponseMessage(responses))
    ids = [block["id"] for block in sent[1]["content"]]
    assert ids == [block["tool_use_id"] for block in sent[2]["content"]]
    assert len(set(ids)) == 2
    assert all(each.replace("_", "").replace("-", "").isalnum() for each in ids)


def test_blocks_go_back_unchanged_while_the_message_is_what_it_was(service: "Service") -> None:
    """Thinking keeps its signature and its place; what the service ran itself goes back with its result."""
    search = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": [{"url": "https://a"}]}
    use = {"type": "tool_use", "id": "a", "name": "clock", "input": {}}
    blocks = [THINKING, text("I look."), search, found, text("It says."), use]
    message = AssistantMessage("I look.It says.", [ToolCall("a", "clock", "{}")], metadata={BLOCKS: blocks})
    response = ToolResponseMessage([ToolResponse("a", "clock", "noon")])
    assert messages(service, UserMessage("hi"), message, response)[1]["content"] == blocks


def test_a_message_that_was_changed_keeps_its_thinking(service: "Service") -> None:
    """An advisor's new text and a repaired id win, with the thinking still before them."""
    use = {"type": "tool_use", "id": "a", "name": "clock", "input": {}}
    message = AssistantMessage("New.", [ToolCall("b", "clock", "{}")], metadata={BLOCKS: [THINKING, text("Old."), use]})
    response = ToolResponseMessage([ToolResponse("b", "clock", "noon")])
    assert messages(service, UserMessage("hi"), message, response)[1]["content"] == [
        THINKING,
        text("New."),
        {**use, "id": "b"},
    ]


def test_media_have_their_blocks(service: "Service") -> None:
    """Images and documents by their bytes or their URL, in messages of the user and in results of tools."""
    picture = Media("image/png", b"\x89PNG")
    letter = Media("application/pdf", url="https://a/b.pdf", name="Letter")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}}
    sent = messages(
        service,
        UserMessage("What?", [picture, letter, Media("text/plain", b"abc")]),
        AssistantMessage(None, [ToolCall("a", "clock")]),
        ToolResponseMessage([ToolResponse("a", "clock", "see", media=(picture,))]),
    )
    assert sent[0]["content"] == [
        text("What?"),
        image,
        {"type": "document", "title": "Letter", "source": {"type": "url", "url": "https://a/b.pdf"}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "abc"}},
    ]
    assert sent[2]["content"][0]["content"] == [text("see"), image]


def test_other_media_are_refused(service: "Service") -> None:
    """What would be lost on the way is an error that says what is wanted."""
    with pytest.raises(ValueError, match="images, application/pdf"):
        messages(service, UserMessage("What?", [Media("audio/wav", b"x")]))


def test_options_have_their_places(service: "Service") -> None:
    """Plain members, thinking, effort and schema; further members win."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    options = AnthropicChatOptions(
        model="claude",
        temperature=0.5,
        stop_sequences=["END"],
        thinking_budget=2048,
        effort="low",
        output_schema=schema,
        user="u1",
        extra_body={"container": "c1"},
    )
    body = service.sent(Prompt("hi", options))
    assert body == {
        "model": "claude",
        "temperature": 0.5,
        "max_tokens": 4096 + 2048,
        "stop_sequences": ["END"],
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "metadata": {"user_id": "u1"},
        "output_config": {
            "effort": "low",
            "format": {"type": "json_schema", "schema": {**schema, "additionalProperties": False}},
        },
        "container": "c1",
        "messages": [{"role": "user", "content": [text("hi")]}],
    }


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, None),
        ({"tool_choice": "auto"}, {"type": "auto"}),
        ({"tool_choice": "required"}, {"type": "any"}),
        ({"tool_choice": "none", "parallel_tool_calls": False}, {"type": "none"}),
        ({"tool_choice": "clock"}, {"type": "tool", "name": "clock"}),
        ({"parallel_tool_calls": False}, {"type": "auto", "disable_parallel_tool_use": True}),
    ],
)
def test_the_tool_choice_is_told_in_its_words(service: "Service", given: dict[str, Any], wanted: Any) -> None:
    """Vernal's choices, and whether several tools may be called at once."""
    options = AnthropicChatOptions(tool_callbacks=tool_callbacks(weather, clock), **given)
    body = service.sent(Prompt("hi", options))
    assert body.get("tool_choice") == wanted
    assert [each["name"] for each in body["tools"]] == ["weather", "clock"]


def test_marks_of_the_cache_stand_at_the_end_of_their_parts(service: "Service") -> None:
    """The last tool, the last system block and the last block of the conversation; thinking cannot have one."""
    options = AnthropicChatOptions(
        tool_callbacks=tool_callbacks(weather, clock), cache=("tools", "system", "messages"), cache_ttl="1h"
    )
    body = service.sent(Prompt([SystemMessage("A"), SystemMessage("B"), UserMessage("hi")], options))
    mark = {**MARK, "ttl": "1h"}
    assert [each.get("cache_control") for each in body["tools"]] == [None, mark]
    assert [each.get("cache_control") for each in body["system"]] == [None, mark]
    assert body["messages"][-1]["content"][-1]["cache_control"] == mark


def test_tools_of_the_service_stand_beside_ours(service: "Service") -> None:
    """`extra_body` adds what the service runs itself; strict tools say so, with closed schemas."""
    search = {"type": "web_search_20250305", "name": "web_search"}
    options = AnthropicChatOptions(tool_callbacks=tool_callbacks(weather), strict=True, extra_body={"tools": [search]})
    ours, theirs = service.sent(Prompt("hi", options))["tools"]
    assert theirs == search
    assert ours["strict"] is True
    assert ours["input_schema"]["additionalProperties"] is False


def test_equal_requests_have_equal_bytes(service: "Service") -> None:
    """R24: a cache of prompts hits."""
    options = AnthropicChatOptions(tool_callbacks=tool_callbacks(weather, clock))
    first, second = (service.sent(Prompt("hi", options.copy())) for _ in range(2))
    assert list(first.items()) == list(second.items())


def test_what_structured_output_refuses_is_told_in_words() -> None:
    """No keyword is lost: the model reads it in the description (R18)."""
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 1, "maximum": 9, "description": "Nights."},
            "tags": {"type": "array", "items": {"type": "string", "minLength": 2}, "minItems": 2},
            "at": {"type": "string", "format": "date"},
            "free": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
        },
    }
    strict = strict_schema(schema)
    assert strict["additionalProperties"] is False
    assert strict["properties"] == {
        "n": {"type": "integer", "description": "Nights. (minimum: 1, maximum: 9)"},
        "tags": {
            "type": "array",
            "items": {"type": "string", "description": "minLength: 2"},
            "description": "minItems: 2",
        },
        "at": {"type": "string", "format": "date"},
        "free": {"type": "object", "additionalProperties": {"type": "number", "description": "minimum: 0"}},
    }
    assert schema["properties"]["n"]["minimum"] == 1  # type: ignore[index]  # the canonical schema is untouched


def test_alternatives_and_tuples_are_written_as_structured_output_wants_them() -> None:
    """It knows `anyOf` and `items` only; the order of a tuple is told in words (R18)."""
    kinds = [{"type": "integer"}, {"type": "string"}]
    assert strict_schema({"oneOf": kinds, "discriminator": {"propertyName": "kind"}}) == {"anyOf": kinds}
    pair = strict_schema({"type": "array", "prefixItems": kinds, "minItems": 2, "maxItems": 2})
    words = 'maxItems: 2, minItems: 2, items in this order: [{"type":"integer"},{"type":"string"}]'
    assert pair == {"type": "array", "items": {"anyOf": kinds}, "description": words}


def test_a_prompt_without_words_is_refused(service: "Service") -> None:
    """Nothing is sent that the service can only refuse."""
    with pytest.raises(UsageError, match="no message of a user"):
        service.sent(Prompt([SystemMessage("Be brief.")]))


@pytest.mark.parametrize("given", [{"thinking_budget": 5}, {"cache": "everything"}, {"extra_body": {"stream": True}}])
def test_options_that_cannot_be_are_refused(given: dict[str, Any]) -> None:
    """The error says what is wanted."""
    with pytest.raises(ValueError, match=r"wanted|leave them out"):
        AnthropicChatOptions(**given)
