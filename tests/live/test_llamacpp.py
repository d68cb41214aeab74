"""The OpenAI provider against a real model: the protocol is asserted, not the wit of 135 million parameters."""

import asyncio
import time
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

import vernal_autoconfig.plugin
import vernal_openai.plugin
from vernal import (
    AssistantMessage,
    ChatClient,
    FinishReason,
    Message,
    MessageAggregator,
    Prompt,
    ToolCall,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
    tool,
)
from vernal.http import ContextLengthExceededError
from vernal.testing import ApplicationContextRunner
from vernal_openai import OpenAiChatModel, OpenAiChatOptions

QUESTION = Prompt("Tell me about the sea.")


def test_an_answer_is_whole(model: OpenAiChatModel) -> None:
    """A text, a reason for its end, and a count of tokens that adds up."""
    response = model.call(QUESTION)
    assert response.text
    assert response.result is not None
    assert response.result.finish_reason in (FinishReason.STOP, FinishReason.LENGTH)
    usage = response.usage
    assert usage.prompt_tokens > 0
    assert usage.completion_tokens > 0
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


def test_an_answer_may_be_cut(model: OpenAiChatModel) -> None:
    """`max_tokens` is kept to the token, and the cut is told."""
    response = model.call(Prompt("Tell me about the sea.", OpenAiChatOptions(max_tokens=5)))
    assert response.result is not None
    assert (response.result.finish_reason, response.usage.completion_tokens) == (FinishReason.LENGTH, 5)


def test_a_stream_is_the_same_answer_token_by_token(model: OpenAiChatModel) -> None:
    """Tokens come one by one while the model still works; together they are what the call gives, with its usage."""
    called = model.call(QUESTION)
    aggregator, texts, times = MessageAggregator(), [], []
    for chunk in aggregator.over(model.stream(QUESTION)):
        if chunk.text:
            texts.append(chunk.text)
            times.append(time.perf_counter())
    assert "".join(texts) == called.text == aggregator.response.text
    assert len(texts) >= 10
    assert len(texts) >= called.usage.completion_tokens // 2
    assert times[0] < times[len(times) // 2] < times[-1]
    assert aggregator.response.usage.completion_tokens == called.usage.completion_tokens


Colour = Literal["red", "green", "blue"]


class Animal(BaseModel):
    """An animal."""

    name: Annotated[str, Field(max_length=12)]
    legs: int
    colours: Annotated[list[Colour], Field(min_length=2, max_length=2)]


@pytest.mark.parametrize("streamed", [False, True])
def test_an_answer_keeps_to_its_schema(model: OpenAiChatModel, streamed: bool) -> None:
    """The schema constrains the model natively, so that even a small one gives a valid object."""
    assert model.native_structured_output
    client = ChatClient(model)
    prompt = client.prompt("Describe a spider.")
    if streamed:
        *_, animal = prompt.stream().entities(Animal)
    else:
        animal = prompt.call().entity(Animal)
    assert isinstance(animal, Animal)
    assert len(animal.colours) == 2


class Weather:
    """Tools, and what they were asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    @tool
    def get_weather(self, city: Literal["Oslo", "Paris", "Rome", "Madrid", "London"]) -> str:
        """The weather in a city."""
        self.asked.append(city)
        return f"cold in {city}"


def examples(*cities: str) -> list[Message]:
    """Turns that went before, from which the model learns the form of a call."""
    turns: list[Message] = []
    for number, city in enumerate(cities):
        turns += [
            UserMessage(f"What is the weather in {city}?"),
            AssistantMessage(None, [ToolCall(f"c{number}", "get_weather", f'{{"city": "{city}"}}')]),
            ToolResponseMessage([ToolResponse(f"c{number}", "get_weather", f"sunny in {city}")]),
            AssistantMessage(f"It is sunny in {city}."),
        ]
    return turns


@pytest.mark.parametrize("streamed", [False, True])
def test_a_turn_with_tools_runs_to_its_answer(model: OpenAiChatModel, streamed: bool) -> None:
    """The model calls a tool with arguments of its schema, reads the result, and answers."""
    weather = Weather()
    request = ChatClient(model).prompt("What is the weather in Oslo?").tools(weather)
    request = request.messages(examples("Paris", "Rome", "Madrid", "London"))
    text = "".join(request.stream().content()) if streamed else request.call().content()
    assert weather.asked == ["Oslo"]
    assert text
    assert "Oslo" in text


def test_a_stream_that_is_closed_frees_the_server(model: OpenAiChatModel) -> None:
    """The server serves one at a time: the next is answered long before the abandoned one could have ended (R20)."""
    long = Prompt("Tell me a very long story.", OpenAiChatOptions(max_tokens=3500, extra_body={"ignore_eos": True}))

    async def main() -> tuple[float, float]:
        begin = time.perf_counter()
        stream = model.astream(long)
        for _ in range(20):
            await anext(stream)
        rate = (time.perf_counter() - begin) / 20
        await stream.aclose()  # type: ignore[attr-defined]
        begin = time.perf_counter()
        await model.acall(Prompt("Hi", OpenAiChatOptions(max_tokens=5)))
        return time.perf_counter() - begin, rate * 3480

    waited, needed = asyncio.run(main())
    assert waited < needed / 4


def test_a_turn_that_is_cancelled_frees_the_server(model: OpenAiChatModel) -> None:
    """A request that waits for its whole answer is given up in the same way."""
    long = Prompt("Tell me a very long story.", OpenAiChatOptions(max_tokens=3500, extra_body={"ignore_eos": True}))

    async def main() -> float:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(model.acall(long), 1)
        begin = time.perf_counter()
        await model.acall(Prompt("Hi", OpenAiChatOptions(max_tokens=5)))
        return time.perf_counter() - begin

    assert asyncio.run(main()) < 5


def test_a_prompt_that_is_too_long_is_told_as_such(model: OpenAiChatModel) -> None:
    """The server's refusal is the error for a full context, with the number of tokens that it says."""
    with pytest.raises(ContextLengthExceededError, match=r"\d+ tokens") as caught:
        model.call(Prompt("sea " * 6000))
    assert caught.value.status == 400


def test_an_application_asks_the_server_by_its_settings(base_url: str) -> None:
    """Profile and address in the environment are all that it takes; no key is needed."""
    environ = {
        "VERNAL_OPENAI__PROFILE": "llamacpp",
        "VERNAL_OPENAI__BASE_URL": base_url,
        "VERNAL_OPENAI__MODEL": "smollm2",
        "VERNAL_OPENAI__OPTIONS__MAX_TOKENS": "10",
    }
    plugins = {"vernal-autoconfig": vernal_autoconfig.plugin, "openai": vernal_openai.plugin}
    with ApplicationContextRunner().with_plugins(plugins).with_environ(environ).run() as run:
        assert run.context.get(ChatClient).prompt("Say hello.").call().content()
