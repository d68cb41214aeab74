"""Recorded second turns of Ollama's native API, written again from values."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from vernal import (
    AssistantMessage,
    Message,
    Prompt,
    SystemMessage,
    ToolCall,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
)
from vernal.testing.server import Reply, replaying
from vernal_ollama import OllamaChatModel, OllamaChatOptions

FOLDER = Path(os.environ.get("WIRE_RECORDINGS") or Path(__file__).parents[3] / "shared" / "wire")


def messages(path: Path) -> list[dict[str, Any]]:
    """The messages of a recorded request."""
    body = json.loads(path.read_bytes())["request"].get("body") or {}
    return body.get("messages") or []


FOLLOW_UPS = [p for p in sorted(FOLDER.glob("ollama-*.json")) if any("tool_name" in m for m in messages(p))]


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the recordings are not at {FOLDER}")
@pytest.mark.parametrize("path", FOLLOW_UPS, ids=lambda path: path.stem)
def test_a_follow_up_has_the_shape_that_ollama_accepted(path: Path) -> None:
    """Thinking, calls with object arguments, and results by the tool's name go back as Ollama took them (R1)."""

    async def sent() -> Any:
        async with replaying(Reply.of_json({"message": {"content": "ok"}, "done": True})) as server:
            model = OllamaChatModel(base_url=server.url, options=OllamaChatOptions(model="m"))
            await model.acall(Prompt([value_of(message) for message in messages(path)]))
            return server.asked[0].json["messages"]

    assert asyncio.run(sent()) == messages(path)


def value_of(message: dict[str, Any]) -> Message:
    """A recorded message as a value."""
    text = message["content"]
    if message["role"] == "system":
        return SystemMessage(text)
    if message["role"] == "user":
        return UserMessage(text)
    if message["role"] == "tool":
        return ToolResponseMessage([ToolResponse("1", message["tool_name"], text)])
    functions = [call["function"] for call in message.get("tool_calls", ())]
    calls = [ToolCall(str(n), f["name"], json.dumps(f["arguments"])) for n, f in enumerate(functions)]
    return AssistantMessage(text or None, calls, reasoning=message.get("thinking"))
