"""What the service answers, read into vernal's values. Imported with the first request."""

from collections.abc import Mapping
from datetime import UTC, datetime
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
    ToolCall,
    Usage,
)
from vernal.http import ProtocolError, encode_json, members_of, read_rate_limit, request_id, token_count, unmapped
from vernal_anthropic.messages import BLOCKS, is_ours

FINISH_REASONS: Mapping[str, FinishReason] = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "pause_turn": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.CONTENT_FILTER,
}
ROOT_MEMBERS = frozenset({"id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage", "delta"})
LIMIT_HEADERS = tuple(
    f"anthropic-ratelimit-{what}-{said}" for what in ("requests", "tokens") for said in ("limit", "remaining", "reset")
)


class Reply:
    """One answer in the making: its blocks as they came, and what is said of it as a whole."""

    def __init__(self, service: str, headers: Mapping[str, str]) -> None:
        self.blocks: list[dict[str, Any]] = []
        self.stop_reason: str | None = None
        self._service = service
        self._id: str | None = None
        self._model: str | None = None
        self._stop: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        identifier = request_id(headers)
        self._properties: dict[str, Any] = {} if identifier is None else {"request_id": identifier}
        self._rate_limit = read_rate_limit(headers, LIMIT_HEADERS, _seconds)

    def note(self, message: Mapping[str, Any]) -> None:
        """Take in what a message, or the change of one, says beside its blocks; later numbers replace earlier ones.

        All are of the whole answer so far, so that a 0 after another number says nothing.
        """
        self._id = message.get("id") or self._id
        self._model = message.get("model") or self._model
        self.stop_reason = message.get("stop_reason") or self.stop_reason
        if message.get("stop_sequence") is not None:
            self._stop["stop_sequence"] = message["stop_sequence"]
        usage = members_of(message.get("usage"))
        self._usage.update({n: value for n, value in usage.items() if value or n not in self._usage})
        self._properties.update(unmapped(message, ROOT_MEMBERS))

    def build(self, *, text: bool = True) -> ChatResponse:
        """The response as a whole; without `text` it has neither text nor reasoning, which have gone out already.

        Raises:
            ProtocolError: a call has no name.
        """
        blocks = [block for block in self.blocks if block.get("type") != "text" or block.get("text")]
        calls = tuple(_call(block) for block in blocks if block.get("type") == "tool_use")
        raw = self.stop_reason
        reason = FINISH_REASONS.get(raw or "", FinishReason.STOP)
        if reason is FinishReason.STOP and calls:
            reason = FinishReason.TOOL_CALLS
        if reason not in CUT_OFF and not all(call.name.strip() for call in calls):
            raise ProtocolError("Tool call function name is missing", service=self._service)
        kept = [_kept(block) for block in blocks if reason not in CUT_OFF or not _is_unsigned(block)]
        metadata = {} if all(map(is_ours, kept)) else {BLOCKS: kept}
        message = AssistantMessage(
            (_joined(blocks, "text") or None) if text else None,
            calls,
            (),
            (_joined(blocks, "thinking") or None) if text else None,
            metadata,
        )
        return ChatResponse(
            (Generation(message, ChatGenerationMetadata(reason, raw, self._stop)),),
            ChatResponseMetadata(
                self._id, self._model, read_usage(self._usage), (), self._rate_limit, self._properties
            ),
        )


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """The usage: the service counts cached tokens apart from the other input, here they are part of it."""
    if not usage:
        return EMPTY_USAGE
    read, written = (
        token_count(usage.get("cache_read_input_tokens")),
        token_count(usage.get("cache_creation_input_tokens")),
    )
    prompt = (token_count(usage.get("input_tokens")) or 0) + (read or 0) + (written or 0)
    completion = token_count(usage.get("output_tokens")) or 0
    return Usage(prompt, completion, None, read, written, None, dict(usage))


def _call(block: Mapping[str, Any]) -> ToolCall:
    """A call; its input is an object, or, where it was cut off, a text that is none."""
    given = block.get("input")
    arguments = given if isinstance(given, str) else encode_json(given or {}).decode()
    return ToolCall(str(block.get("id") or ""), block.get("name") or "", arguments)


def _kept(block: Mapping[str, Any]) -> dict[str, Any]:
    """A block as it may go back: with an object as its input."""
    return {**block, "input": {}} if isinstance(block.get("input"), str) else dict(block)


def _is_unsigned(block: Mapping[str, Any]) -> bool:
    """Whether a block is thinking that was cut off before its signature: the service does not take it back."""
    return block.get("type") == "thinking" and not block.get("signature")


def _joined(blocks: list[dict[str, Any]], kind: str) -> str:
    return "".join(block.get(kind) or "" for block in blocks if block.get("type") == kind)


def _seconds(time: str | None) -> float | None:
    """Seconds until a time such as `2026-01-31T12:00:00Z`."""
    try:
        until = datetime.fromisoformat(time or "")
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
