"""Messages and tools in Ollama's wire form. Imported with the first request."""

import base64
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
from vernal.http import decode_object, encode_json

Part = dict[str, Any]


def encode_message(message: Message) -> bytes:
    """The JSON of one message; that of tool responses is several objects, separated by commas.

    Raises:
        ValueError: media other than images, or an image that is given by its URL.
    """
    if isinstance(message, UserMessage):
        return encode_json(_with_images({"role": "user", "content": message.text}, message.media))
    if isinstance(message, AssistantMessage):
        return encode_json(_assistant(message))
    if isinstance(message, ToolResponseMessage):
        return b",".join(encode_json(part) for response in message.responses for part in _tool_response(response))
    if isinstance(message, SystemMessage):
        return encode_json({"role": "system", "content": message.text})
    raise TypeError(f"{message!r} has no form in Ollama's protocol; use one of vernal's four kinds of messages")


def encode_tool(definition: ToolDefinition) -> bytes:
    """The JSON of a tool."""
    function: Part = {"name": definition.name}
    if definition.description:
        function["description"] = definition.description
    function["parameters"] = definition.input_schema
    return encode_json({"type": "function", "function": function})


def _assistant(message: AssistantMessage) -> Part:
    wire: Part = {"role": "assistant", "content": message.text or ""}
    if message.reasoning:
        wire["thinking"] = message.reasoning
    if message.tool_calls:
        wire["tool_calls"] = [_tool_call(call) for call in message.tool_calls]
    return wire


def _tool_call(call: ToolCall) -> Part:
    """The call without its id, which Ollama has no need of: results follow in the order of the calls."""
    return {"type": "function", "function": {"name": call.name, "arguments": decode_object(call.arguments)}}


def _tool_response(response: ToolResponse) -> list[Part]:
    """The message of a result, and one of the user for the images beside it."""
    parts: list[Part] = [{"role": "tool", "tool_name": response.name, "content": response.data}]
    if response.media:
        from_tool = {"role": "user", "content": f"From the tool {response.name}:"}
        parts.append(_with_images(from_tool, response.media))
    return parts


def _with_images(wire: Part, media: tuple[Media, ...]) -> Part:
    if media:
        wire["images"] = [_image(medium) for medium in media]
    return wire


def _image(medium: Media) -> str:
    if not medium.mime_type.startswith("image/"):
        raise ValueError(f"media of type {medium.mime_type!r} cannot be sent to Ollama; it takes images only")
    if medium.data is None:
        raise ValueError(
            f"the image {medium.url!r} is given by its URL; Ollama fetches none, so give its bytes as data"
        )
    return base64.b64encode(medium.data).decode()
