"""DeepSeek's ways within OpenAI's protocol."""

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from vernal import AssistantMessage, FinishReason, Prompt, ToolCall, ToolResponse, ToolResponseMessage, UserMessage
from vernal.http import BadRequestError, OverloadedError, QuotaExceededError, RetryPolicy
from vernal.testing.server import Reply, replaying
from vernal_deepseek import DeepSeekChatModel, DeepSeekChatOptions

if TYPE_CHECKING:
    from tests.plugins.conftest import Service

ONCE = {"retry": RetryPolicy(max_attempts=1)}
CALLED = ToolCall("c1", "roll", "{}")
RESULT = ToolResponseMessage([ToolResponse("c1", "roll", "4")])


@pytest.mark.parametrize(("thinking", "sent"), [(True, "enabled"), (False, "disabled"), (None, None)])
def test_thinking_is_switched_by_an_option(service: "Service", thinking: bool | None, sent: str | None) -> None:
    """`thinking` is the service's own switch; where it is not set the service decides."""
    options = DeepSeekChatOptions(thinking=thinking, reasoning_effort="low", max_tokens=10)
    body = service.sent(Prompt("hi", options))
    assert body.get("thinking") == (None if sent is None else {"type": sent})
    assert (body["model"], body["reasoning_effort"], body["max_tokens"]) == ("deepseek-v4-flash", "low", 10)


@pytest.mark.parametrize("streamed", [False, True])
def test_thoughts_go_back_with_the_calls_that_they_led_to(service: "Service", streamed: bool) -> None:
    """What the model thought before it called is sent back unchanged, as the service demands within a turn (OAI-08)."""
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "roll", "arguments": "{}"}}
    if streamed:
        pieces: list[dict[str, Any]] = [{"reasoning_content": "Let me "}, {"reasoning_content": "roll."}]
        deltas = [*pieces, {"content": None, "reasoning_content": "", "tool_calls": [call]}]
        ends = [None, None, "tool_calls"]
        reply = Reply.of_events(
            *(
                {"choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
                for delta, end in zip(deltas, ends, strict=True)
            )
        )
        response = service.streamed(reply)
    else:
        message = {"content": "", "reasoning_content": "Let me roll.", "tool_calls": [call]}
        response = service.called(Reply.of_json({"choices": [{"message": message, "finish_reason": "tool_calls"}]}))
    assert response.result is not None
    assert response.result.finish_reason is FinishReason.TOOL_CALLS
    _, answer, result = service.sent(Prompt([UserMessage("Roll!"), response.result.output, RESULT]))["messages"]
    assert (answer["reasoning_content"], answer["content"]) == ("Let me roll.", "")
    assert answer["tool_calls"] == [{name: call[name] for name in ("id", "type", "function")}]
    assert result == {"role": "tool", "tool_call_id": "c1", "content": "4"}


def test_calls_of_another_model_go_with_empty_thoughts(service: "Service") -> None:
    """The service refuses an answer without the member while it thinks, so it is there where nothing was thought."""
    _, answer, _ = service.sent(Prompt([UserMessage("Roll!"), AssistantMessage(None, [CALLED]), RESULT]))["messages"]
    assert answer["reasoning_content"] == ""


def test_a_beginning_is_marked_for_the_service_to_continue(service: "Service") -> None:
    """`prefix` in the metadata of the last message is sent, for the beta of the service that continues it."""
    beginning = AssistantMessage("```python\n", metadata={"prefix": True})
    assert service.sent(Prompt([UserMessage("Sort a list"), beginning]))["messages"][-1]["prefix"] is True


@pytest.mark.parametrize(
    ("status", "message", "kind", "retryable"),
    [
        (402, "Insufficient Balance", QuotaExceededError, False),
        (400, "Thinking mode does not support this tool_choice", BadRequestError, False),
        (422, "invalid parameters", BadRequestError, False),
        (503, "Server overloaded", OverloadedError, True),
    ],
)
def test_an_error_is_what_the_service_means(
    service: "Service", status: int, message: str, kind: type[Exception], retryable: bool
) -> None:
    """An empty balance is no rate limit, a refused request is not sent again, an overload is."""
    error = {"error": {"message": message, "type": "unknown_error", "param": None, "code": "invalid_request_error"}}
    with pytest.raises(kind) as caught:
        service.called(Reply.of_json(error, status=status), **ONCE)
    assert type(caught.value) is kind
    assert getattr(caught.value, "provider_message", None) == message
    assert getattr(caught.value, "retryable", None) is retryable


def test_cached_tokens_are_counted(service: "Service") -> None:
    """Both of the service's names for them mean the same; they are part of the prompt's tokens."""
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15, "prompt_cache_hit_tokens": 8}
    response = service.called(Reply.of_json({"choices": [{"message": {"content": "ok"}}], "usage": usage}))
    assert (response.usage.prompt_tokens, response.usage.cache_read_tokens) == (12, 8)


def test_a_schema_for_the_answer_is_the_services_json_mode(service: "Service") -> None:
    """DeepSeek takes no schema: the client says it in words, and the mode keeps the answer to JSON."""
    assert DeepSeekChatModel().native_structured_output is False
    body = service.sent(Prompt("json", DeepSeekChatOptions(output_schema={"type": "object"})))
    assert body["response_format"] == {"type": "json_object"}


def test_an_own_address_keeps_the_services_ways() -> None:
    """Behind a proxy of one's own the model still is DeepSeek's."""

    async def sent() -> Any:
        async with replaying(Reply.of_json({"choices": [{"message": {"content": "ok"}}]})) as server:
            model = DeepSeekChatModel(api_key="k", base_url=server.url)
            await model.acall(Prompt("hi", DeepSeekChatOptions(thinking=False)))
            return model.service_name, server.asked[0].json

    name, body = asyncio.run(sent())
    assert (name, body["thinking"]) == ("deepseek", {"type": "disabled"})
