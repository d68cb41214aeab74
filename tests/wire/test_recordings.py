"""Recorded exchanges of model services, replayed through the public API; a provider adds a row to `MODELS`."""

import asyncio
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vernal import (
    AssistantMessage,
    ChatModel,
    ChatResponse,
    Message,
    MessageAggregator,
    Prompt,
    SystemMessage,
    ToolCall,
    ToolCallback,
    ToolDefinition,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
)
from vernal.http import ContextLengthExceededError, ModelError, QuotaExceededError, RetryPolicy
from vernal.testing.server import Reply, replaying
from vernal_anthropic import AnthropicChatModel
from vernal_deepseek import DeepSeekChatModel
from vernal_gemini import GeminiChatModel
from vernal_ollama import OllamaChatModel, OllamaChatOptions
from vernal_openai import PROFILES, OpenAiChatModel, OpenAiChatOptions

FOLDER = Path(os.environ.get("WIRE_RECORDINGS") or Path(__file__).parents[3] / "shared" / "wire")
ONCE = RetryPolicy(max_attempts=1)


def profile(name: str) -> str:
    """The profile for a recording of OpenAI's protocol, by the service in its name."""
    service = name.removesuffix(".json").split("-")[0]
    return service if service in PROFILES else "compatible"


def openai(url: str, name: str) -> ChatModel:
    """The model for a recording of OpenAI's protocol."""
    service = profile(name)
    kind = DeepSeekChatModel if service == "deepseek" else OpenAiChatModel
    options = OpenAiChatOptions(model="m")
    return kind(api_key="sk-secret", base_url=url, options=options, profile=service, retry=ONCE)


def ollama(url: str, name: str) -> ChatModel:
    """The model for a recording of Ollama's native API."""
    return OllamaChatModel(base_url=url, options=OllamaChatOptions(model="m"), retry=ONCE)


def anthropic(url: str, name: str) -> ChatModel:
    """The model for a recording of Anthropic's messages."""
    return AnthropicChatModel(api_key="sk-secret", base_url=url, retry=ONCE)


def gemini(url: str, name: str) -> ChatModel:
    """The model for a recording of Gemini's API."""
    return GeminiChatModel(api_key="sk-secret", base_url=url, retry=ONCE)


MODELS: dict[str, Callable[[str, str], ChatModel]] = {
    "openai-chat": openai,
    "ollama-native": ollama,
    "anthropic-messages": anthropic,
    "gemini": gemini,
}
"""The model for each protocol, of the address of the service and the name of the recording."""


def load(path: Path) -> dict[str, Any]:
    """One recording."""
    recording: dict[str, Any] = json.loads(path.read_bytes())
    return recording


RECORDINGS = [path for path in sorted(FOLDER.glob("*.json")) if load(path)["protocol"] in MODELS]

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the recordings are not at {FOLDER}")


def content(response: dict[str, Any]) -> bytes:
    """The body of a recorded response as it was on the wire."""
    if "chunks" in response:
        newline = response.get("newline") or "\n"
        end = newline if response.get("final_newline") is not False else ""
        return (newline.join(response["chunks"]) + end).encode()
    body = response["body"]
    return body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()


def cut(body: bytes, seed: int) -> list[bytes]:
    """The body in pieces of 1 to 40 bytes."""
    chance, pieces = random.Random(seed), []
    while body:
        size = chance.randint(1, 40)
        pieces.append(body[:size])
        body = body[size:]
    return pieces


async def ask(recording: dict[str, Any], name: str, pieces: list[bytes]) -> ChatResponse:
    """What the model makes of a recorded response, streamed where it was."""
    response = recording["response"]
    reply = Reply(pieces, response["status"], response["content_type"], response.get("headers") or {})
    async with replaying(reply) as server:
        model = MODELS[recording["protocol"]](server.url, name)
        if "chunks" not in response:
            return await model.acall(Prompt("hi"))
        aggregator = MessageAggregator()
        async for chunk in aggregator.over(model.astream(Prompt("hi"))):
            assert chunk.generations
        return aggregator.response


@pytest.mark.parametrize("cut_up", [False, True], ids=["whole", "cut"])
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recorded_answer_reads_as_expected(path: Path, cut_up: bool) -> None:
    """Every recording reads as its `expected` block says, whole and cut at random bytes (OAI-01 … OAI-12, R8, R22)."""
    recording = load(path)
    expected, body = recording["expected"], content(recording["response"])
    for seed in range(3 if cut_up else 1):
        pieces = cut(body, seed) if cut_up else [body]
        if expected["outcome"] == "ok":
            check_answer(asyncio.run(ask(recording, path.name, pieces)), expected)
        else:
            with pytest.raises(ModelError) as caught:
                asyncio.run(ask(recording, path.name, pieces))
            check_error(caught.value, expected)


def check_answer(response: ChatResponse, expected: dict[str, Any]) -> None:
    """Compare a response with an `expected` block."""
    result, usage = response.result, expected.get("usage", {})
    assert result is not None
    assert (result.output.text or "") == expected["text"]
    assert (result.output.reasoning or "") == expected.get("reasoning", "")
    assert result.output.metadata.get("refusal") == expected.get("refusal")
    assert result.finish_reason == expected["finish"]
    assert result.metadata.native_finish_reason == expected["finish_raw"]
    assert result.metadata.properties.get("native_finish_reason") == expected.get("native_finish_raw")
    assert len(response.tool_calls) == len(expected["tool_calls"])
    for call, wanted in zip(response.tool_calls, expected["tool_calls"], strict=True):
        assert (call.id, call.name) == (wanted["id"] or "", wanted["name"])
        assert json.loads(call.arguments or "{}") == wanted["arguments"]
        assert call.metadata.get("thoughtSignature") == wanted.get("thought_signature")
    given = response.usage
    assert (given.prompt_tokens, given.completion_tokens) == (usage.get("input", 0), usage.get("output", 0))
    assert given.total_tokens == usage.get("total", 0)
    assert (given.cache_read_tokens or 0) == usage.get("cached_input", 0)
    assert (given.reasoning_tokens or 0) == usage.get("reasoning", 0)
    if "reasoning_signature" in expected:
        details = result.output.metadata.get("reasoning_details") or result.output.metadata["anthropic_blocks"]
        assert details[0]["signature"] == expected["reasoning_signature"]
        assert (details[0].get("text") or details[0].get("thinking")) == expected["reasoning"]
    if "text_thought_signature" in expected:
        assert result.output.metadata["gemini_parts"][-1]["thoughtSignature"] == expected["text_thought_signature"]
    redacted = [
        b["data"] for b in result.output.metadata.get("anthropic_blocks", ()) if b["type"] == "redacted_thinking"
    ]
    assert redacted == expected.get("redacted_thinking", [])
    assert result.metadata.properties.get("stop_sequence") == expected.get("stop_sequence")


def check_error(error: ModelError, expected: dict[str, Any]) -> None:
    """Compare an error with an `expected` block."""
    wanted = expected.get("error")
    if wanted is None:  # the stream broke
        return
    assert error.status == wanted.get("status")
    assert (error.type, error.code) == (wanted["type"], wanted["code"])
    assert error.provider_message == wanted["message"]
    assert error.retryable == wanted["retryable"]
    assert isinstance(error, QuotaExceededError) == (wanted["code"] == "insufficient_quota")
    assert isinstance(error, ContextLengthExceededError) == wanted.get("context_overflow", False)


FOLLOW_UPS = [
    path
    for path in RECORDINGS
    if load(path)["protocol"] == "openai-chat"
    and load(path)["expected"]["outcome"] == "ok"
    and any(m.get("role") == "tool" for m in ((load(path)["request"].get("body") or {}).get("messages") or ()))
]


@pytest.mark.parametrize("path", FOLLOW_UPS, ids=lambda path: path.stem)
def test_a_follow_up_has_the_shape_that_the_service_accepted(path: Path) -> None:
    """The messages of every recorded second turn, read into values, are written as the service took them (R1, R8)."""
    recorded = load(path)["request"]["body"]

    async def sent() -> Any:
        async with replaying(Reply.of_json({"choices": [{"message": {"content": "ok"}}]})) as server:
            options = OpenAiChatOptions(model="m", tool_callbacks=[Fixed(tool) for tool in recorded.get("tools", ())])
            model = OpenAiChatModel(api_key="k", base_url=server.url, options=options, profile=profile(path.name))
            await model.acall(Prompt(values_of(recorded["messages"])))
            return server.asked[0].json

    body = asyncio.run(sent())
    assert list(map(comparable, body["messages"])) == list(map(comparable, recorded["messages"]))
    names = [tool["function"]["name"] for tool in recorded.get("tools", ())]
    assert [tool["function"]["name"] for tool in body.get("tools", ())] == names


class Fixed(ToolCallback):
    """A tool as a recorded request describes it."""

    def __init__(self, tool: dict[str, Any]) -> None:
        function = tool["function"]
        self._definition = ToolDefinition(function["name"], function.get("description", ""), function["parameters"])

    @property
    def definition(self) -> ToolDefinition:
        """The recorded definition."""
        return self._definition

    def call(self, tool_input: str, tool_context: object = None) -> str:
        """Is never called."""
        raise AssertionError


def values_of(messages: list[dict[str, Any]]) -> list[Message]:
    """Recorded messages as vernal's values."""
    values: list[Message] = []
    names: dict[str, str] = {}
    for message in messages:
        text: Any = message.get("content")
        if isinstance(text, list):
            text = "".join(part["text"] for part in text)
        if message["role"] == "system":
            values.append(SystemMessage(text))
        elif message["role"] == "user":
            values.append(UserMessage(text))
        elif message["role"] == "assistant":
            calls = [
                ToolCall(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in message["tool_calls"]
            ]
            names |= {call.id: call.name for call in calls}
            reasoning = message.get("reasoning_content") or message.get("reasoning")
            details = {k: v for k, v in message.items() if k == "reasoning_details"}
            values.append(AssistantMessage(text or None, calls, reasoning=reasoning, metadata=details))
        else:
            response = ToolResponse(message["tool_call_id"], names[message["tool_call_id"]], text)
            if isinstance(values[-1], ToolResponseMessage):
                values[-1] = ToolResponseMessage([*values[-1].responses, response])
            else:
                values.append(ToolResponseMessage([response]))
    return values


def comparable(message: dict[str, Any]) -> dict[str, Any]:
    """A message without what makes no difference: no content beside calls, parts of one text, reasoning said twice,
    spaces in arguments."""
    kept = {name: value for name, value in message.items() if name != "prefix" and value not in (None, "")}
    if "reasoning" in kept:
        kept.pop("reasoning_content", None)
    if "tool_calls" in kept:
        kept["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": json.loads(call["function"]["arguments"])}}
            for call in kept["tool_calls"]
        ]
    if isinstance(kept.get("content"), list):
        kept["content"] = "".join(part["text"] for part in kept["content"])
    return kept
