"""Messages as plain JSON values and back, nothing lost (R3)."""

import base64
from collections.abc import Iterable, Mapping
from typing import Any

from vernal.values.messages import (
    AssistantMessage,
    Media,
    Message,
    SystemMessage,
    ToolCall,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
)


def dump_messages(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """`messages` as dictionaries that `json.dumps` takes, provided that their metadata are such."""
    return [_dump(message) for message in messages]


def load_messages(values: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """The messages that `dump_messages` made `values` of.

    Raises:
        ValueError: a value is no such dictionary.
    """
    return tuple(_load(value) for value in values)


def dump_response(response: ToolResponse) -> dict[str, Any]:
    """A tool response as a dictionary."""
    return _with(
        {"id": response.id, "name": response.name, "data": response.data},
        is_error=response.is_error,
        media=[_dump_media(media) for media in response.media],
        metadata=dict(response.metadata),
    )


def load_response(value: Mapping[str, Any]) -> ToolResponse:
    """The tool response that `dump_response` made `value` of."""
    return ToolResponse(
        value["id"],
        value["name"],
        value["data"],
        value.get("is_error", False),
        tuple(_load_media(media) for media in value.get("media", ())),
        value.get("metadata", {}),
    )


def dump_call(call: ToolCall) -> dict[str, Any]:
    """A tool call as a dictionary."""
    plain = {"id": call.id, "name": call.name, "arguments": call.arguments, "type": call.type}
    return _with(plain, metadata=dict(call.metadata))


def load_call(value: Mapping[str, Any]) -> ToolCall:
    """The tool call that `dump_call` made `value` of."""
    return ToolCall(value["id"], value["name"], value["arguments"], value["type"], value.get("metadata", {}))


def _dump(message: Message) -> dict[str, Any]:
    value: dict[str, Any] = {"type": message.message_type.value}
    metadata = dict(message.metadata)
    if isinstance(message, ToolResponseMessage):
        return _with(value, responses=[dump_response(response) for response in message.responses], metadata=metadata)
    value["text"] = message.text
    if isinstance(message, UserMessage):
        return _with(value, media=[_dump_media(media) for media in message.media], metadata=metadata)
    if isinstance(message, AssistantMessage):
        return _with(
            value,
            tool_calls=[dump_call(call) for call in message.tool_calls],
            media=[_dump_media(media) for media in message.media],
            reasoning=message.reasoning,
            metadata=metadata,
        )
    return _with(value, metadata=metadata)


def _load(value: Mapping[str, Any]) -> Message:
    metadata, media = value.get("metadata", {}), [_load_media(media) for media in value.get("media", ())]
    match value.get("type"):
        case "system":
            return SystemMessage(value["text"], metadata)
        case "user":
            return UserMessage(value["text"], media, metadata)
        case "assistant":
            calls = [load_call(call) for call in value.get("tool_calls", ())]
            return AssistantMessage(value["text"], calls, media, value.get("reasoning"), metadata)
        case "tool":
            return ToolResponseMessage([load_response(each) for each in value.get("responses", ())], metadata)
        case other:
            raise ValueError(f"a message has the type {other!r}; system, user, assistant or tool is wanted")


def _dump_media(media: Media) -> dict[str, Any]:
    data = base64.b64encode(media.data).decode() if media.data is not None else None
    return _with({"mime_type": media.mime_type}, data=data, url=media.url, name=media.name)


def _load_media(value: Mapping[str, Any]) -> Media:
    data = value.get("data")
    content = base64.b64decode(data) if data is not None else None
    return Media(value["mime_type"], content, value.get("url"), value.get("name"))


def _with(value: dict[str, Any], **more: Any) -> dict[str, Any]:
    """`value` with those entries of `more` that say something; an empty list or mapping is what is there without it."""
    return value | {key: entry for key, entry in more.items() if entry is not None and entry not in ([], {}, False)}
