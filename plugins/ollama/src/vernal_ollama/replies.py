"""What Ollama answers, read into vernal's values. Imported with the first request."""

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
    ToolCall,
    Usage,
)
from vernal.http import Endpoint, ProtocolError, ServerSentEvent, encode_json, token_count, unmapped, without_empty

FINISH_REASONS: Mapping[str, FinishReason] = {"length": FinishReason.LENGTH}
"""The reasons other than an end of the model's own; `load` and `unload` are answers to requests without messages."""
ROOT_MEMBERS = frozenset({"model", "message", "done", "done_reason", "prompt_eval_count", "eval_count"})
MESSAGE_MEMBERS = frozenset({"role", "content", "thinking", "tool_calls"})
CALL_MEMBERS = frozenset({"id", "type", "function"})
USAGE_MEMBERS = ("prompt_eval_count", "eval_count")


class AnswerReader:
    """One answer in the making: of the one document of a whole answer, or of the lines of a stream."""

    __slots__ = ("_calls", "_endpoint", "_members", "_model", "_properties", "_raw_reason", "_usage", "ended")

    def __init__(self, endpoint: Endpoint) -> None:
        self.ended = False
        self._endpoint = endpoint
        self._calls: list[ToolCall] = []
        self._members: dict[str, Any] = {}
        self._properties: dict[str, Any] = {}
        self._model: str | None = None
        self._raw_reason: str | None = None
        self._usage = EMPTY_USAGE

    def add(self, event: ServerSentEvent) -> ChatResponse | None:
        """The response with the new text of a line, None where it has none; an error in its place is raised (R20)."""
        message = self.read(event[1])
        return None if message is None else ChatResponse((Generation(message),))

    def finish(self) -> ChatResponse:
        """The last response of a stream: tool calls, finish reason, usage.

        Raises:
            BrokenStreamError: the stream ended without the line that says it is done.
        """
        if not self.ended:
            raise self._endpoint.broken("the stream ended before the answer was done")
        return self.build(None)

    def read(self, content: bytes) -> AssistantMessage | None:
        """Take in one document; the message with its text and thinking, None where it has neither."""
        document = self._endpoint.read_object(content)
        if document.get("error"):
            raise self._endpoint.refusal(content)
        message = document.get("message") or {}
        for call in message.get("tool_calls") or ():
            self._calls.append(_call(call))
        if len(message) > 2:  # more than role and content
            self._members.update(without_empty(unmapped(message, MESSAGE_MEMBERS)))
        if document.get("done"):
            self._end(document)
        text, thinking = message.get("content"), message.get("thinking")
        return AssistantMessage(text or None, (), (), thinking or None) if text or thinking else None

    def build(self, message: AssistantMessage | None) -> ChatResponse:
        """The response as a whole, on top of `message`.

        Raises:
            ProtocolError: a call has no name.
        """
        raw = self._raw_reason
        reason = FINISH_REASONS.get(raw or "", FinishReason.TOOL_CALLS if self._calls else FinishReason.STOP)
        if reason not in CUT_OFF and not all(call.name.strip() for call in self._calls):
            raise ProtocolError("Tool call function name is missing", service=self._endpoint.service)
        message = (message or AssistantMessage()).copy(tool_calls=tuple(self._calls), metadata=self._members)
        return ChatResponse(
            (Generation(message, ChatGenerationMetadata(reason, raw)),),
            ChatResponseMetadata(model=self._model, usage=self._usage, properties=self._properties),
        )

    def _end(self, document: Mapping[str, Any]) -> None:
        self.ended = True
        self._model = document.get("model") or None
        self._raw_reason = document.get("done_reason") or None
        self._properties = unmapped(document, ROOT_MEMBERS)
        native = {name: document[name] for name in USAGE_MEMBERS if document.get(name) is not None}
        if native:
            prompt, completion = (token_count(document.get(name)) or 0 for name in USAGE_MEMBERS)
            self._usage = Usage(prompt, completion, native=native)


def _call(call: Mapping[str, Any]) -> ToolCall:
    """A tool call, whole; a missing id is repaired by the engine (R8)."""
    function = call["function"]
    arguments = function.get("arguments") or {}
    text = arguments if isinstance(arguments, str) else encode_json(arguments).decode()
    return ToolCall(str(call.get("id") or ""), function.get("name") or "", text)
