"""`AnthropicChatModel` holds what every chat model behind a service must."""

import json
from typing import Any

from vernal import ChatModel, FinishReason
from vernal.http import RetryPolicy
from vernal.testing import ServiceChatModelContract, StandardAnswer
from vernal.testing.server import Reply
from vernal_anthropic import AnthropicChatModel

REASONS = {FinishReason.STOP: "end_turn", FinishReason.TOOL_CALLS: "tool_use", FinishReason.LENGTH: "max_tokens"}
KINDS = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error", 500: "api_error"}


class TestAnthropicChatModel(ServiceChatModelContract):
    def create_model(self, base_url: str, retry: RetryPolicy) -> ChatModel:
        return AnthropicChatModel(api_key=self.api_key, base_url=base_url, retry=retry)

    def whole(self, answer: StandardAnswer) -> Reply:
        texts = [{"type": "text", "text": answer.text}] if answer.texts else []
        calls = [self._call(call.id, call.name, json.loads(call.arguments)) for call in answer.calls]
        usage = {"input_tokens": answer.usage.prompt_tokens, "output_tokens": answer.usage.completion_tokens}
        message = {"id": "m1", "type": "message", "role": "assistant", "model": "claude", "content": [*texts, *calls]}
        return Reply.of_json({**message, "stop_reason": REASONS[answer.finish_reason], "usage": usage})

    def streamed(self, answer: StandardAnswer) -> Reply:
        usage = {"input_tokens": answer.usage.prompt_tokens, "output_tokens": 1}
        message = {"id": "m1", "model": "claude", "content": [], "usage": usage}
        events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
        if answer.texts:
            deltas = [{"type": "text_delta", "text": text} for text in answer.texts]
            events += self._block(0, {"type": "text", "text": ""}, deltas)
        for index, call in enumerate(answer.calls, 1):
            arguments = ("", call.arguments[:3], call.arguments[3:])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in arguments]
            events += self._block(index, self._call(call.id, call.name, {}), deltas)
        end = {"stop_reason": REASONS[answer.finish_reason], "stop_sequence": None}
        told = {"output_tokens": answer.usage.completion_tokens}
        events += [{"type": "message_delta", "delta": end, "usage": told}, {"type": "message_stop"}]
        pieces = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]
        return Reply(pieces, content_type="text/event-stream")

    def refusal(self, status: int, message: str) -> Reply:
        error = {"type": KINDS[status], "message": message}
        return Reply.of_json({"type": "error", "error": error}, status=status)

    def _call(self, call_id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}

    def _block(self, index: int, start: dict[str, Any], deltas: list[dict[str, str]]) -> list[dict[str, Any]]:
        return [
            {"type": "content_block_start", "index": index, "content_block": start},
            *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
            {"type": "content_block_stop", "index": index},
        ]
