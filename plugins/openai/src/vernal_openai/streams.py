"""The chunks of a streamed answer, assembled. Imported with the first request."""

from collections.abc import Mapping
from typing import Any

from vernal import EMPTY_USAGE, AssistantMessage, ChatResponse, ChatResponseMetadata, Generation, ToolCall
from vernal.http import BrokenStreamError, decode_json, unmapped, without_empty
from vernal_openai.audio import WAV, AudioCollector
from vernal_openai.replies import (
    CALL_MEMBERS,
    CHOICE_MEMBERS,
    MESSAGE_MEMBERS,
    ROOT_MEMBERS,
    ResponseHeaders,
    call_metadata,
    calls_in,
    generation,
    read_arguments,
    read_content,
    read_reasoning,
    read_usage,
)

NOTHING = Generation(AssistantMessage())
"""Holds the place of an answer that a chunk says nothing of, where there are several (`n`)."""

LOGPROBS = {"logprobs"}
PLACES = range(1024)
"""Indexes that answers may have."""


class StreamAssembler:
    """Turns the chunks of one stream into responses: text as it arrives, all else in the last one.

    Chunks share one metadata object as long as nothing in it changes.
    """

    def __init__(self, service: str, headers: ResponseHeaders, audio_type: str = WAV) -> None:
        self._service = service
        self._audio_type = audio_type
        self._headers = headers
        self._choices: dict[int, _Choice] = {}
        self._metadata = ChatResponseMetadata(rate_limit=headers.rate_limit)
        self._usage = EMPTY_USAGE
        self._properties: dict[str, Any] = dict(headers.properties)
        self._begun = False
        self._size = 0

    def add(self, chunk: Mapping[str, Any]) -> ChatResponse | None:
        """The response with the new text of `chunk`, None where it has none."""
        generations: tuple[Generation, ...] = ()
        telling = not self._begun or len(chunk) != self._size or chunk.get("usage")
        for choice in chunk.get("choices") or ():
            index = choice.get("index") or 0
            if index not in PLACES:
                raise ValueError(f"the index of a choice is {index!r}; a small number is wanted")
            collected = self._choices.get(index)
            if collected is None:
                collected = self._choices[index] = _Choice()
            message = collected.add(choice)
            telling = telling or collected.finish_reason
            if message is not None:
                if index > len(generations):
                    generations += (NOTHING,) * (index - len(generations))
                generations = (*generations, Generation(message))
        if telling or not generations:
            self._note(chunk)
        return ChatResponse(generations, self._metadata) if generations else None

    def finish(self, *, end_mark: bool) -> ChatResponse:
        """The last response: tool calls, finish reasons, usage, and what the service said beyond these.

        Raises:
            BrokenStreamError: the stream ended in the middle: without an end mark, and not every answer has ended.
        """
        choices = self._choices
        if not choices or not (end_mark or all(choice.finish_reason is not None for choice in choices.values())):
            what = "before it gave an answer" if not choices else "in the middle of the answer"
            request_id = self._properties.get("request_id")
            raise BrokenStreamError(f"the stream ended {what}", service=self._service, request_id=request_id)
        generations = tuple(
            choices[index].build(self._service, self._audio_type) if index in choices else NOTHING
            for index in range(max(choices) + 1)
        )
        known = self._metadata
        metadata = ChatResponseMetadata(
            known.id, known.model, self._usage, (), self._headers.rate_limit, self._properties
        )
        return ChatResponse(generations, metadata)

    def _note(self, chunk: Mapping[str, Any]) -> None:
        """Collect what chunks say beside text: looked for in the first and the last one, and in others than these."""
        if chunk.get("choices"):
            self._begun, self._size = True, len(chunk)
        identifier, model = chunk.get("id") or self._metadata.id, chunk.get("model") or self._metadata.model
        if identifier != self._metadata.id or model != self._metadata.model:
            self._metadata = ChatResponseMetadata(identifier, model, rate_limit=self._headers.rate_limit)
        usage = read_usage(chunk)
        if usage is not EMPTY_USAGE:
            self._usage = usage
        self._properties.update(unmapped(chunk, ROOT_MEMBERS))


class _Choice:
    """One answer in the making."""

    __slots__ = ("_audio", "_calls", "_members", "_properties", "finish_reason")

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self._audio: AudioCollector | None = None
        self._calls: CallFragments | None = None
        self._members: dict[str, Any] = {}
        self._properties: dict[str, Any] = {}

    def add(self, choice: Mapping[str, Any]) -> AssistantMessage | None:
        delta = choice.get("delta") or {}
        reason = choice.get("finish_reason")
        if reason:
            if not isinstance(reason, str):
                raise TypeError(f"a finish reason is {reason!r}; a text is wanted")
            self.finish_reason = reason
        further = choice.keys() - CHOICE_MEMBERS
        if further and not (further == LOGPROBS and choice["logprobs"] is None):  # many services say so of each piece
            for name, value in unmapped(choice, CHOICE_MEMBERS).items():
                _merge(self._properties, name, value)
        content = delta.get("content")
        if len(delta) == 1 and isinstance(content, str):  # what nearly all chunks are
            return AssistantMessage(content) if content else None
        for fragment in calls_in(delta):
            if self._calls is None:
                self._calls = CallFragments()
            self._calls.add(fragment)
        for name, value in without_empty(unmapped(delta, MESSAGE_MEMBERS)).items():
            _merge(self._members, name, value)
        text, reasoning, more = read_content(content)
        for name, value in more.items():
            _merge(self._members, name, value)
        if delta.get("audio"):
            self._audio = self._audio or AudioCollector()
            said = self._audio.add(delta["audio"])
            text = text or said
        reasoning = reasoning or read_reasoning(delta)
        return AssistantMessage(text or None, (), (), reasoning) if text or reasoning else None

    def build(self, service: str, audio_type: str) -> Generation:
        calls, audio = self._calls.build() if self._calls is not None else (), self._audio
        media = audio.media(audio_type) if audio is not None else ()
        members = {**self._members, **audio.metadata()} if audio is not None else self._members
        message = AssistantMessage(None, calls, media, None, members)
        return generation(message, self.finish_reason, self._properties, service)


class CallFragments:
    """Tool calls in the making: fragments merge by index or, without one, a new id starts a new call (R8).

    Blank ids and names in later fragments add nothing (OAI-02). Services that give every call the same index are
    understood too: a fragment that names a function again, with another id or after whole arguments, is a new call.
    """

    __slots__ = ("_by_index", "_calls")

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    def add(self, fragment: Mapping[str, Any]) -> None:
        """Merge one fragment."""
        function = fragment.get("function") or {}
        index = fragment.get("index")
        identifier, name = _said(fragment.get("id")), _said(function.get("name"))
        arguments = read_arguments(function.get("arguments"))
        if index is None:
            call = self._calls[-1] if self._calls else None
        else:
            call = self._by_index.get(index)
        if call is None or call.is_followed_by(index, identifier, name, arguments):
            call = _Call()
            self._calls.append(call)
            if index is not None:
                self._by_index[index] = call
        call.id = call.id or identifier
        call.name = call.name or name
        call.type = call.type or _said(fragment.get("type"))
        if arguments:
            call.arguments.append(arguments)
        if len(fragment) > 2:  # more than index and function
            call.extra.update(unmapped(fragment, CALL_MEMBERS))

    def build(self) -> tuple[ToolCall, ...]:
        """The whole calls, in the order in which they began."""
        return tuple(
            ToolCall(call.id, call.name, "".join(call.arguments), call.type or "function", call_metadata(call.extra))
            for call in self._calls
        )


class _Call:
    __slots__ = ("arguments", "extra", "id", "name", "type")

    def __init__(self) -> None:
        self.id = self.name = self.type = ""
        self.arguments: list[str] = []
        self.extra: dict[str, Any] = {}

    def is_followed_by(self, index: int | None, identifier: str, name: str, arguments: str) -> bool:
        """Whether a fragment begins the next call instead of going on with this one."""
        if identifier and self.id and (index is None or (name and self.name)):
            return identifier != self.id
        return bool(name and self.name and arguments) and self._is_whole()

    def _is_whole(self) -> bool:
        try:
            return isinstance(decode_json("".join(self.arguments)), dict)
        except ValueError:
            return False


def _said(value: object) -> str:
    """A text that says something; blank ones are as good as none."""
    text = "" if value is None else str(value)
    return text if text.strip() else ""


def _merge(members: dict[str, Any], name: str, value: Any) -> None:
    """Add what a further chunk says of a member: refusals, lists and objects grow, all else is replaced."""
    known = members.get(name)
    if name == "reasoning_details" and isinstance(value, list):
        members[name] = _merged_details(known or [], value)
    elif name == "logprobs" and isinstance(value, dict):
        grown = members.setdefault(name, {})
        for key, part in value.items():
            if isinstance(part, list):
                grown.setdefault(key, []).extend(part)
    elif known is not None and (isinstance(value, list) or name == "refusal"):
        members[name] = known + value
    elif isinstance(known, dict) and isinstance(value, dict):
        members[name] = {**known, **value}
    else:
        members[name] = value


def _merged_details(known: list[Any], new: list[Any]) -> list[Any]:
    """Reasoning details, one item per index: its texts are joined, all else is replaced by what comes later."""
    merged = [dict(item) for item in known]
    by_index = {item.get("index"): item for item in merged if item.get("index") is not None}
    for detail in new:
        item = by_index.get(detail.get("index"))
        if item is None:
            item = dict(detail)
            merged.append(item)
            if item.get("index") is not None:
                by_index[item["index"]] = item
            continue
        for name, value in detail.items():
            if name in ("text", "summary", "data") and isinstance(item.get(name), str) and isinstance(value, str):
                item[name] += value
            elif value is not None:
                item[name] = value
    return merged
