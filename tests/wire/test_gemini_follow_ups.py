"""Recorded second turns of Gemini's API, written again from values."""

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
from vernal_gemini import GeminiChatModel
from vernal_gemini.messages import PARTS

FOLDER = Path(os.environ.get("WIRE_RECORDINGS") or Path(__file__).parents[3] / "shared" / "wire")
OK = {"candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}]}


def body_of(path: Path) -> dict[str, Any]:
    """The body of a recorded request."""
    body: dict[str, Any] = json.loads(path.read_bytes())["request"].get("body") or {}
    return body


FOLLOW_UPS = [
    path
    for path in sorted(FOLDER.glob("gemini-*.json"))
    if any(content["role"] == "model" for content in body_of(path).get("contents", ()))
]


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the recordings are not at {FOLDER}")
@pytest.mark.parametrize("path", FOLLOW_UPS, ids=lambda path: path.stem)
def test_a_follow_up_has_the_shape_that_gemini_accepted(path: Path) -> None:
    """Each signature goes back on its own part; one content has all results, by id, name and object (R1)."""
    recorded = body_of(path)

    async def sent() -> Any:
        async with replaying(Reply.of_json(OK)) as server:
            model = GeminiChatModel(api_key="k", base_url=server.url)
            system = [SystemMessage(part["text"]) for part in recorded["systemInstruction"]["parts"]]
            await model.acall(Prompt([*system, *map(value_of, recorded["contents"])]))
            return server.asked[0].json

    body = asyncio.run(sent())
    assert body["contents"] == recorded["contents"]
    assert body["systemInstruction"]["parts"] == recorded["systemInstruction"]["parts"]


def value_of(content: dict[str, Any]) -> Message:
    """A recorded content as a value."""
    parts = content["parts"]
    text = "".join(part.get("text") or "" for part in parts)
    if content["role"] == "model":
        functions = [part["functionCall"] for part in parts if "functionCall" in part]
        calls = [ToolCall(f.get("id") or "", f["name"], json.dumps(f["args"])) for f in functions]
        return AssistantMessage(text or None, calls, metadata={PARTS: parts})
    results = [part["functionResponse"] for part in parts if "functionResponse" in part]
    if results:
        return ToolResponseMessage([ToolResponse(r["id"], r["name"], r["response"]["result"]) for r in results])
    return UserMessage(text)
