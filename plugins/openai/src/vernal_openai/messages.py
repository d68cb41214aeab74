"""Messages and tools in OpenAI's wire form. Imported with the first request."""

import base64
from collections.abc import Mapping
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
from vernal.http import encode_json, fitting_id
from vernal_openai.profiles import Profile
from vernal_openai.schemas import is_strict, strict_schema

EXTRA = "extra"
"""Entry of a `ToolCall`'s metadata with the members that the service sent beyond the protocol (OAI-07)."""

AUDIO_FORMATS = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}

Part = dict[str, Any]


def encode_message(message: Message, profile: Profile) -> bytes:
    """The JSON of one message; that of tool responses is several objects, separated by commas.

    Raises:
        ValueError: media of a kind that the protocol cannot carry.
    """
    if isinstance(message, UserMessage):
        return encode_json(_user(message.text, message.media))
    if isinstance(message, AssistantMessage):
        return encode_json(_assistant(message, profile))
    if isinstance(message, ToolResponseMessage):
        return b",".join(map(encode_json, _tool_responses(message.responses, profile)))
    if isinstance(message, SystemMessage):
        return encode_json({"role": "system", "content": message.text})
    raise TypeError(f"{message!r} has no form in OpenAI's protocol; use one of vernal's four kinds of messages")


def encode_tool(definition: ToolDefinition) -> bytes:
    """The JSON of a tool."""
    return encode_json(_tool(definition, definition.input_schema))


def encode_strict_tool(definition: ToolDefinition) -> bytes:
    """The JSON of a tool whose arguments must follow the schema to the letter, where strict mode knows it (OAI-11)."""
    schema = strict_schema(definition.input_schema)
    if not is_strict(schema):
        return encode_tool(definition)
    tool = _tool(definition, schema)
    tool["function"]["strict"] = True
    return encode_json(tool)


def _tool(definition: ToolDefinition, schema: Mapping[str, Any]) -> Part:
    function: Part = {"name": definition.name}
    if definition.description:
        function["description"] = definition.description
    function["parameters"] = schema
    return {"type": "function", "function": function}


def _user(text: str, media: tuple[Media, ...]) -> Part:
    if not media:
        return {"role": "user", "content": text}
    parts = [{"type": "text", "text": text}] if text else []
    return {"role": "user", "content": parts + [_part(medium) for medium in media]}


def _assistant(message: AssistantMessage, profile: Profile) -> Part:
    wire: Part = {"role": "assistant"}
    content = message.text
    if content is None:
        content = profile.content_beside_calls if message.tool_calls else ""
    if content is not None:
        wire["content"] = content
    needed = profile.reasoning_beside_calls and bool(message.tool_calls)
    if profile.reasoning is not None and (message.reasoning or needed):
        wire[profile.reasoning] = message.reasoning or ""
    for name in profile.echoed:
        if name in message.metadata:
            wire[name] = message.metadata[name]
    if message.tool_calls:
        wire["tool_calls"] = [_tool_call(call, profile) for call in message.tool_calls]
    return wire


def _tool_call(call: ToolCall, profile: Profile) -> Part:
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    return {**call.metadata.get(EXTRA, {}), "id": _id(call.id, profile), "type": call.type, "function": function}


def _id(call_id: str, profile: Profile) -> str:
    return call_id if profile.call_ids is None else fitting_id(call_id, profile.call_ids, 9)


def _tool_responses(responses: tuple[ToolResponse, ...], profile: Profile) -> list[Part]:
    """One message a response; media other than images, which such a message cannot carry, in a message after them."""
    messages: list[Part] = []
    others: list[Part] = []
    for response in responses:
        content: str | list[Part] = response.data
        images = [_part(medium) for medium in response.media if _is_image(medium)]
        if images:
            content = ([{"type": "text", "text": response.data}] if response.data else []) + images
        messages.append({"role": "tool", "tool_call_id": _id(response.id, profile), "content": content})
        for medium in response.media:
            if not _is_image(medium):
                others += [{"type": "text", "text": f"From the tool {response.name}:"}, _part(medium)]
    if others:
        messages.append({"role": "user", "content": others})
    return messages


def _is_image(medium: Media) -> bool:
    return medium.mime_type.startswith("image/")


def _part(medium: Media) -> Part:
    kind = medium.mime_type.split(";")[0].strip().lower()
    if kind.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": medium.url or _data_url(medium)}}
    if medium.data is None:
        raise ValueError(
            f"media of type {medium.mime_type!r} is given by its URL {medium.url!r}; OpenAI's chat models take "
            "only images by URL, so give its bytes as data"
        )
    if kind in AUDIO_FORMATS:
        audio = {"data": base64.b64encode(medium.data).decode(), "format": AUDIO_FORMATS[kind]}
        return {"type": "input_audio", "input_audio": audio}
    if kind.startswith(("audio/", "video/")):
        raise ValueError(
            f"media of type {medium.mime_type!r} cannot be sent to OpenAI's chat models; "
            "audio is wanted as audio/wav or audio/mpeg"
        )
    name = medium.name or f"file.{kind.rsplit('/', 1)[-1]}"
    return {"type": "file", "file": {"filename": name, "file_data": _data_url(medium)}}


def _data_url(medium: Media) -> str:
    return f"data:{medium.mime_type};base64,{base64.b64encode(medium.data or b'').decode()}"
