"""What goes out of a streamed turn, and when."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    AdvisorChain,
    AssistantMessage,
    BaseAdvisor,
    ChatClient,
    ChatClientRequest,
    ChatClientRequestSpec,
    ChatClientResponse,
    ChatModel,
    ChatResponse,
    Media,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    ObservationRegistry,
    Prompt,
    StreamAdvisor,
    StreamAdvisorChain,
    ToolCallingAdvisor,
)
from vernal.testing import ScriptedChatModel, chunks, tool_call, tool_calls
from vernal.values.replay import WITHHELD_TOOL_CALLS
from vernal.values.responses import ChatGenerationMetadata, Generation

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form


def weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


def spec_of(model: ChatModel, *advisors: Any) -> ChatClientRequestSpec:
    """A request about the weather."""
    return ChatClient(model).prompt("Hello").tools(weather).advisors(*advisors)


def finish(reason: str) -> ChatResponse:
    """The chunk that says why a generation has ended."""
    return ChatResponse((Generation(AssistantMessage(None), ChatGenerationMetadata(reason)),))


def test_text_before_a_tool_call_goes_out(stream_form: "Form") -> None:
    """The texts of a round that ends in a tool call are seen once; the call is not (TCA-45, R21)."""
    asked = chunks("Let me ", "look. ", tool_call("weather", city="Oslo"))
    model = ScriptedChatModel([asked, chunks("It is ", "fine.")])
    outcome = stream_form.ask(spec_of(model))
    assert [chunk.text for chunk in outcome.chunks] == ["Let me ", "look. ", "It is ", "fine."]
    assert not any(chunk.has_tool_calls for chunk in outcome.chunks)


def test_text_beside_a_tool_call_is_neither_lost_nor_repeated(stream_form: "Form") -> None:
    """Of a chunk with text and a call the text goes out once, and the history holds both in one message (R21)."""
    asked = chunks("Let me ", ChatResponse.of("look. ", tool_calls=[tool_call("weather", call_id="1", city="Oslo")]))
    model = ScriptedChatModel([asked, "Fine."])
    outcome = stream_form.ask(spec_of(model))
    assert outcome.text == "Let me look. Fine."
    said = model.requests[1].messages[1]
    assert isinstance(said, AssistantMessage)
    assert (said.text, [call.id for call in said.tool_calls]) == ("Let me look. ", ["1"])


def test_text_behind_a_tool_call_goes_out_and_the_call_does_not(stream_form: "Form") -> None:
    """A model may speak on after it has asked for a tool; the call stays back until the round has ended (R21)."""
    asked = chunks(finish("none yet"), tool_call("weather", city="Oslo"), "One moment. ", finish("tool_calls"))
    outcome = stream_form.ask(spec_of(ScriptedChatModel([asked, "Fine."])))
    assert outcome.text == "One moment. Fine."
    assert not any(chunk.has_tool_calls for chunk in outcome.chunks)


def test_reasoning_and_media_beside_a_tool_call_go_out_too(stream_form: "Form") -> None:
    """What is content goes out, whatever its kind, and stands in the history as well (R21)."""
    image = Media("image/png", b"png")
    call = tool_call("weather", call_id="1", city="Oslo")
    message = AssistantMessage(None, [call], [image], "I wonder.")
    model = ScriptedChatModel([chunks(ChatResponse((Generation(message),))), "Fine."])
    first, *_ = stream_form.ask(spec_of(model)).chunks
    assert first.chat_response is not None
    [generation] = first.chat_response.generations
    assert (generation.output.reasoning, generation.output.media) == ("I wonder.", (image,))
    assert model.requests[1].messages[1] == message


def test_chunks_without_content_keep_their_place(stream_form: "Form") -> None:
    """In the final round they go out in order; of a tool round they do not, so that it shows no end (TCA-42, R21)."""
    asked = chunks("Hm. ", tool_call("weather", city="Oslo"), finish("tool_calls"))
    outcome = stream_form.ask(spec_of(ScriptedChatModel([asked, chunks(finish("none yet"), "Fine.", finish("stop"))])))
    reasons = [chunk.chat_response.finish_reason for chunk in outcome.chunks if chunk.chat_response is not None]
    assert [chunk.text for chunk in outcome.chunks] == ["Hm. ", None, "Fine.", None]
    assert reasons == [None, "none yet", None, "stop"]


def test_tools_run_when_the_round_has_ended() -> None:
    """Tools start after the last chunk of the round, and a plain function not on the event loop (TCA-46, R21)."""
    log: list[str] = []
    threads: list[threading.Thread] = []

    class Telling(ChatModel):
        async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
            if len(prompt.messages) > 1:
                yield ChatResponse.of("Fine.")
                return
            yield ChatResponse.of(tool_calls=[tool_call("look", call_id="1")])
            await asyncio.sleep(0)
            yield finish("tool_calls")
            log.append("round ended")

    def look() -> str:
        """Look."""
        log.append("tool ran")
        threads.append(threading.current_thread())
        return "seen"

    async def main() -> str:
        return "".join([text async for text in ChatClient(Telling()).prompt("Hello").tools(look).astream().content()])

    assert asyncio.run(main()) == "Fine."
    assert log == ["round ended", "tool ran"]
    assert threads[0] is not threading.current_thread()


@dataclass(kw_only=True, eq=False)
class Finalizing(ToolCallingAdvisor):
    """A loop that looks at its end, so that chunks pass through an aggregate."""

    async def do_finalize_loop(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        return response


class Passing(BaseAdvisor):
    """Changes nothing, inside the loop."""

    order = 7

    async def after(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        return response


class Listening(ObservationRegistry):
    """Makes the chain observe its advisors."""


def all_built_in() -> tuple[Any, ...]:
    """Every advisor of the house: memory outside and inside, the loop, one with `before` and `after`."""
    outside, inside = (MessageWindowChatMemory() for _ in range(2))
    return (
        MessageChatMemoryAdvisor(chat_memory=outside),
        Finalizing(),
        Passing(),
        MessageChatMemoryAdvisor(chat_memory=inside, memory_order=1000),
    )


@pytest.mark.parametrize("registry", [None, Listening()])
def test_text_passes_as_it_arrives(registry: ObservationRegistry | None) -> None:
    """The model gives its next chunk only when the reader has seen the one before, through all advisors (R21)."""

    async def main() -> list[str]:
        seen = asyncio.Event()

        class Waiting(ChatModel):
            async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
                for text in ("one ", "two ", "three"):
                    yield ChatResponse.of(text)
                    await seen.wait()
                    seen.clear()
                if len(prompt.messages) == 1:
                    yield ChatResponse.of(tool_calls=[tool_call("weather", call_id="1", city="Oslo")])

        builder = ChatClient.builder(Waiting()).default_advisors(*all_built_in(), conversation_id="1")
        if registry is not None:
            builder.observation_registry(registry)
        texts = []
        async with asyncio.timeout(20):
            async for text in builder.build().prompt("Hello").tools(weather).astream().content():
                texts.append(text)
                seen.set()
        return texts

    assert asyncio.run(main()) == ["one ", "two ", "three"] * 2


def test_text_passes_a_blocking_stream_as_it_arrives() -> None:
    """The same for a blocking reader and a blocking model (R21)."""
    seen = threading.Event()

    class Waiting(ChatModel):
        def stream(self, prompt: Prompt) -> Any:
            return self._chunks()

        def _chunks(self) -> Iterator[ChatResponse]:
            for text in ("one ", "two"):
                yield ChatResponse.of(text)
                assert seen.wait(20)
                seen.clear()

    texts = []
    for text in spec_of(Waiting(), *all_built_in()).advisors(conversation_id="1").stream().content():
        texts.append(text)
        seen.set()
    assert texts == ["one ", "two"]


@pytest.mark.parametrize("first_round", [True, False])
def test_a_broken_stream_delivers_what_came_before(stream_form: "Form", first_round: bool) -> None:
    """The texts before the break are read, then the error is raised as it was (R20)."""
    broken = chunks("It ", "is ", ConnectionResetError("gone"), "fine.")
    script: list[Any] = [broken] if first_round else [chunks("Hm. ", tool_call("weather", city="Oslo")), broken]
    spec = spec_of(ScriptedChatModel(script), *all_built_in()).advisors(conversation_id="1")
    texts: list[str] = []

    async def read() -> None:
        async for text in spec.astream().content():
            texts.append(text)  # noqa: PERF401  # what was read must be there when the stream breaks

    with pytest.raises(ConnectionResetError, match="gone"):
        asyncio.run(read()) if stream_form.is_async else texts.extend(spec.stream().content())
    assert texts == (["It ", "is "] if first_round else ["Hm. ", "It ", "is "])


@pytest.mark.parametrize("reason", ["length", "content_filter"])
@pytest.mark.parametrize(
    "cut_off",
    [
        lambda call, reason: chunks("Let me ", "look", call, finish(reason)),
        lambda call, reason: chunks("Let me ", ChatResponse.of("look", tool_calls=[call], finish_reason=reason)),
        lambda call, reason: ChatResponse.of("Let me look", tool_calls=[call], finish_reason=reason),
    ],
)
def test_a_call_that_was_cut_off_is_not_executed(form: "Form", cut_off: Callable[..., Any], reason: str) -> None:
    """The turn ends, says why, and keeps the call apart; no form shows it as a call to be made (R6)."""
    ran: list[str] = []

    def look(city: str) -> str:
        """Look."""
        ran.append(city)
        return city

    call = tool_call("look", call_id="1", city="Oslo")
    model = ScriptedChatModel([cut_off(call, reason)])
    outcome = form.ask(ChatClient(model).prompt("Hello").tools(look))
    assert ran == []
    assert outcome.chat_response.finish_reason == reason
    assert outcome.text == outcome.chat_response.text == "Let me look"
    assert not any(chunk.has_tool_calls for chunk in outcome.chunks)
    [generation] = outcome.chat_response.generations
    assert generation.metadata.properties[WITHHELD_TOOL_CALLS] == (call,)


def test_a_call_without_the_loop_comes_back_whole(form: "Form") -> None:
    """Where the loop does not stand in the chain, text and call both reach the caller (TCA-43, R21)."""
    model = ScriptedChatModel([tool_calls(tool_call("weather", city="Oslo"), text="Let me look.")])
    outcome = form.ask(spec_of(model).advisors(tool_calling_advisor_auto_register=False))
    assert outcome.text == "Let me look."
    assert [call.name for call in outcome.chat_response.tool_calls] == ["weather"]


def test_the_checker_may_let_text_and_call_through(form: "Form") -> None:
    """Where the checker says no, text and call of one chunk reach the caller once each (TCA-43, R21)."""
    model = ScriptedChatModel([tool_calls(tool_call("weather", city="Oslo"), text="Let me look.")])
    outcome = form.ask(spec_of(model, ToolCallingAdvisor(tool_execution_eligibility_checker=lambda response: False)))
    assert outcome.text == "Let me look."
    assert [call.name for call in outcome.chat_response.tool_calls] == ["weather"]
    assert outcome.chat_response.finish_reason == "tool_calls"


class Announcing(StreamAdvisor):
    """Sends chunks without a chat response around those of the model."""

    order = 7

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        yield ChatClientResponse(None, {"announced": "begin"})
        async for chunk in chain.next_stream(request):
            yield chunk
        yield ChatClientResponse(None, {"announced": "end"})


def test_chunks_without_a_response_disturb_nothing(stream_form: "Form") -> None:
    """They pass at once, and the round is what the other chunks make of it (TCA-18, TCA-42)."""
    model = ScriptedChatModel([tool_call("weather", city="Oslo"), "Fine."])
    outcome = stream_form.ask(spec_of(model, Announcing()))
    assert [chunk.text for chunk in outcome.chunks if chunk.chat_response is not None] == ["Fine."]
    announced = [chunk.context["announced"] for chunk in outcome.chunks if chunk.chat_response is None]
    assert announced == ["begin", "end"] * 2
    assert len(model.requests) == 2
