"""What is sent: the members of a request, its tools, its messages."""

import base64
import gc
from typing import Any

import pytest

from vernal import (
    AssistantMessage,
    ChatOptions,
    Media,
    Message,
    Prompt,
    SystemMessage,
    ToolCall,
    ToolCallback,
    ToolCallingChatOptions,
    ToolDefinition,
    ToolResponse,
    ToolResponseMessage,
    UsageError,
    UserMessage,
)
from vernal.http import decode_json
from vernal_openai import OpenAiChatOptions
from vernal_openai.profiles import COMPATIBLE, OPENAI, PROFILES, Profile
from vernal_openai.requests import RequestWriter

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
    "required": ["city"],
}


class Weather(ToolCallback):
    """A tool that nobody calls."""

    def __init__(self, name: str = "get_weather") -> None:
        self._definition = ToolDefinition(name, "Weather of a city.", SCHEMA)

    @property
    def definition(self) -> ToolDefinition:
        """Name, description and schema."""
        return self._definition

    def call(self, tool_input: str, tool_context: object = None) -> str:
        """Is never called."""
        raise AssertionError


def body(
    prompt: Prompt | str = "hi", *, profile: Profile = COMPATIBLE, stream: bool = False, **own: Any
) -> dict[str, Any]:
    """The request for a prompt to a model with these options of its own."""
    writer = RequestWriter(profile, OpenAiChatOptions(**{"model": "m", **own}))
    written: dict[str, Any] = decode_json(
        writer.body(Prompt(prompt) if isinstance(prompt, str) else prompt, stream=stream)
    )
    return written


def sent(*messages: Message, profile: Profile = COMPATIBLE) -> list[dict[str, Any]]:
    """The messages of a request."""
    written: list[dict[str, Any]] = body(Prompt(messages), profile=profile)["messages"]
    return written


def test_a_request_has_what_is_set_and_no_more() -> None:
    """Options that nobody set are left to the service."""
    assert body() == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def test_every_option_has_its_member() -> None:
    """Each option of OpenAI is sent under the name that the service knows."""
    options: dict[str, Any] = {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 40,
        "frequency_penalty": 0.1,
        "presence_penalty": 0.2,
        "reasoning_effort": "low",
        "verbosity": "low",
        "n": 2,
        "logprobs": True,
        "top_logprobs": 3,
        "logit_bias": {"50256": -100},
        "seed": 7,
        "service_tier": "flex",
        "user": "u",
        "store": False,
        "metadata": {"a": "b"},
    }
    written = body(max_tokens=10, stop_sequences=["END"], extra_body={"prediction": {"type": "content"}}, **options)
    assert {name: written[name] for name in options} == options
    assert (written["max_tokens"], written["stop"]) == (10, ["END"])
    assert written["prediction"] == {"type": "content"}
    assert body(profile=OPENAI, max_tokens=10)["max_completion_tokens"] == 10


def test_options_layer_field_by_field() -> None:
    """What a request sets wins over the model's own options, the rest of which stand (R26)."""
    prompt = Prompt("hi", ToolCallingChatOptions(temperature=0.1, tool_callbacks=[Weather()]))
    written = body(prompt, temperature=0.9, seed=7)
    assert (written["temperature"], written["seed"], written["model"]) == (0.1, 7, "m")
    assert body(Prompt("hi", ChatOptions(model="other")), seed=7)["model"] == "other"


def test_extra_members_win_and_their_tools_are_added() -> None:
    """`extra_body` overrides what options say, and tools in it stand after the others (R24)."""
    search = {"type": "web_search"}
    extra = {"temperature": 1, "tool_choice": "auto", "tools": [search]}
    written = body(temperature=0, tool_choice="none", tool_callbacks=[Weather()], extra_body=extra)
    assert (written["temperature"], written["tool_choice"]) == (1, "auto")
    assert [tool["type"] for tool in written["tools"]] == ["function", "web_search"]
    with pytest.raises(ValueError, match=r"extra_body has \['messages', 'stream'\]"):
        OpenAiChatOptions(extra_body={"messages": [], "stream": True})


def test_tools_are_sent_in_order_and_with_their_choice() -> None:
    """Tools keep the order of the options (R24); the choice of one is sent by its name."""
    written = body(tool_callbacks=[Weather("b"), Weather("a")], tool_choice="a", parallel_tool_calls=False)
    assert [tool["function"]["name"] for tool in written["tools"]] == ["b", "a"]
    assert written["tools"][0]["function"] == {"name": "b", "description": "Weather of a city.", "parameters": SCHEMA}
    assert written["tool_choice"] == {"type": "function", "function": {"name": "a"}}
    assert written["parallel_tool_calls"] is False
    assert body(tool_callbacks=[Weather()], tool_choice="required")["tool_choice"] == "required"


def test_choices_about_tools_are_not_sent_without_tools() -> None:
    """Services refuse them where no tool is on offer."""
    assert body(tool_choice="auto", parallel_tool_calls=True).keys() == {"model", "messages"}


def test_strict_tools_require_everything_and_take_null_for_what_was_optional() -> None:
    """OAI-11: strict is off by default and set per request; on, optional properties become nullable and required."""
    writer = RequestWriter(COMPATIBLE, OpenAiChatOptions(model="m", tool_callbacks=[Weather()]))

    def function(strict: bool | None) -> dict[str, Any]:
        request = decode_json(writer.body(Prompt("hi", OpenAiChatOptions(strict=strict))))
        described: dict[str, Any] = request["tools"][0]["function"]
        return described

    assert "strict" not in function(None)
    assert function(True)["strict"] is True
    assert function(True)["parameters"] == {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": ["string", "null"]}},
        "required": ["city", "unit"],
        "additionalProperties": False,
    }
    assert function(False)["parameters"] == SCHEMA


def test_a_stream_asks_for_its_usage() -> None:
    """Usage comes with a stream by default, unless that is switched off or the service reports it anyway (R22)."""
    assert body(stream=True)["stream_options"] == {"include_usage": True}
    assert body(stream=True)["stream"] is True
    assert "stream_options" not in body(stream=True, stream_usage=False)
    assert "stream_options" not in body(stream=True, profile=PROFILES["mistral"])
    assert body(stream=True, extra_body={"stream_options": {}})["stream_options"] == {}


def test_structured_output_is_a_schema_of_the_answer() -> None:
    """A schema that requires all it has is sent as strict, another is not, and one service only knows JSON as such."""
    whole = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    described = body(output_schema=whole, output_schema_name="trip")["response_format"]
    assert described == {
        "type": "json_schema",
        "json_schema": {"name": "trip", "schema": {**whole, "additionalProperties": False}, "strict": True},
    }
    assert "strict" not in body(output_schema=SCHEMA)["response_format"]["json_schema"]
    assert body(output_schema=SCHEMA, strict=True)["response_format"]["json_schema"]["strict"] is True
    assert body(output_schema=whole, profile=PROFILES["deepseek"])["response_format"] == {"type": "json_object"}


def test_a_request_without_model_or_messages_is_refused() -> None:
    """Both are named before anything is sent."""
    with pytest.raises(UsageError, match="set VERNAL_OPENAI__MODEL"):
        body(model=None)
    with pytest.raises(UsageError, match="no messages"):
        body(Prompt([]))


def test_a_tool_turn_is_replayed_as_the_protocol_wants() -> None:
    """Calls, then one message per response directly after them, each with its id (R1, R8)."""
    call = ToolCall("c1", "f", '{"a":1}', metadata={"rawArguments": "{"})
    messages = sent(
        SystemMessage("s"),
        UserMessage("u"),
        AssistantMessage(None, [call, ToolCall("c2", "g", "")]),
        ToolResponseMessage([ToolResponse("c1", "f", "1"), ToolResponse("c2", "g", "2", is_error=True)]),
    )
    function = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    assert messages == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {
            "role": "assistant",
            "tool_calls": [function, {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
        {"role": "tool", "tool_call_id": "c2", "content": "2"},
    ]


@pytest.mark.parametrize(
    ("profile", "call_id", "kept"),
    [
        ("openai", "toolu_01A", True),
        ("openai", "x" * 41, False),
        ("azure", "é" * 41, False),
        ("mistral", "D681PevKs", True),
        ("mistral", "call_0fypS1hVX0123", False),
        ("compatible", "x" * 99, True),
    ],
)
def test_ids_of_other_services_become_ids_that_this_one_takes(profile: str, call_id: str, kept: bool) -> None:
    """A history may come from anywhere; both sides of a call have the same id, and two calls never the same (R8)."""
    calls = [ToolCall(call_id, "f"), ToolCall(f"{call_id[:-1]}2", "f")]
    results = ToolResponseMessage([ToolResponse(call.id, call.name, "") for call in calls])
    call, *answers = sent(AssistantMessage(None, calls), results, profile=PROFILES[profile])
    ids = [each["id"] for each in call["tool_calls"]]
    assert [answer["tool_call_id"] for answer in answers] == ids
    assert len(set(ids)) == 2
    assert (ids[0] == call_id) is kept
    assert kept or (len(ids[0]) == 9 and ids[0].isalnum())


def test_members_beyond_the_protocol_are_sent_back_with_their_call() -> None:
    """OAI-07: what a service added to a tool call goes back with that very call."""
    extra = {"extra_content": {"google": {"thought_signature": "sig"}}}
    calls = [ToolCall("c1", "f"), ToolCall("c2", "g", metadata={"extra": extra})]
    first, second = sent(AssistantMessage(None, calls))[0]["tool_calls"]
    assert "extra_content" not in first
    assert second["extra_content"] == extra["extra_content"]


@pytest.mark.parametrize(
    ("profile", "member"),
    [("compatible", "reasoning_content"), ("deepseek", "reasoning_content"), ("ollama", "reasoning"), ("groq", None)],
)
def test_reasoning_is_sent_back_as_the_service_wants(profile: str, member: str | None) -> None:
    """OAI-08: reasoning is replayed where there is some, under the service's name, and nowhere it would be refused."""
    (message,) = sent(AssistantMessage("a", reasoning="thought"), profile=PROFILES[profile])
    assert message == {"role": "assistant", "content": "a", **({member: "thought"} if member else {})}
    assert sent(AssistantMessage("a"), profile=PROFILES[profile]) == [{"role": "assistant", "content": "a"}]


def test_reasoning_details_go_back_to_the_router_alone() -> None:
    """OpenRouter's signed details are sent back as they came."""
    details = [{"type": "reasoning.text", "text": "t", "signature": "s", "index": 0}]
    message = AssistantMessage("a", metadata={"reasoning_details": details})
    assert sent(message, profile=PROFILES["openrouter"])[0]["reasoning_details"] == details
    assert "reasoning_details" not in sent(message)[0]


def test_media_become_parts() -> None:
    """Images go by URL or as data, sounds with their format, documents as files; text comes first."""
    png = Media("image/png", b"\x89")
    data = base64.b64encode(b"\x89").decode()
    media = [png, Media("image/jpeg", url="https://a/b.jpg"), Media("audio/mpeg", b"\x89")]
    (message,) = sent(UserMessage("look", [*media, Media("application/pdf", b"\x89", name="a.pdf")]))
    assert message["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
        {"type": "image_url", "image_url": {"url": "https://a/b.jpg"}},
        {"type": "input_audio", "input_audio": {"data": data, "format": "mp3"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{data}"}},
    ]


def test_media_of_tools_are_seen_by_the_model() -> None:
    """Images stand in the tool's own message; other media, which it cannot carry, in one after all of them."""
    first = ToolResponse("c1", "draw", "done", media=(Media("image/png", url="https://a/b.png"),))
    second = ToolResponse("c2", "speak", "said", media=(Media("audio/wav", b"x"),))
    one, two, three = sent(ToolResponseMessage([first, second]))
    assert one["content"] == [
        {"type": "text", "text": "done"},
        {"type": "image_url", "image_url": {"url": "https://a/b.png"}},
    ]
    assert two["content"] == "said"
    assert (three["role"], [part["type"] for part in three["content"]]) == ("user", ["text", "input_audio"])


@pytest.mark.parametrize("medium", [Media("audio/ogg", b"x"), Media("video/mp4", b"x"), Media("audio/wav", url="u")])
def test_media_that_cannot_be_sent_are_refused(medium: Media) -> None:
    """What the protocol cannot carry is named before anything is sent."""
    with pytest.raises(ValueError, match="OpenAI's chat models"):
        sent(UserMessage("listen", [medium]))


def test_equal_requests_have_equal_bytes_and_messages_are_encoded_once() -> None:
    """A further round sends the same bytes as before with the new messages after them (R24), and keeps nothing."""
    writer = RequestWriter(COMPATIBLE, OpenAiChatOptions(model="m", tool_callbacks=[Weather()]))
    options = OpenAiChatOptions(temperature=0)
    messages = [UserMessage(str(number)) for number in range(5)]
    first = writer.body(Prompt(messages, options))
    again = writer.body(Prompt([*messages, UserMessage("new")], options))
    assert again.startswith(first.removesuffix(b"]}"))
    assert len(writer._messages) == 5
    del messages, options
    gc.collect()
    assert (len(writer._messages), len(writer._options)) == (0, 0)


def test_tools_are_those_of_each_request() -> None:
    """Requests with other tools, another choice of strictness, or none, each get their own, in any order."""
    writer = RequestWriter(COMPATIBLE, OpenAiChatOptions(model="m"))

    def names(strict: bool, *tools: ToolCallback) -> list[tuple[str, bool]]:
        request = decode_json(writer.body(Prompt("hi", OpenAiChatOptions(tool_callbacks=tools, strict=strict))))
        return [(tool["function"]["name"], "strict" in tool["function"]) for tool in request.get("tools", ())]

    first, second = Weather("a"), Weather("b")
    assert names(False, first, second) == [("a", False), ("b", False)]
    assert names(False, first, second) == [("a", False), ("b", False)]
    assert names(True, first, second) == [("a", True), ("b", True)]
    assert names(False, second) == [("b", False)]
    assert names(False) == []
    assert names(False, second, first) == [("b", False), ("a", False)]
