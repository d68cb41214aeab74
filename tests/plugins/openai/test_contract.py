"""`OpenAiChatModel` holds what every chat model behind a service must."""

from typing import Any

from vernal import ChatModel, FinishReason
from vernal.http import RetryPolicy
from vernal.testing import ServiceChatModelContract, StandardAnswer
from vernal.testing.server import Reply
from vernal_openai import OpenAiChatModel, OpenAiChatOptions

REASONS = {FinishReason.STOP: "stop", FinishReason.TOOL_CALLS: "tool_calls", FinishReason.LENGTH: "length"}


class TestOpenAiChatModel(ServiceChatModelContract):
    def create_model(self, base_url: str, retry: RetryPolicy) -> ChatModel:
        options = OpenAiChatOptions(model="m")
        return OpenAiChatModel(api_key=self.api_key, base_url=base_url, options=options, retry=retry)

    def whole(self, answer: StandardAnswer) -> Reply:
        message = {"role": "assistant", "content": answer.text or None, "tool_calls": self._calls(answer)}
        choice = {"index": 0, "message": message, "finish_reason": REASONS[answer.finish_reason]}
        return Reply.of_json({"id": "r", "model": "m", "choices": [choice], "usage": self._usage(answer)})

    def streamed(self, answer: StandardAnswer) -> Reply:
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += ({"content": text} for text in answer.texts)
        for index, call in enumerate(self._calls(answer)):
            arguments = call["function"]["arguments"]
            pieces = [arguments[:3], arguments[3:]]
            deltas.append({"tool_calls": [{"index": index, **call, "function": {**call["function"], "arguments": ""}}]})
            deltas += ({"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in pieces)
        chunks = [self._chunk(delta) for delta in deltas]
        last = {**self._chunk({}, REASONS[answer.finish_reason]), "usage": self._usage(answer)}
        return Reply.of_events(*chunks, last)

    def refusal(self, status: int, message: str) -> Reply:
        return Reply.of_json({"error": {"message": message, "type": "error"}}, status=status)

    def _chunk(self, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {"id": "r", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    def _calls(self, answer: StandardAnswer) -> list[dict[str, Any]]:
        return [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in answer.calls
        ]

    def _usage(self, answer: StandardAnswer) -> dict[str, int]:
        usage = answer.usage
        return {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        }
