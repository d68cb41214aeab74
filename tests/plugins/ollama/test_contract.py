"""`OllamaChatModel` holds what every chat model behind a service must."""

import json
from typing import Any

from vernal import ChatModel, FinishReason
from vernal.http import RetryPolicy
from vernal.testing import ServiceChatModelContract, StandardAnswer
from vernal.testing.server import Reply
from vernal_ollama import OllamaChatModel, OllamaChatOptions


class TestOllamaChatModel(ServiceChatModelContract):
    def create_model(self, base_url: str, retry: RetryPolicy) -> ChatModel:
        options = OllamaChatOptions(model="m")
        return OllamaChatModel(api_key=self.api_key, base_url=base_url, options=options, retry=retry)

    def whole(self, answer: StandardAnswer) -> Reply:
        return Reply.of_json(self._last(answer, answer.text))

    def streamed(self, answer: StandardAnswer) -> Reply:
        lines = [self._line(text) for text in answer.texts]
        pieces = [json.dumps(line).encode() + b"\n" for line in (*lines, self._last(answer))]
        return Reply(pieces, content_type="application/x-ndjson")

    def refusal(self, status: int, message: str) -> Reply:
        return Reply.of_json({"error": message}, status=status)

    def _line(self, text: str, **members: Any) -> dict[str, Any]:
        return {"model": "m", "message": {"role": "assistant", "content": text, **members}, "done": False}

    def _last(self, answer: StandardAnswer, text: str = "") -> dict[str, Any]:
        calls = [
            {"id": call.id, "function": {"name": call.name, "arguments": json.loads(call.arguments)}}
            for call in answer.calls
        ]
        return {
            **self._line(text, **({"tool_calls": calls} if calls else {})),
            "done": True,
            "done_reason": "length" if answer.finish_reason is FinishReason.LENGTH else "stop",
            "prompt_eval_count": answer.usage.prompt_tokens,
            "eval_count": answer.usage.completion_tokens,
        }
