"""Requests as Ollama wants them."""

from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    AssistantMessage,
    Media,
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
from vernal.testing.server import ReplayServer, Reply
from vernal_ollama import OllamaChatModel, OllamaChatOptions

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


def test_messages_are_written_as_ollama_wants_them(service: "Service") -> None:
    """Images are base64 beside the text, calls have arguments as objects, results go by the tool's name."""
    picture = Media("image/png", b"\x89PNG")
    history = [
        SystemMessage("Be brief."),
        UserMessage("What is this?", [picture]),
        AssistantMessage(None, [ToolCall("1", "weather", '{"city": "Oslo"}')], reasoning="Hm"),
        ToolResponseMessage([ToolResponse("1", "weather", "cold", media=(picture,))]),
    ]
    body = service.sent(Prompt(history))
    call_ = {"type": "function", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is this?", "images": ["iVBORw=="]},
        {"role": "assistant", "content": "", "thinking": "Hm", "tool_calls": [call_]},
        {"role": "tool", "tool_name": "weather", "content": "cold"},
        {"role": "user", "content": "From the tool weather:", "images": ["iVBORw=="]},
    ]


@pytest.mark.parametrize(
    ("media", "words"),
    [(Media("audio/wav", b"x"), "images only"), (Media("image/png", url="http://a/b.png"), "give its bytes")],
)
def test_media_that_ollama_cannot_take_are_refused(service: "Service", media: Media, words: str) -> None:
    """What would be lost on the way is an error that says what is wanted."""
    with pytest.raises(ValueError, match=words):
        service.sent(Prompt([UserMessage("What?", [media])]))


def test_options_go_where_ollama_reads_them(service: "Service") -> None:
    """Options of the runner go into `options`, the others into the request; further ones win."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    options = OllamaChatOptions(
        temperature=0.5,
        max_tokens=9,
        stop_sequences=["END"],
        num_ctx=4096,
        think="high",
        keep_alive="10m",
        output_schema=schema,
        runner_options={"mirostat": 1, "num_ctx": 8192},
        extra_body={"truncate": False},
    )
    body = service.sent(Prompt("hi", options))
    runner = {"num_predict": 9, "stop": ["END"], "temperature": 0.5, "num_ctx": 8192, "mirostat": 1}
    wanted = {"model": "m", "think": "high", "keep_alive": "10m", "options": runner, "format": schema}
    assert body == {**wanted, "truncate": False, "stream": False, "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(("given", "meant"), [("true", True), ("False", False), ("low", "low"), (True, True)])
def test_thinking_is_a_flag_or_a_level(given: Any, meant: Any) -> None:
    """A setting's text is read as what it says."""
    assert OllamaChatOptions(think=given).think == meant


@pytest.mark.parametrize(("given", "meant"), [("-1", -1), ("300", 300), ("10m", "10m"), (0, 0)])
def test_numbers_of_keep_alive_are_seconds(given: Any, meant: Any) -> None:
    """Ollama takes a text only with a unit, so a number in a text goes out as a number."""
    assert OllamaChatOptions(keep_alive=given).keep_alive == meant


@pytest.mark.parametrize(
    ("choice", "names"),
    [(None, ["weather", "clock"]), ("required", ["weather", "clock"]), ("none", []), ("clock", ["clock"])],
)
def test_the_tool_choice_decides_which_tools_are_shown(
    service: "Service", choice: str | None, names: list[str]
) -> None:
    """Ollama knows no tool choice, so what may not be called is not shown."""
    options = OllamaChatOptions(tool_callbacks=tool_callbacks(weather, clock), tool_choice=choice)
    body = service.sent(Prompt("hi", options))
    assert [each["function"]["name"] for each in body.get("tools", ())] == names


def test_equal_requests_have_equal_bytes(service: "Service") -> None:
    """R24: a cache of prompts hits."""

    async def ask(model: OllamaChatModel, server: ReplayServer) -> tuple[bytes, ...]:
        options = OllamaChatOptions(tool_callbacks=tool_callbacks(weather, clock), temperature=0)
        for _ in range(2):
            await model.acall(Prompt("hi", options.copy()))
        return tuple(asked.body for asked in server.asked)

    first, second = service.against(Reply.of_json({"message": {"content": ""}, "done": True}), ask=ask)
    assert first == second


def test_without_a_model_the_error_says_what_to_set(service: "Service") -> None:
    """A model has no default: which ones there are is the user's own choice."""
    with pytest.raises(UsageError, match="VERNAL_OLLAMA__MODEL"):
        service.called(Reply.of_json({"message": {"content": ""}, "done": True}), options=None)
