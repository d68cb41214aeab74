"""What the service answers, read into vernal's values, whole or chunk by chunk. Imported with the first request."""

import base64
from collections.abc import Mapping
from typing import Any

from vernal import (
    CUT_OFF,
    EMPTY_USAGE,
    AssistantMessage,
    ChatGenerationMetadata,
    ChatResponse,
    ChatResponseMetadata,
    FinishReason,
    Generation,
    Media,
    ToolCall,
    Usage,
)
from vernal.http import Endpoint, ProtocolError, encode_json, members_of, token_count, unmapped
from vernal_gemini.messages import PARTS, SIGNATURE, is_plain

FILTERED = (
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "LANGUAGE",
    "MODEL_ARMOR",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
)
FAILED = (
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
    "NO_IMAGE",
    "IMAGE_OTHER",
    "OTHER",
)
FINISH_REASONS: Mapping[str, FinishReason] = {
    "MAX_TOKENS": FinishReason.LENGTH,
    **dict.fromkeys(FILTERED, FinishReason.CONTENT_FILTER),
    **dict.fromkeys(FAILED, FinishReason.ERROR),
}
ROOT_MEMBERS = frozenset({"candidates", "usageMetadata", "modelVersion", "responseId"})
CANDIDATE_MEMBERS = frozenset({"content", "finishReason", "index"})
NOTHING = Generation(AssistantMessage())
"""Holds the place of an answer that a chunk says nothing of, where there are several."""


class Reply:
    """One response in the making, of one chunk or of many: its candidates, and what is said of it as a whole."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._candidates: dict[int, _Candidate] = {}
        self._id: str | None = None
        self._model: str | None = None
        self._usage: dict[str, Any] = {}
        self._properties: dict[str, Any] = {}

    def add(self, chunk: Mapping[str, Any]) -> ChatResponse | None:
        """Take in a chunk; the response with its new text, None where it has none."""
        generations: list[Generation] = []
        for candidate in chunk.get("candidates") or ():
            index = candidate.get("index") or 0
            if index not in range(1024):
                raise ValueError(f"the index of a candidate is {index!r}; a small number is wanted")
            message = self._candidates.setdefault(index, _Candidate()).add(candidate)
            if message is not None:
                generations += [NOTHING] * (index - len(generations))
                generations.append(Generation(message))
        self._id = chunk.get("responseId") or self._id
        self._model = chunk.get("modelVersion") or self._model
        self._usage.update(members_of(chunk.get("usageMetadata")))
        self._properties.update(unmapped(chunk, ROOT_MEMBERS))
        return ChatResponse(tuple(generations)) if generations else None

    @property
    def ended(self) -> bool:
        """Whether every answer has a reason why it ends, or the prompt was blocked."""
        if self._candidates:
            return all(candidate.finish_reason is not None for candidate in self._candidates.values())
        return self._block_reason is not None

    def build(self, *, text: bool = True) -> ChatResponse:
        """The response as a whole; without `text` it has neither text nor reasoning, which have gone out already.

        Raises:
            ProtocolError: there is neither an answer nor a reason, or a call has no name.
        """
        candidates, service = self._candidates, self._endpoint.service
        if candidates:
            generations = tuple(
                candidates[index].build(service, text=text) if index in candidates else NOTHING
                for index in range(max(candidates) + 1)
            )
        elif self._block_reason is not None:
            metadata = ChatGenerationMetadata(FinishReason.CONTENT_FILTER, self._block_reason)
            generations = (Generation(AssistantMessage(), metadata),)
        else:
            raise ProtocolError("the answer has no candidates", service=service)
        return ChatResponse(
            generations,
            ChatResponseMetadata(self._id, self._model, read_usage(self._usage), (), None, self._properties),
        )

    @property
    def _block_reason(self) -> str | None:
        """Why the prompt was blocked; the service's words are in the property `promptFeedback`."""
        feedback = self._properties.get("promptFeedback") or {}
        reason = feedback.get("blockReason")
        return str(reason) if reason else None


class _Candidate:
    """One answer in the making."""

    __slots__ = ("_parts", "_properties", "finish_reason")

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self._parts: list[dict[str, Any]] = []
        self._properties: dict[str, Any] = {}

    def add(self, candidate: Mapping[str, Any]) -> AssistantMessage | None:
        self.finish_reason = candidate.get("finishReason") or self.finish_reason
        self._properties.update(unmapped(candidate, CANDIDATE_MEMBERS))
        parts = (candidate.get("content") or {}).get("parts") or ()
        self._parts += map(dict, parts)
        text, thoughts = _texts(parts)
        return AssistantMessage(text or None, (), (), thoughts or None) if text or thoughts else None

    def build(self, service: str, *, text: bool) -> Generation:
        calls = tuple(_call(part) for part in self._parts if part.get("functionCall") is not None)
        raw = self.finish_reason
        reason = FINISH_REASONS.get(raw or "") or (FinishReason.TOOL_CALLS if calls else FinishReason.STOP)
        if reason not in CUT_OFF and not all(call.name.strip() for call in calls):
            raise ProtocolError("Tool call function name is missing", service=service)
        said, thoughts = _texts(self._parts) if text else ("", "")
        media = tuple(_media(part["inlineData"]) for part in self._parts if part.get("inlineData"))
        metadata = {} if all(map(is_plain, self._parts)) else {PARTS: _joined(self._parts)}
        message = AssistantMessage(said or None, calls, media, thoughts or None, metadata)
        return Generation(message, ChatGenerationMetadata(reason, raw, self._properties))


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """The usage: what the service's own tools read is input, what the model thinks is output."""
    if not usage:
        return EMPTY_USAGE
    thoughts = token_count(usage.get("thoughtsTokenCount"))
    return Usage(
        (token_count(usage.get("promptTokenCount")) or 0) + (token_count(usage.get("toolUsePromptTokenCount")) or 0),
        (token_count(usage.get("candidatesTokenCount")) or 0) + (thoughts or 0),
        token_count(usage.get("totalTokenCount")),
        token_count(usage.get("cachedContentTokenCount")),
        None,
        thoughts,
        dict(usage),
    )


def _call(part: Mapping[str, Any]) -> ToolCall:
    """A call; a missing id is repaired by the engine (R8)."""
    call = part["functionCall"]
    if not isinstance(call.get("id"), str | None):
        raise TypeError(f"the id of a call is {call['id']!r}; a text is wanted")
    metadata = {SIGNATURE: part[SIGNATURE]} if part.get(SIGNATURE) else {}
    arguments = encode_json(call.get("args") or {}).decode()
    return ToolCall(str(call.get("id") or ""), call.get("name") or "", arguments, "function", metadata)


def _media(data: Mapping[str, Any]) -> Media:
    return Media(data.get("mimeType") or "application/octet-stream", base64.b64decode(data.get("data") or ""))


def _texts(parts: Any) -> tuple[str, str]:
    """What is said, and what is thought."""
    said: list[str] = []
    thoughts: list[str] = []
    for part in parts:
        if text := part.get("text"):
            (thoughts if part.get("thought") else said).append(text)
    return "".join(said), "".join(thoughts)


def _joined(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The parts as they go back: without thoughts, and texts that came in pieces joined up to each signature."""
    joined: list[dict[str, Any]] = []
    for part in parts:
        if part.get("thought"):
            continue
        last = joined[-1] if joined else None
        if last is not None and part.keys() == {"text"} and last.keys() == {"text"}:
            joined[-1] = {"text": last["text"] + part["text"]}
        elif part != {"text": ""}:
            joined.append(part)
    return joined
