"""Messages and tools in Anthropic's wire form. Imported with the first request."""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vernal import (
    AssistantMessage,
    Media,
    Message,
    SystemMessage,
    ToolCall,
    ToolDefinition,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
)
from vernal.http import decode_object, encode_json, fitting_id
from vernal_anthropic.schemas import strict_schema

BLOCKS = "anthropic_blocks"
"""Entry of an assistant message's metadata with the content as the service sent it, where it is more than text and
calls of ours: thinking with its signature, calls of tools that the service runs, citations. It goes back unchanged."""
THINKING = ("thinking", "redacted_thinking")

_ID = re.compile(r"[a-zA-Z0-9_-]+")

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A message as the service takes it: who speaks, and the JSON of its blocks."""

    role: str
    blocks: tuple[bytes, ...]


def encode_message(message: Message) -> Encoded:
    """One message.

    Raises:
        ValueError: media of a kind that the protocol cannot carry.
    """
    if isinstance(message, UserMessage):
        return Encoded("user", _encoded([*_text(message.text), *map(_media, message.media)]))
    if isinstance(message, AssistantMessage):
        return Encoded("assistant", _encoded(_assistant(message)))
    if isinstance(message, ToolResponseMessage):
        return Encoded("user", _encoded([_tool_result(response) for response in message.responses]))
    if isinstance(message, SystemMessage):
        return Encoded("system", _encoded(_text(message.text)))
    raise TypeError(f"{message!r} has no form in Anthropic's protocol; use one of vernal's four kinds of messages")


def encode_tool(definition: ToolDefinition) -> bytes:
    """The JSON of a tool."""
    return encode_json(_tool(definition, definition.input_schema))


def encode_strict_tool(definition: ToolDefinition) -> bytes:
    """The JSON of a tool whose arguments must follow the schema to the letter."""
    return encode_json({**_tool(definition, strict_schema(definition.input_schema)), "strict": True})


def is_ours(block: Mapping[str, Any]) -> bool:
    """Whether a block is made anew from text and calls without loss."""
    kind, more = block.get("type"), {name for name, value in block.items() if value} - {"type"}
    if kind == "text":
        return more <= {"text"}
    caller = block.get("caller") or {}
    return kind == "tool_use" and more <= {"id", "name", "input", "caller"} and caller.get("type") in (None, "direct")


def _encoded(blocks: list[Block]) -> tuple[bytes, ...]:
    return tuple(map(encode_json, blocks))


def _tool(definition: ToolDefinition, schema: Mapping[str, Any]) -> Block:
    described = {"description": definition.description} if definition.description else {}
    return {"name": definition.name, **described, "input_schema": schema}


def _text(text: str | None) -> list[Block]:
    """The block of a text; the service refuses texts without a visible character."""
    return [{"type": "text", "text": text}] if text and not text.isspace() else []


def _assistant(message: AssistantMessage) -> list[Block]:
    """The blocks as they were received, where they still stand for the message, else made anew.

    Thinking stands before what is made anew, and never at the end, where the service refuses it.
    """
    received: Sequence[Mapping[str, Any]] = message.metadata.get(BLOCKS, ())
    blocks = _as_received(received, message) if received else None
    if blocks is None:
        kept = [dict(block) for block in received if block.get("type") in THINKING]
        blocks = [*kept, *_text(message.text), *map(_tool_use, message.tool_calls)]
    while blocks and blocks[-1].get("type") in THINKING:
        blocks.pop()
    return blocks


def _as_received(received: Sequence[Mapping[str, Any]], message: AssistantMessage) -> list[Block] | None:
    """The received blocks with the ids that their calls have now, None where text or calls are others by now."""
    calls = iter(map(_tool_use, message.tool_calls))
    blocks: list[Block] = []
    said = ""
    for block in received:
        if block.get("type") == "tool_use":
            call = next(calls, None)
            if call is None or (call["name"], call["input"]) != (block.get("name"), block.get("input") or {}):
                return None
            blocks.append({**block, "id": call["id"]})
        elif block.get("type") == "text":
            said += block.get("text") or ""
            blocks += [dict(block)] if _text(block.get("text")) else []
        else:
            blocks.append(dict(block))
    return blocks if next(calls, None) is None and said == (message.text or "") else None


def _tool_use(call: ToolCall) -> Block:
    call_id = fitting_id(call.id, _ID, 24)
    return {"type": "tool_use", "id": call_id, "name": call.name, "input": decode_object(call.arguments)}


def _tool_result(response: ToolResponse) -> Block:
    content: str | list[Block] = response.data
    if response.media:
        content = [*_text(response.data), *map(_media, response.media)]
    block: Block = {"type": "tool_result", "tool_use_id": fitting_id(response.id, _ID, 24)}
    if content:
        block["content"] = content
    if response.is_error:
        block["is_error"] = True
    return block


def _media(medium: Media) -> Block:
    kind = medium.mime_type.split(";")[0].strip().lower()
    if kind.startswith("image/"):
        return {"type": "image", "source": _source(medium, kind)}
    if kind == "application/pdf":
        return {"type": "document", **_titled(medium), "source": _source(medium, kind)}
    if kind == "text/plain" and medium.data is not None:
        text = {"type": "text", "media_type": kind, "data": medium.data.decode("utf-8", "replace")}
        return {"type": "document", **_titled(medium), "source": text}
    raise ValueError(
        f"media of type {medium.mime_type!r} cannot be sent to Anthropic's models; images, application/pdf and the "
        "bytes of text/plain are wanted"
    )


def _titled(medium: Media) -> Block:
    return {"title": medium.name} if medium.name else {}


def _source(medium: Media, kind: str) -> Block:
    if medium.data is None:
        return {"type": "url", "url": medium.url}
    return {"type": "base64", "media_type": kind, "data": base64.b64encode(medium.data).decode()}
