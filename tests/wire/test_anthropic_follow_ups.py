"""Recorded second turns of Anthropic's messages, written again from what was read of the first."""

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
from vernal_anthropic import AnthropicChatModel
from vernal_anthropic.messages import BLOCKS

FOLDER = Path(os.environ.get("WIRE_RECORDINGS") or Path(__file__).parents[3] / "shared" / "wire")


def body_of(path: Path) -> dict[str, Any]:
    """The body of a recorded request."""
    body: dict[str, Any] = json.loads(path.read_bytes())["request"].get("body") or {}
    return body


FOLLOW_UPS = [
    path
    for path in sorted(FOLDER.glob("anthropic-*.json"))
    if any(message["role"] == "assistant" for message in body_of(path).get("messages", ()))
]


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the recordings are not at {FOLDER}")
@pytest.mark.parametrize("path", FOLLOW_UPS, ids=lambda path: path.stem)
def test_a_follow_up_has_the_shape_that_anthropic_accepted(path: Path) -> None:
    """Blocks go back as they came, thinking first and unchanged, all results in one message of the user (R1)."""
    recorded = body_of(path)

    async def sent() -> Any:
        async with replaying(Reply.of_json({"content": [{"type": "text", "text": "ok"}]})) as server:
            model = AnthropicChatModel(api_key="k", base_url=server.url)
            system = recorded.get("system") or []
            text = system if isinstance(system, str) else "".join(block["text"] for block in system)
            messages = [value for message in recorded["messages"] for value in values_of(message)]
            await model.acall(Prompt([SystemMessage(text), *messages] if text else messages))
            return server.asked[0].json["messages"]

    assert list(map(comparable, asyncio.run(sent()))) == list(map(comparable, recorded["messages"]))


def values_of(message: dict[str, Any]) -> list[Message]:
    """A recorded message as values."""
    blocks = message["content"]
    if isinstance(blocks, str):
        blocks = [{"type": "text", "text": blocks}]
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    if message["role"] == "assistant":
        calls = [ToolCall(b["id"], b["name"], json.dumps(b["input"])) for b in blocks if b["type"] == "tool_use"]
        thinking = any("thinking" in block["type"] for block in blocks)
        return [AssistantMessage(text or None, calls, metadata={BLOCKS: blocks} if thinking else {})]
    results = [
        ToolResponse(block["tool_use_id"], "", plain(block["content"]), bool(block.get("is_error")))
        for block in blocks
        if block["type"] == "tool_result"
    ]
    return [ToolResponseMessage(results)] if results else [UserMessage(text)]


def plain(content: Any) -> str:
    """The text of a result."""
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def comparable(message: dict[str, Any]) -> dict[str, Any]:
    """A message without what makes no difference: a text as a string or as a block, an error that is none."""
    content = message["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    blocks = [{n: v for n, v in block.items() if n != "is_error" or v} for block in content]
    told = [{**b, "content": plain(b["content"])} if b["type"] == "tool_result" else b for b in blocks]
    return {"role": message["role"], "content": told}
