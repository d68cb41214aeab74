"""Requests in Gemini's protocol."""

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
from vernal_gemini import GeminiChatOptions
from vernal_gemini.messages import NO_SIGNATURE, PARTS

if TYPE_CHECKING:
    from tests.plugins.conftest import Service


@tool
def weather(city: str) -> str:
    """Weather of a city."""
    return city


@tool
def clock() -> str:
    """The time."""
    return "12:00"


def contents(service: "Service", *given: Message, model: str | None = None) -> list[dict[str, Any]]:
    """The contents of the request for these messages."""
    sent: list[dict[str, Any]] = service.sent(Prompt(given, GeminiChatOptions(model=model)))["contents"]
    return sent


def call(name: str, signature: str | None = None, **more: Any) -> dict[str, Any]:
    """A part with a call."""
    part: dict[str, Any] = {"functionCall": {**more, "name": name, "args": {}}}
    return {**part, "thoughtSignature": signature} if signature else part


def result(name: str, response: Any, **more: Any) -> dict[str, Any]:
    """A part with a result."""
    return {"functionResponse": {**more, "name": name, "response": response}}


def test_system_messages_stand_above_the_conversation(service: "Service") -> None:
    """Wherever they stand, they are joined in order in a member of their own; speakers alternate."""
    body = service.sent(
        Prompt([SystemMessage("Be brief."), UserMessage("hi"), UserMessage("there"), SystemMessage("So.")])
    )
    assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}, {"text": "So."}]}
    assert body["contents"] == [{"role": "user", "parts": [{"text": "hi"}, {"text": "there"}]}]


def test_ids_go_back_only_where_the_service_gave_them(service: "Service") -> None:
    """The engine gives calls without an id one of its own (R8); the service, which has none, hears of none."""
    for given, wanted in ((None, {}), ("srv1", {"id": "srv1"})):
        parts = [call("clock", "c2ln", **({"id": given} if given else {}))]
        own = given or "call_1"
        sent = contents(
            service,
            UserMessage("hi"),
            AssistantMessage(
                None, [ToolCall(own, "clock", metadata={"thoughtSignature": "c2ln"})], metadata={PARTS: parts}
            ),
            ToolResponseMessage([ToolResponse(own, "clock", "noon")]),
        )
        assert sent[1]["parts"] == parts
        assert sent[2] == {"role": "user", "parts": [result("clock", {"result": "noon"}, **wanted)]}


def test_results_are_objects(service: "Service") -> None:
    """An object goes as it is, any other text under `result`, an error under `error`; media follow all results."""
    calls = [ToolCall(str(n), "weather") for n in range(4)]
    picture = Media("image/png", b"\x89PNG")
    responses = [
        ToolResponse("0", "weather", '{"degrees": 3}'),
        ToolResponse("1", "weather", "[1, 2]", media=(picture,)),
        ToolResponse("2", "weather", "out of order", is_error=True),
        ToolResponse("3", "weather", "{not json"),
    ]
    sent = contents(service, UserMessage("hi"), AssistantMessage(None, calls), ToolResponseMessage(responses))
    told = [part["functionResponse"]["response"] for part in sent[2]["parts"][:4]]
    assert told == [{"degrees": 3}, {"result": "[1, 2]"}, {"error": "out of order"}, {"result": "{not json"}]
    image = {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}}
    assert sent[2]["parts"][4:] == [{"text": "From the tool weather:"}, image]


def test_parts_go_back_unchanged_while_the_message_is_what_it_was(service: "Service") -> None:
    """Signatures keep their parts, an empty text with one too; what the service ran goes back with its result."""
    parts = [
        {"text": "I compute."},
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        call("clock", "c2ln"),
        {"text": "", "thoughtSignature": "ZW5k"},
    ]
    message = AssistantMessage("I compute.", [ToolCall("x", "clock", "{}")], metadata={PARTS: parts})
    response = ToolResponseMessage([ToolResponse("x", "clock", "noon")])
    assert contents(service, UserMessage("hi"), message, response)[1]["parts"] == parts


def test_a_call_that_was_changed_keeps_its_signature(service: "Service") -> None:
    """An advisor's new text wins, and the calls go out with what the service must see beside them."""
    signed = ToolCall("x", "clock", "{}", metadata={"thoughtSignature": "c2ln"})
    message = AssistantMessage("New.", [signed], metadata={PARTS: [{"text": "Old."}, call("clock", "c2ln")]})
    response = ToolResponseMessage([ToolResponse("x", "clock", "noon")])
    sent = contents(service, UserMessage("hi"), message, response)
    assert sent[1]["parts"] == [{"text": "New."}, call("clock", "c2ln")]


@pytest.mark.parametrize(("model", "signature"), [("gemini-3-pro-preview", NO_SIGNATURE), ("gemini-2.5-flash", None)])
def test_calls_of_other_models_get_what_stands_for_a_signature(
    service: "Service", model: str, signature: str | None
) -> None:
    """The newer models refuse a history without; its first call is enough."""
    calls = [ToolCall("a", "clock"), ToolCall("b", "clock")]
    responses = [ToolResponse("a", "clock", "1"), ToolResponse("b", "clock", "2")]
    given = (UserMessage("hi"), AssistantMessage(None, calls), ToolResponseMessage(responses))
    sent = contents(service, *given, model=model)
    assert sent[1]["parts"] == [call("clock", signature, id="a"), call("clock", id="b")]


def test_media_have_their_parts(service: "Service") -> None:
    """Bytes inline, anything with a URL as a file."""
    video = Media("video/mp4", url="https://a/b.mp4")
    sent = contents(service, UserMessage("What?", [Media("audio/wav", b"x"), video]))
    assert sent[0]["parts"][1:] == [
        {"inlineData": {"mimeType": "audio/wav", "data": "eA=="}},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "https://a/b.mp4"}},
    ]


def test_options_have_their_places(service: "Service") -> None:
    """Generation, thinking, safety and schema; further members win."""
    options = GeminiChatOptions(
        temperature=0.5,
        max_tokens=9,
        stop_sequences=["END"],
        thinking_budget=0,
        output_schema={"type": "object", "properties": {"a": {"type": "integer"}}},
        safety_settings={"HARM_CATEGORY_HARASSMENT": "BLOCK_NONE"},
        generation_config={"mediaResolution": "LOW"},
        extra_body={"labels": {"a": "b"}},
    )
    body = service.sent(Prompt("hi", options))
    assert body["generationConfig"] == {
        "temperature": 0.5,
        "maxOutputTokens": 9,
        "stopSequences": ["END"],
        "thinkingConfig": {"thinkingBudget": 0},
        "responseMimeType": "application/json",
        "responseSchema": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "mediaResolution": "LOW",
    }
    assert body["safetySettings"] == [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]
    assert body["labels"] == {"a": "b"}


@pytest.mark.parametrize(("model", "native"), [("gemini-3-flash", True), ("gemini-2.5-flash", False)])
def test_a_schema_beside_functions_is_native_where_the_model_can(service: "Service", model: str, native: bool) -> None:
    """Before the third generation it is told in words, behind the system's."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    options = GeminiChatOptions(model=model, output_schema=schema, tool_callbacks=tool_callbacks(clock))
    body = service.sent(Prompt([SystemMessage("Be brief."), UserMessage("hi")], options))
    assert ("responseSchema" in body.get("generationConfig", {})) == native
    words = [part["text"] for part in body["systemInstruction"]["parts"]]
    assert ("JSON schema" in words[-1]) == (not native)


@pytest.mark.parametrize(
    ("choice", "config"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        ("clock", {"mode": "ANY", "allowedFunctionNames": ["clock"]}),
    ],
)
def test_the_tool_choice_is_told_in_its_words(service: "Service", choice: str, config: dict[str, Any]) -> None:
    """Vernal's choices in Gemini's modes; tools of the service stand beside ours."""
    options = GeminiChatOptions(
        tool_callbacks=tool_callbacks(weather, clock), tool_choice=choice, extra_body={"tools": [{"googleSearch": {}}]}
    )
    body = service.sent(Prompt("hi", options))
    assert body["toolConfig"] == {"functionCallingConfig": config}
    ours, theirs = body["tools"]
    assert theirs == {"googleSearch": {}}
    assert [each["name"] for each in ours["functionDeclarations"]] == ["weather", "clock"]
    assert "parameters" not in ours["functionDeclarations"][1]


def test_a_prompt_without_words_is_refused(service: "Service") -> None:
    """Nothing is sent that the service can only refuse."""
    with pytest.raises(UsageError, match="no message of a user"):
        service.sent(Prompt([SystemMessage("Be brief.")]))


@pytest.mark.parametrize("given", [{"thinking_budget": -2}, {"candidate_count": 0}, {"extra_body": {"contents": []}}])
def test_options_that_cannot_be_are_refused(given: dict[str, Any]) -> None:
    """The error says what is wanted."""
    with pytest.raises(ValueError, match=r"wanted|leave them out"):
        GeminiChatOptions(**given)
