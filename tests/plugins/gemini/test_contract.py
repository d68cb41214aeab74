"""`GeminiChatModel` holds what every chat model behind a service must."""

import json
from typing import Any

from vernal import ChatModel, FinishReason
from vernal.http import RetryPolicy
from vernal.testing import ServiceChatModelContract, StandardAnswer
from vernal.testing.server import Reply
from vernal_gemini import GeminiChatModel

REASONS = {FinishReason.STOP: "STOP", FinishReason.TOOL_CALLS: "STOP", FinishReason.LENGTH: "MAX_TOKENS"}
STATUSES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}


class TestGeminiChatModel(ServiceChatModelContract):
    def create_model(self, base_url: str, retry: RetryPolicy) -> ChatModel:
        return GeminiChatModel(api_key=self.api_key, base_url=base_url, retry=retry)

    def whole(self, answer: StandardAnswer) -> Reply:
        texts = [{"text": answer.text}] if answer.texts else []
        return Reply.of_json(self._response([*texts, *self._calls(answer)], answer, last=True))

    def streamed(self, answer: StandardAnswer) -> Reply:
        chunks = [self._response([{"text": text}], answer) for text in answer.texts]
        chunks += [self._response([call], answer) for call in self._calls(answer)]
        return Reply.of_events(*chunks, self._response([{"text": ""}], answer, last=True), done=False)

    def refusal(self, status: int, message: str) -> Reply:
        error = {"code": status, "message": message, "status": STATUSES[status]}
        return Reply.of_json({"error": error}, status=status)

    def _calls(self, answer: StandardAnswer) -> list[dict[str, Any]]:
        return [
            {"functionCall": {"id": call.id, "name": call.name, "args": json.loads(call.arguments)}}
            for call in answer.calls
        ]

    def _response(self, parts: list[dict[str, Any]], answer: StandardAnswer, *, last: bool = False) -> dict[str, Any]:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
        if last:
            candidate["finishReason"] = REASONS[answer.finish_reason]
        usage = {
            "promptTokenCount": answer.usage.prompt_tokens,
            "candidatesTokenCount": answer.usage.completion_tokens,
            "totalTokenCount": answer.usage.prompt_tokens + answer.usage.completion_tokens,
        }
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini", "responseId": "r"}
