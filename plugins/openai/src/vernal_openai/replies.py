"""What a service answers, read into vernal's values. Imported with the first request."""

import re
from collections.abc import Iterable, Mapping, Sequence
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
from vernal.http import (
    ProtocolError,
    encode_json,
    members_of,
    read_rate_limit,
    request_id,
    token_count,
    unmapped,
    without_empty,
)
from vernal_openai.audio import WAV, AudioCollector
from vernal_openai.messages import EXTRA

FINISH_REASONS: Mapping[str, FinishReason] = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "tool_use": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.CONTENT_FILTER,
    "safety": FinishReason.CONTENT_FILTER,
    "sensitive": FinishReason.CONTENT_FILTER,
    "error": FinishReason.ERROR,
    "abort": FinishReason.ERROR,
    "network_error": FinishReason.ERROR,
    "insufficient_system_resource": FinishReason.ERROR,
}
ROOT_MEMBERS = frozenset({"id", "object", "model", "choices", "usage", "error", "obfuscation", "p"})
"""Members of a response with a place of their own (or, the last two, padding against the guessing of lengths)."""
CHOICE_MEMBERS = frozenset({"index", "message", "delta", "finish_reason"})
MESSAGE_MEMBERS = frozenset(
    {"role", "content", "tool_calls", "function_call", "reasoning", "reasoning_content", "audio"}
)
CALL_MEMBERS = frozenset({"index", "id", "type", "function"})
LIMIT_HEADERS = tuple(
    f"x-ratelimit-{said}-{what}" for what in ("requests", "tokens") for said in ("limit", "remaining", "reset")
)
EMPTY: Mapping[str, Any] = {}

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def read_response(
    body: Mapping[str, Any], *, service: str, headers: "ResponseHeaders", audio_type: str = WAV
) -> ChatResponse:
    """The response for the body of an answer that was not streamed; sound in it is of the media type `audio_type`.

    Raises:
        ProtocolError: the body is no chat completion.
    """
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise ProtocolError(f"the answer has no choices, but {sorted(body)!r}", service=service)
    metadata = ChatResponseMetadata(
        body.get("id") or None,
        body.get("model") or None,
        read_usage(body),
        (),
        headers.rate_limit,
        {**headers.properties, **unmapped(body, ROOT_MEMBERS)},
    )
    return ChatResponse(tuple(_read_choice(choice, service, audio_type) for choice in choices), metadata)


def _read_choice(choice: Mapping[str, Any], service: str, audio_type: str) -> Generation:
    message = choice.get("message") or {}
    text, reasoning, more = read_content(message.get("content"))
    calls = tuple(read_call(call) for call in calls_in(message))
    metadata = {**without_empty(unmapped(message, MESSAGE_MEMBERS)), **more}
    media: tuple[Media, ...] = ()
    if message.get("audio"):
        audio = AudioCollector()
        said = audio.add(message["audio"])
        text = text or said
        metadata, media = {**metadata, **audio.metadata()}, audio.media(audio_type)
    return generation(
        AssistantMessage(text, calls, media, reasoning or read_reasoning(message), metadata),
        choice.get("finish_reason"),
        unmapped(choice, CHOICE_MEMBERS),
        service,
    )


def generation(message: AssistantMessage, raw: str | None, properties: dict[str, Any], service: str) -> Generation:
    """A generation whose finish reason is in vernal's vocabulary, the service's own beside it.

    Raises:
        ProtocolError: a call has no name (OAI-05), and was not cut off.
    """
    reason = finish_reason(raw, properties.get("native_finish_reason"), bool(message.tool_calls))
    if reason not in CUT_OFF:
        for call in message.tool_calls:
            if not call.name.strip():
                raise ProtocolError(f"Tool call function name is missing in the call {call.id!r}", service=service)
    return Generation(message, ChatGenerationMetadata(reason, raw, properties))


def finish_reason(raw: str | None, native: object, has_calls: bool) -> FinishReason:
    """The one meaning of a finish reason; `native` is the one of the model behind a router (OpenRouter)."""
    reason = FINISH_REASONS.get((raw or "").lower())
    if isinstance(native, str) and FINISH_REASONS.get(native.lower()) is FinishReason.LENGTH:
        return FinishReason.LENGTH
    if reason is None or reason is FinishReason.STOP:
        return FinishReason.TOOL_CALLS if has_calls else FinishReason.STOP
    return reason


def read_content(content: object) -> tuple[str | None, str | None, Mapping[str, Any]]:
    """Text and reasoning of a message's content, a string or a list of parts (Mistral), and what else is in the parts.

    A refusal stands where it does beside a plain text; parts that are not known are given as `content_parts`.
    """
    if content is None or isinstance(content, str):
        return content, None, EMPTY
    texts: list[str] = []
    thoughts: list[str] = []
    refusals: list[str] = []
    others: list[Any] = []
    parts: Sequence[Any] = content if isinstance(content, list) else (content,)
    for part in parts:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if isinstance(part, str):
            texts.append(part)
        elif kind == "thinking":
            thinking = part.get("thinking")
            thoughts += [thinking] if isinstance(thinking, str) else _texts(thinking or ())
        elif kind == "refusal":
            refusals.append(part.get("refusal") or "")
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        else:
            others.append(part)
    more = without_empty({"refusal": "".join(refusals), "content_parts": others})
    return "".join(texts) if texts else None, "".join(thoughts) if thoughts else None, more


def calls_in(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The tool calls of a message, or the one call of the protocol's older form, which has no id."""
    calls: Sequence[Mapping[str, Any]] = message.get("tool_calls") or ()
    older = message.get("function_call")
    return ({"function": older},) if older and not calls else calls


def read_reasoning(message: Mapping[str, Any]) -> str | None:
    """The reasoning of a message, under either name (OAI-08)."""
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    return reasoning if isinstance(reasoning, str) else None


def read_call(call: Mapping[str, Any]) -> ToolCall:
    """A whole tool call; a missing id is repaired by the engine (R8)."""
    function = call.get("function") or {}
    return ToolCall(
        str(call.get("id") or ""),
        function.get("name") or "",
        read_arguments(function.get("arguments")),
        str(call.get("type") or "function"),
        call_metadata(unmapped(call, CALL_MEMBERS)),
    )


def read_arguments(arguments: object) -> str:
    """The JSON text of arguments, as it came; some services send the object itself."""
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else encode_json(arguments).decode()


def call_metadata(extra: dict[str, Any]) -> dict[str, Any]:
    """The metadata of a tool call with members beyond the protocol (OAI-07)."""
    return {EXTRA: extra} if extra else {}


def read_usage(body: Mapping[str, Any]) -> Usage:
    """The usage that a body reports, itself or in one of its choices (Moonshot), else `EMPTY_USAGE`."""
    usage = body.get("usage") or members_of(body.get("x_groq")).get("usage")
    if type(usage) is not dict:
        usage = next((u for choice in body.get("choices") or () if (u := choice.get("usage"))), None)
        if type(usage) is not dict:
            return EMPTY_USAGE
    prompt = members_of(usage.get("prompt_tokens_details"))
    completion = members_of(usage.get("completion_tokens_details"))
    cached = prompt.get("cached_tokens")
    return Usage(
        token_count(usage.get("prompt_tokens")) or 0,
        token_count(usage.get("completion_tokens")) or 0,
        token_count(usage.get("total_tokens")),
        token_count(usage.get("prompt_cache_hit_tokens") if cached is None else cached),
        token_count(prompt.get("cache_write_tokens")),
        token_count(completion.get("reasoning_tokens")),
        usage,
    )


class ResponseHeaders:
    """What the headers of a response say: the caller's limits, and the id of the request."""

    __slots__ = ("properties", "rate_limit")

    def __init__(self, headers: Mapping[str, str]) -> None:
        identifier = request_id(headers)
        self.properties = {} if identifier is None else {"request_id": identifier}
        self.rate_limit = read_rate_limit(headers, LIMIT_HEADERS, _duration)


def _duration(text: str | None) -> float | None:
    """Seconds of `"6m0s"`, `"20ms"`, `"1.5s"` or `"3"`."""
    if not text:
        return None
    parts = _DURATION.findall(text)
    if parts and "".join(f"{number}{unit}" for number, unit in parts) == text:
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    try:
        return float(text)
    except ValueError:
        return None


def _texts(parts: Iterable[Any]) -> list[str]:
    return [part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str)]


def is_error(body: Mapping[str, Any]) -> bool:
    """Whether an answer, or a chunk of one, is an error in its place: as `error`, or as it is (vLLM, Mistral)."""
    if body.get("error"):
        return True
    return "choices" not in body and (body.get("object") == "error" or "message" in body or "detail" in body)
