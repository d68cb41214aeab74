"""What an observation registry hears of requests to models."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from vernal import (
    AssistantMessage,
    ChatClient,
    ChatGenerationMetadata,
    ChatModel,
    ChatModelObservationConvention,
    ChatOptions,
    ChatResponse,
    ChatResponseMetadata,
    Generation,
    Observation,
    ObservationRegistry,
    ObservedChatModel,
    Prompt,
    ToolCallingChatOptions,
    Usage,
    tool,
)
from vernal.testing import ScriptedChatModel, chunks, tool_call
from vernal.values.responses import FinishReason

ANSWER = ChatResponse(
    (Generation(AssistantMessage("Sunny."), ChatGenerationMetadata(FinishReason.STOP, "stop")),),
    ChatResponseMetadata("r1", "acme-1-2026", Usage(12, 3, cache_read_tokens=8)),
)
OPTIONS = ToolCallingChatOptions(model="acme-1", temperature=0.5, max_tokens=100, stop_sequences=["END"])


@dataclass(eq=False)
class Recorded(ObservationRegistry):
    """Keeps what stops."""

    stopped: list[Observation] = field(default_factory=list)

    def on_stop(self, observation: Observation) -> None:
        self.stopped.append(observation)


class AcmeChatModel(ScriptedChatModel):
    """A model of a service called Acme."""


def ask(form: str, model: ChatModel) -> None:
    """One request to the model, in one of the four forms."""

    async def streamed() -> None:
        async for _ in model.astream(Prompt("Weather?")):
            pass

    if form == "call":
        model.call(Prompt("Weather?"))
    elif form == "stream":
        list(model.stream(Prompt("Weather?")))
    elif form == "acall":
        asyncio.run(model.acall(Prompt("Weather?")))
    else:
        asyncio.run(streamed())


def observe(form: str, model: ChatModel, convention: ChatModelObservationConvention | None = None) -> Observation:
    """The observation of one request to the model."""
    registry = Recorded()
    ask(form, ObservedChatModel(model, registry, convention))
    (observation,) = registry.stopped
    return observation


@pytest.mark.parametrize("form", ["call", "stream", "acall", "astream"])
def test_a_request_is_told_by_the_conventions_for_genai(form: str) -> None:
    """Operation, service, models, options, finish reason and usage, by OpenTelemetry's names; no content."""
    observation = observe(form, AcmeChatModel([ANSWER], options=OPTIONS))
    assert (observation.name, observation.contextual_name) == ("vernal.chat_model", "chat acme-1")
    assert observation.low_cardinality_keys == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "acme",
        "gen_ai.request.model": "acme-1",
        "gen_ai.response.model": "acme-1-2026",
        "vernal.streaming": str("stream" in form).lower(),
    }
    assert observation.high_cardinality_keys == {
        "gen_ai.request.max_tokens": "100",
        "gen_ai.request.temperature": "0.5",
        "gen_ai.request.stop_sequences": '["END"]',
        "gen_ai.response.id": "r1",
        "gen_ai.response.finish_reasons": '["stop"]',
        "gen_ai.usage.input_tokens": "12",
        "gen_ai.usage.output_tokens": "3",
        "gen_ai.usage.cache_read.input_tokens": "8",
    }


@pytest.mark.parametrize("form", ["call", "stream", "acall", "astream"])
def test_messages_and_answers_are_told_where_that_is_asked_for(form: str) -> None:
    """With content, both are JSON in the form of the conventions."""
    convention = ChatModelObservationConvention(include_content=True)
    script = [chunks("Su", "nny.", tool_call("clock", call_id="c1"))]
    keys = observe(form, ScriptedChatModel(script), convention).high_cardinality_keys
    question = {"role": "user", "parts": [{"type": "text", "content": "Weather?"}]}
    assert json.loads(keys["gen_ai.input.messages"]) == [question]
    call = {"type": "tool_call", "id": "c1", "name": "clock", "arguments": "{}"}
    answer = {"role": "assistant", "parts": [{"type": "text", "content": "Sunny."}, call]}
    assert json.loads(keys["gen_ai.output.messages"]) == [answer]


@pytest.mark.parametrize("form", ["call", "stream", "acall", "astream"])
def test_a_request_that_fails_is_told_with_its_error(form: str) -> None:
    """TSH-03's kind: it stops once, and says why."""
    error, registry = RuntimeError("down"), Recorded()
    with pytest.raises(RuntimeError, match="down"):
        ask(form, ObservedChatModel(ScriptedChatModel([error]), registry))
    assert [observation.error for observation in registry.stopped] == [error]


def test_each_round_of_a_turn_is_a_request() -> None:
    """The usage of each is its own; the tool's result is among the messages of the second."""

    @tool
    def clock() -> str:
        """The time."""
        return "noon"

    registry = Recorded()
    convention = ChatModelObservationConvention(include_content=True)
    model = ScriptedChatModel([tool_call("clock"), "It is noon."])
    client = ChatClient.builder(model).observation_registry(registry, convention).build()
    client.prompt("?").tools(clock).call().content()
    first, second = (o for o in registry.stopped if o.name == "vernal.chat_model")
    assert "noon" not in first.high_cardinality_keys["gen_ai.input.messages"]
    told = json.loads(second.high_cardinality_keys["gen_ai.input.messages"])[-1]
    assert told["parts"][0]["response"] == "noon"


def test_an_observed_model_is_used_like_the_model_itself() -> None:
    """Its options, and whether it has structured output of its own, are those of the model."""

    class Native(ScriptedChatModel):
        native_structured_output = True

    model = Native(["[1]"], options=ChatOptions(model="m"))
    client = ChatClient.builder(model).observation_registry(Recorded()).build()
    assert client.prompt("?").call().entity(list[int]) == [1]
    options = model.requests[0].options
    assert options is not None
    assert (options.model, options.output_schema is not None) == ("m", True)


def test_a_model_without_name_or_usage_is_told_as_far_as_it_is_known() -> None:
    """What nobody knows is no key."""

    class Plain(ChatModel):
        async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
            yield ChatResponse((Generation(AssistantMessage("hi")),))

    observation = observe("call", Plain())
    assert observation.contextual_name == "chat"
    assert observation.high_cardinality_keys == {}
