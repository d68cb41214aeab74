"""Messages and tools in Gemini's wire form. Imported with the first request."""

import base64
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
from vernal.http import decode_json, decode_object, encode_json
from vernal_gemini.schemas import schema_member

PARTS = "gemini_parts"
"""Entry of an assistant message's metadata with the parts as the service sent them, where they are more than text and
calls: signatures of thoughts, code that the service ran. They go back unchanged, each signature on its own part."""
SIGNATURE = "thoughtSignature"
"""Member of a part, and entry of a `ToolCall`'s metadata: what the service must see again beside a call."""
NO_SIGNATURE = "skip_thought_signature_validator"
"""What the service's documentation gives for calls that another model made, which have no signature."""

Part = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A message as the service takes it: who speaks, the JSON of its parts, and the ids of calls in them.

    Of results the parts lack the id: it goes out only where the service gave it, `of_call` by `of_call`.
    """

    role: str
    parts: tuple[bytes, ...]
    ids: frozenset[str] = frozenset()
    of_call: tuple[str, ...] = ()


def encode_message(message: Message, *, signed: bool) -> Encoded:
    """One message; with `signed` calls of other models get what stands for a signature.

    Raises:
        ValueError: media of a kind that the protocol cannot carry.
    """
    if isinstance(message, UserMessage):
        return Encoded("user", _encoded([*_text(message.text), *map(_media, message.media)]))
    if isinstance(message, AssistantMessage):
        parts = _assistant(message, signed=signed)
        ids = (part["functionCall"].get("id") for part in parts if "functionCall" in part)
        return Encoded("model", _encoded(parts), frozenset(each for each in ids if each))
    if isinstance(message, ToolResponseMessage):
        return _results(message.responses)
    if isinstance(message, SystemMessage):
        return Encoded("system", _encoded(_text(message.text)))
    raise TypeError(f"{message!r} has no form in Gemini's protocol; use one of vernal's four kinds of messages")


def encode_tool(definition: ToolDefinition) -> bytes:
    """The JSON of a function's declaration; without parameters there is no schema."""
    declared: Part = {"name": definition.name}
    if definition.description:
        declared["description"] = definition.description
    if definition.input_schema.get("properties"):
        declared |= schema_member("parameters", definition.input_schema)
    return encode_json(declared)


def with_id(result: bytes, call_id: str) -> bytes:
    """The JSON of a result with the id of its call."""
    begin = b'{"functionResponse":{'
    return b'%s"id":%s,%s' % (begin, encode_json(call_id), result[len(begin) :])


def is_plain(part: Mapping[str, Any]) -> bool:
    """Whether a part is made anew from text and calls without loss."""
    return part.keys() <= {"text"} or part.keys() == {"functionCall"} or bool(part.get("thought"))


def _encoded(parts: Sequence[Part]) -> tuple[bytes, ...]:
    return tuple(map(encode_json, parts))


def _text(text: str | None) -> list[Part]:
    return [{"text": text}] if text else []


def _assistant(message: AssistantMessage, *, signed: bool) -> list[Part]:
    received: list[Part] = [dict(part) for part in message.metadata.get(PARTS, ())]
    if received and _stands_for(received, message):
        return received
    given = {part["functionCall"].get("id") for part in received if "functionCall" in part}
    calls = [_call(call, with_id=call.id in given or SIGNATURE not in call.metadata) for call in message.tool_calls]
    if signed and calls and not any(SIGNATURE in call for call in calls):
        calls[0][SIGNATURE] = NO_SIGNATURE
    return [*_text(message.text), *calls]


def _stands_for(parts: list[Part], message: AssistantMessage) -> bool:
    """Whether text and calls of the message are still those of the parts."""
    text = "".join(part.get("text") or "" for part in parts if not part.get("thought"))
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    if text != (message.text or "") or len(calls) != len(message.tool_calls):
        return False
    return all(map(_is_call, calls, message.tool_calls))


def _is_call(call: Mapping[str, Any], own: ToolCall) -> bool:
    """Whether a received call is still the one of the message, which has an id of the engine where it had none."""
    if call.get("name") != own.name or (call.get("id") or own.id) != own.id:
        return False
    return (call.get("args") or {}) == decode_object(own.arguments)


def _call(call: ToolCall, *, with_id: bool) -> Part:
    made: Part = {**({"id": call.id} if with_id else {}), "name": call.name, "args": decode_object(call.arguments)}
    signature = call.metadata.get(SIGNATURE)
    part: Part = {"functionCall": made}
    return {**part, SIGNATURE: signature} if signature else part


def _results(responses: Sequence[ToolResponse]) -> Encoded:
    """Results first, then the media beside them, which a result cannot carry."""
    parts: list[Part] = [{"functionResponse": {"name": r.name, "response": _result(r)}} for r in responses]
    for response in responses:
        if response.media:
            parts += [{"text": f"From the tool {response.name}:"}, *map(_media, response.media)]
    return Encoded("user", _encoded(parts), of_call=tuple(response.id for response in responses))


def _result(response: ToolResponse) -> Any:
    """The object of a result: a JSON object as it is, any other text under `result`, an error under `error`."""
    if response.is_error:
        return {"error": response.data}
    try:
        value = decode_json(response.data) if response.data.startswith("{") else None
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"result": response.data}


def _media(medium: Media) -> Part:
    kind = medium.mime_type.split(";")[0].strip().lower()
    if medium.data is None:
        return {"fileData": {"mimeType": kind, "fileUri": medium.url}}
    return {"inlineData": {"mimeType": kind, "data": base64.b64encode(medium.data).decode()}}
