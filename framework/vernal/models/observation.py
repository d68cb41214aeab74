"""What is told of requests to models, and the model that tells it."""

import json
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from vernal.models.aggregator import MessageAggregator
from vernal.models.chat import ChatModel
from vernal.observation import (
    Observation,
    ObservationConvention,
    ObservationRegistry,
    current_observation,
    observed,
)
from vernal.runtime.streams import AsyncStream, aclose
from vernal.values.exchange import ChatClientResponse
from vernal.values.messages import AssistantMessage, Message, ToolResponseMessage
from vernal.values.options import ChatOptions
from vernal.values.prompt import Prompt
from vernal.values.responses import ChatResponse
from vernal.values.usage import Usage

Chunk = TypeVar("Chunk", ChatResponse, ChatClientResponse)

OPTION_KEYS = ("max_tokens", "temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty")


@dataclass(slots=True, eq=False, kw_only=True)
class ChatModelObservationContext:
    """The subject of a model observation: one request to a model; `response` is None until it has answered."""

    prompt: Prompt
    options: ChatOptions
    service: str
    streaming: bool = False
    response: ChatResponse | None = None


class ChatModelObservationConvention(ObservationConvention[ChatModelObservationContext]):
    """Names and keys of model observations; with `include_content` messages and answers are among the keys."""

    name = "vernal.chat_model"
    context_type = ChatModelObservationContext

    def contextual_name(self, context: ChatModelObservationContext) -> str:
        """Which model is asked."""
        return f"chat {context.options.model}" if context.options.model else "chat"

    def low_cardinality_keys(self, context: ChatModelObservationContext) -> dict[str, str]:
        """The operation, the service and the model: the one asked for, and the one that answered."""
        keys = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": context.service,
            "vernal.streaming": str(context.streaming).lower(),
        }
        if context.options.model:
            keys["gen_ai.request.model"] = context.options.model
        if context.response is not None and context.response.metadata.model:
            keys["gen_ai.response.model"] = context.response.metadata.model
        return keys

    def high_cardinality_keys(self, context: ChatModelObservationContext) -> dict[str, str]:
        """The options of the request; finish reasons and usage of the response."""
        options = ((name, getattr(context.options, name)) for name in OPTION_KEYS)
        keys = {f"gen_ai.request.{name}": str(value) for name, value in options if value is not None}
        if context.options.stop_sequences:
            keys["gen_ai.request.stop_sequences"] = json.dumps(context.options.stop_sequences)
        if self.include_content:
            keys["gen_ai.input.messages"] = _messages_json(context.prompt.messages)
        if context.response is not None:
            keys |= _response_keys(context.response, include_content=self.include_content)
        return keys


class ObservedChatModel(ChatModel):
    """A chat model whose requests are observed; chat clients wrap theirs by themselves where a registry listens."""

    def __init__(
        self,
        chat_model: ChatModel,
        registry: ObservationRegistry,
        convention: ChatModelObservationConvention | None = None,
    ) -> None:
        self.chat_model = chat_model
        self.native_structured_output = chat_model.native_structured_output
        self._registry = registry
        self._convention = convention or ChatModelObservationConvention()

    @property
    def default_options(self) -> ChatOptions | None:
        """Those of the observed model."""
        return self.chat_model.default_options

    @property
    def service_name(self) -> str:
        """That of the observed model."""
        return self.chat_model.service_name

    async def acall(self, prompt: Prompt) -> ChatResponse:
        """Ask the observed model."""
        context = self._context(prompt, streaming=False)
        with observed(self._registry, lambda: self._convention.observation(context)) as observation:
            response = await self.chat_model.acall(prompt)
            if observation is not None:
                context.response = response
                self._convention.answered(observation, context, response)
            return response

    def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        """Ask the observed model; the observation's parent is the one that is current now, not when chunks are read."""
        if self._registry.is_noop:
            return self.chat_model.astream(prompt)
        context = self._context(prompt, streaming=True)
        observation = self._convention.observation(context)
        observation.parent = observation.parent or current_observation()

        def finished(aggregator: MessageAggregator) -> None:
            context.response = aggregator.collected()
            self._convention.answered(observation, context, context.response)

        return AsyncStream(
            lambda: observed_stream(self._registry, observation, self.chat_model.astream(prompt), finished)
        )

    def _context(self, prompt: Prompt, *, streaming: bool) -> ChatModelObservationContext:
        options = prompt.options or self.default_options or ChatOptions()
        return ChatModelObservationContext(
            prompt=prompt, options=options, service=self.service_name, streaming=streaming
        )


async def observed_stream(
    registry: ObservationRegistry,
    observation: Observation,
    chunks: AsyncIterator[Chunk],
    finished: Callable[[MessageAggregator], None],
) -> AsyncIterator[Chunk]:
    """`chunks`, observed: started with the first, stopped once; `finished` hears of the aggregate of a whole stream."""
    registry.on_start(observation)
    aggregator = MessageAggregator()
    try:
        async for chunk in chunks:
            aggregator.add(chunk)
            yield chunk
        finished(aggregator)
    except GeneratorExit:
        raise
    except BaseException as error:
        observation.error = error
        raise
    finally:
        await aclose(chunks)
        registry.on_stop(observation)


def _response_keys(response: ChatResponse, *, include_content: bool) -> dict[str, str]:
    keys: dict[str, str] = {}
    if response.metadata.id:
        keys["gen_ai.response.id"] = response.metadata.id
    reasons = [generation.finish_reason for generation in response.generations if generation.finish_reason]
    if reasons:
        keys["gen_ai.response.finish_reasons"] = json.dumps(reasons)
    keys |= _usage_keys(response.usage)
    if include_content:
        keys["gen_ai.output.messages"] = _messages_json(generation.output for generation in response.generations)
    return keys


def _messages_json(messages: Iterable[Message]) -> str:
    """Messages in the form of OpenTelemetry's conventions: a role, and parts of text, tool calls and their results."""
    told = [{"role": message.message_type.value, "parts": _parts(message)} for message in messages]
    return json.dumps(told, ensure_ascii=False)


def _parts(message: Message) -> list[dict[str, Any]]:
    if isinstance(message, ToolResponseMessage):
        return [{"type": "tool_call_response", "id": r.id, "response": r.data} for r in message.responses]
    parts: list[dict[str, Any]] = [{"type": "text", "content": message.text}] if message.text else []
    if isinstance(message, AssistantMessage):
        if message.reasoning:
            parts.insert(0, {"type": "reasoning", "content": message.reasoning})
        parts += [
            {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ]
    return parts


def _usage_keys(usage: Usage) -> dict[str, str]:
    if usage.is_empty:
        return {}
    counts = {
        "input_tokens": usage.prompt_tokens,
        "output_tokens": usage.completion_tokens,
        "cache_read.input_tokens": usage.cache_read_tokens,
        "cache_creation.input_tokens": usage.cache_write_tokens,
        "reasoning.output_tokens": usage.reasoning_tokens,
    }
    return {f"gen_ai.usage.{name}": str(count) for name, count in counts.items() if count is not None}
