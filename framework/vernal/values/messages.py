"""Messages of a conversation, the tool calls that a model asks for, and the responses that tools give."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any, Self

from vernal.values.mappings import EMPTY, frozen
from vernal.values.records import dataclass


class MessageType(StrEnum):
    """Who speaks in a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Media:
    """An image, a sound or a document beside a text.

    Exactly one of `data` (the bytes) and `url` is given. `mime_type` is an IANA media type such as `"image/png"`.

    Raises:
        ValueError: neither or both of `data` and `url` are given, or the media type is not of the form type/subtype.
    """

    mime_type: str
    data: bytes | None = None
    url: str | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if (self.data is None) == (self.url is None):
            given = "neither" if self.data is None else "both"
            raise ValueError(f"media of type {self.mime_type!r} has {given} data and url; give exactly one of them")
        if "/" not in self.mime_type:
            raise ValueError(f"mime_type is {self.mime_type!r}; a media type such as 'image/png' is wanted")


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ToolCall:
    """A model's wish to call a tool: `arguments` is the JSON text as the model produced it.

    `metadata` holds what a provider needs to see again on replay (thought signatures, raw arguments).
    """

    id: str
    name: str
    arguments: str = "{}"
    type: str = "function"
    metadata: Mapping[str, Any] = EMPTY

    def __post_init__(self) -> None:
        object.__setattr__(self, "metadata", frozen(self.metadata))


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ToolResponse:
    """What a tool call gave: `id` and `name` are those of the call, `data` is the text for the model.

    `is_error` says whether the call failed or was refused (R13). `media` are images or files that the tool returned.
    """

    id: str
    name: str
    data: str
    is_error: bool = False
    media: tuple[Media, ...] = ()
    metadata: Mapping[str, Any] = EMPTY

    def __post_init__(self) -> None:
        if type(self.media) is not tuple:
            object.__setattr__(self, "media", tuple(self.media))
        object.__setattr__(self, "metadata", frozen(self.metadata))


@dataclass(frozen=True, slots=True, weakref_slot=True, init=False)
class Message:
    """What all messages share. Use one of the four kinds below."""

    metadata: Mapping[str, Any]

    @property
    def message_type(self) -> MessageType:
        """Who speaks."""
        raise TypeError("Message is the base; use SystemMessage, UserMessage, AssistantMessage or ToolResponseMessage")

    @property
    def text(self) -> str | None:
        """The text of the message, None where there is none."""
        raise TypeError("Message is the base; use SystemMessage, UserMessage, AssistantMessage or ToolResponseMessage")

    def copy(self, **changes: Any) -> Self:
        """The same message with the named fields changed."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True, weakref_slot=True, init=False)
class SystemMessage(Message):
    """Instructions that stand above the conversation.

    Raises:
        TypeError: the text is no `str` (PRM-07).
    """

    text: str

    def __init__(self, text: str, metadata: Mapping[str, Any] = EMPTY) -> None:
        object.__setattr__(self, "text", _text(text, "SystemMessage"))
        object.__setattr__(self, "metadata", frozen(metadata))

    @property
    def message_type(self) -> MessageType:
        """`MessageType.SYSTEM`."""
        return MessageType.SYSTEM


@dataclass(frozen=True, slots=True, weakref_slot=True, init=False)
class UserMessage(Message):
    """What the user says, with images, sounds or documents beside it.

    Raises:
        TypeError: the text is no `str` (PRM-07), or something among `media` is no `Media`.
    """

    text: str
    media: tuple[Media, ...]

    def __init__(self, text: str, media: Iterable[Media] = (), metadata: Mapping[str, Any] = EMPTY) -> None:
        object.__setattr__(self, "text", _text(text, "UserMessage"))
        object.__setattr__(self, "media", _items(media, Media, "media of a UserMessage"))
        object.__setattr__(self, "metadata", frozen(metadata))

    @property
    def message_type(self) -> MessageType:
        """`MessageType.USER`."""
        return MessageType.USER


@dataclass(frozen=True, slots=True, weakref_slot=True, init=False)
class AssistantMessage(Message):
    """What the model says: text, tool calls, or both.

    `reasoning` is the thinking that a provider shows; it is replayed where the provider demands it (OAI-08).
    """

    text: str | None
    tool_calls: tuple[ToolCall, ...]
    media: tuple[Media, ...]
    reasoning: str | None

    def __init__(
        self,
        text: str | None = None,
        tool_calls: Iterable[ToolCall] = (),
        media: Iterable[Media] = (),
        reasoning: str | None = None,
        metadata: Mapping[str, Any] = EMPTY,
    ) -> None:
        if text is not None:
            _text(text, "AssistantMessage")
        if reasoning is not None and not isinstance(reasoning, str):
            raise TypeError(f"the reasoning of an AssistantMessage is {reasoning!r}; a str is wanted")
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "tool_calls", _items(tool_calls, ToolCall, "tool calls of an AssistantMessage"))
        object.__setattr__(self, "media", _items(media, Media, "media of an AssistantMessage"))
        object.__setattr__(self, "reasoning", reasoning)
        object.__setattr__(self, "metadata", frozen(metadata))

    @property
    def message_type(self) -> MessageType:
        """`MessageType.ASSISTANT`."""
        return MessageType.ASSISTANT

    @property
    def has_tool_calls(self) -> bool:
        """Whether the model asks for at least one tool."""
        return bool(self.tool_calls)


@dataclass(frozen=True, slots=True, weakref_slot=True, init=False)
class ToolResponseMessage(Message):
    """The answers to the tool calls of the assistant message before it, in call order."""

    responses: tuple[ToolResponse, ...]

    def __init__(self, responses: Iterable[ToolResponse], metadata: Mapping[str, Any] = EMPTY) -> None:
        object.__setattr__(self, "responses", _items(responses, ToolResponse, "responses of a ToolResponseMessage"))
        object.__setattr__(self, "metadata", frozen(metadata))

    @property
    def message_type(self) -> MessageType:
        """`MessageType.TOOL`."""
        return MessageType.TOOL

    @property
    def text(self) -> str | None:
        """Always None: the texts are in `responses`."""
        return None


def _text(value: object, owner: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"the text of a {owner} is {value!r}; a str is wanted ('' is allowed)")
    return value


def _items(values: Iterable[Any], kind: type, what: str) -> tuple[Any, ...]:
    if values == ():
        return ()
    items = values if type(values) is tuple else tuple(values)
    for item in items:
        if not isinstance(item, kind):
            raise TypeError(f"among the {what} is {item!r}; only {kind.__name__} objects are wanted")
    return items
