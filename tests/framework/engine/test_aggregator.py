"""One response from the chunks of a stream (AGG)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable

import pytest

from vernal import (
    AssistantMessage,
    ChatClientResponse,
    ChatGenerationMetadata,
    ChatResponse,
    ChatResponseMetadata,
    FinishReason,
    Generation,
    Media,
    MessageAggregator,
    RateLimit,
    ToolCall,
    Usage,
    UsageError,
)
from vernal.values.replay import WITHHELD_TOOL_CALLS

Chunks = Iterable[ChatResponse]
LIMIT = RateLimit(requests_limit=10, requests_remaining=9)


def piece(
    text: str | None = None,
    *calls: ToolCall,
    reason: str | None = None,
    properties: dict[str, object] | None = None,
    message: dict[str, object] | None = None,
    metadata: ChatResponseMetadata | None = None,
) -> ChatResponse:
    output = AssistantMessage(text, calls, metadata=message or {})
    generation = Generation(output, ChatGenerationMetadata(reason, reason and reason.upper(), properties or {}))
    return ChatResponse((generation,), metadata or ChatResponseMetadata())


def told(**fields: object) -> ChatResponse:
    """A chunk that has metadata only."""
    return ChatResponse((), ChatResponseMetadata().copy(**fields))


def _blocking(aggregator: MessageAggregator, chunks: Chunks) -> list[ChatResponse]:
    return list(aggregator.over(iter(chunks)))


def _asynchronous(aggregator: MessageAggregator, chunks: Chunks) -> list[ChatResponse]:
    async def source() -> AsyncIterator[ChatResponse]:
        for chunk in chunks:
            yield chunk

    async def run() -> list[ChatResponse]:
        return [chunk async for chunk in aggregator.over(source())]

    return asyncio.run(run())


Drain = Callable[[MessageAggregator, Chunks], list[ChatResponse]]


@pytest.fixture(params=[_blocking, _asynchronous], ids=["blocking", "asynchronous"])
def drain(request: pytest.FixtureRequest) -> Drain:
    """Both faces of the aggregator."""
    given: Drain = request.param
    return given


def aggregate(drain: Drain, *chunks: ChatResponse) -> ChatResponse:
    aggregator = MessageAggregator()
    passed = drain(aggregator, chunks)
    assert all(seen is given for seen, given in zip(passed, chunks, strict=True))
    return aggregator.response


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([told(rate_limit=LIMIT), told()], LIMIT),
        ([told(), told(rate_limit=LIMIT)], LIMIT),
        ([told(rate_limit=LIMIT), told(rate_limit=RateLimit())], LIMIT),
        ([told(rate_limit=RateLimit(tokens_limit=1)), told(rate_limit=LIMIT)], LIMIT),
        ([told(), piece("a")], None),
    ],
)
def test_a_rate_limit_survives(drain: Drain, chunks: list[ChatResponse], expected: RateLimit | None) -> None:
    """AGG-01: of any chunk; an empty one does not overwrite it; none gives none."""
    assert aggregate(drain, *chunks).metadata.rate_limit == expected


def test_text_and_a_later_tool_call_are_both_kept(drain: Drain) -> None:
    """AGG-02: the text of the first chunk, and the call of the second with id, name and arguments."""
    call = ToolCall("1", "get_weather", '{"city": "Oslo"}')
    response = aggregate(drain, piece("Thinking about the weather... "), piece("", call))
    assert response.text == "Thinking about the weather... "
    assert response.tool_calls == (call,)


def test_the_parts_of_all_chunks_become_one_response(drain: Drain) -> None:
    """AGG-03: texts joined, metadata merged, last wins; the finish reason is the last that was told."""
    response = aggregate(
        drain,
        piece("One, ", metadata=ChatResponseMetadata("id-1", "model-a", properties={"a": 1, "b": 1})),
        piece("two", reason="stop", properties={"x": 1, "y": 1}, message={"k": 1, "l": 1}),
        piece(".", properties={"x": 2}, message={"k": 2}, metadata=ChatResponseMetadata("", "model-b")),
        told(id="id-2", properties={"b": 2}),
    )
    [generation] = response.generations
    assert response.text == "One, two."
    assert (generation.metadata.finish_reason, generation.metadata.native_finish_reason) == ("stop", "STOP")
    assert generation.metadata.properties == {"x": 2, "y": 1}
    assert generation.output.metadata == {"k": 2, "l": 1}
    assert (response.metadata.id, response.metadata.model) == ("id-2", "model-b")
    assert response.metadata.properties == {"a": 1, "b": 2}


def test_without_any_text_there_is_none(drain: Drain) -> None:
    """AGG-03: no text at all is None, as against an empty text."""
    assert aggregate(drain, piece(None, ToolCall("1", "a"))).text is None
    assert aggregate(drain, piece("")).text == ""
    assert aggregate(drain).result is None


def test_usage_is_per_count_the_last_that_was_told(drain: Drain) -> None:
    """AGG-03, AGG-07, R22: counts that a later chunk does not tell stay; cache, reasoning and native are kept."""
    native = {"total": 33}
    response = aggregate(
        drain,
        told(usage=Usage(10, 0, cache_read_tokens=4, cache_write_tokens=2)),
        told(usage=Usage(0, 20, 30, reasoning_tokens=7)),
        told(),
        told(usage=Usage(0, 23, 33, cache_read_tokens=5, native=native)),
    )
    assert response.usage == Usage(10, 23, 33, 5, 2, 7, native)


@pytest.mark.parametrize(
    ("told_usages", "total"),
    [
        ([Usage(10, 0), Usage(0, 5)], Usage(10, 5, 15)),
        ([Usage(10, 1), Usage(0, 5)], Usage(10, 5, 15)),
        ([Usage(10, 1), Usage(10, 5, 40)], Usage(10, 5, 40)),
        ([Usage(10, 5, 40), Usage(10, 2)], Usage(10, 2, 12)),
        ([Usage(10, 5, 40), Usage(10, 0)], Usage(10, 5, 15)),
        ([Usage(1, 1, native="raw"), Usage(2, 2)], Usage(2, 2, native="raw")),
    ],
)
def test_counts_that_are_told_one_by_one_add_up(drain: Drain, told_usages: list[Usage], total: Usage) -> None:
    """AGG-03, R22: input and output may come in different chunks; a total that a service tells with both holds."""
    assert aggregate(drain, *(told(usage=usage) for usage in told_usages)).usage == total


def test_chunks_may_be_added_one_by_one() -> None:
    """AGG-03: without a stream to pass through; usage can be asked for at any time."""
    aggregator = MessageAggregator()
    aggregator.add(piece("a"))
    aggregator.add(ChatClientResponse(told(usage=Usage(1, 2))))
    assert aggregator.usage == Usage(1, 2)
    assert aggregator.response.text == "a"


def test_the_usage_of_rounds_is_kept(drain: Drain) -> None:
    """R22: the list of rounds is the last that was told."""
    rounds = (Usage(1, 1), Usage(2, 2))
    response = aggregate(drain, told(round_usages=rounds[:1]), told(round_usages=rounds), told())
    assert response.metadata.round_usages == rounds


def test_calls_and_media_are_appended_in_order(drain: Drain) -> None:
    """AGG-04: whole calls, in the order of arrival, none merged; media and reasoning likewise."""
    one, two = ToolCall("1", "a", '{"x": 1}'), ToolCall("1", "a", '{"x": 1}')
    image = Media("image/png", b"1")
    thinking = ChatResponse((Generation(AssistantMessage(media=(image,), reasoning="Hm, ")),))
    thought = ChatResponse((Generation(AssistantMessage(media=(image,), reasoning="yes.")),))
    response = aggregate(drain, thinking, piece(None, one), thought, piece(None, two))
    assert response.tool_calls == (one, two)
    assert response.generations[0].output.media == (image, image)
    assert response.generations[0].output.reasoning == "Hm, yes."


def test_calls_are_taken_from_the_message_alone(drain: Drain) -> None:
    """AGG-05: nothing is added twice; metadata is not searched for calls."""
    call = ToolCall("1", "a")
    chunk = piece(None, call, metadata=ChatResponseMetadata(properties={"toolCalls": [call]}))
    assert aggregate(drain, chunk).tool_calls == (call,)


def test_every_generation_is_aggregated(drain: Drain) -> None:
    """AGG-06: against Spring AI, which drops all but the first, each generation is collected by its place."""

    def both(*texts: str) -> ChatResponse:
        return ChatResponse(Generation(AssistantMessage(text)) for text in texts)

    response = aggregate(drain, both("a", "x"), both("b"), both("c", "y", "!"))
    assert [generation.output.text for generation in response.generations] == ["abc", "xy", "!"]


def test_reasoning_is_kept_apart_from_the_text(drain: Drain) -> None:
    """AGG-08: what is thought is in `reasoning`, what is said in `text`."""

    def thought(text: str) -> ChatResponse:
        return ChatResponse((Generation(AssistantMessage(reasoning=text)),))

    response = aggregate(drain, thought("Let me "), piece("It is "), thought("see."), piece("warm."))
    assert response.text == "It is warm."
    assert response.generations[0].output.reasoning == "Let me see."


def test_there_is_no_response_before_the_end() -> None:
    """AGG-09: a stream that was left early has no aggregate, other than what has been collected so far."""
    aggregator = MessageAggregator()
    chunks = aggregator.over(iter([piece("a"), piece("b")]))
    assert next(chunks).text == "a"
    with pytest.raises(UsageError, match="has not ended"):
        _ = aggregator.response
    assert aggregator.collected().text == "a"
    assert [chunk.text for chunk in chunks] == ["b"]
    assert aggregator.response.text == "ab"


def test_a_broken_stream_has_no_aggregate(drain: Drain) -> None:
    """AGG-09: the error passes through, and `response` says that the stream did not end."""

    def broken() -> Iterable[ChatResponse]:
        yield piece("a")
        raise OSError("cut")

    aggregator = MessageAggregator()
    with pytest.raises(OSError, match="cut"):
        drain(aggregator, broken())
    with pytest.raises(UsageError, match="has not ended"):
        _ = aggregator.response


def test_each_stream_starts_anew(drain: Drain) -> None:
    """AGG-09: nothing of one stream is in the aggregate of the next."""
    aggregator = MessageAggregator()
    drain(aggregator, [piece("old", ToolCall("1", "a")), told(id="old", usage=Usage(1, 1))])
    drain(aggregator, [piece("new")])
    assert aggregator.response == ChatResponse((Generation(AssistantMessage("new")),))


def test_contexts_of_a_clients_chunks_are_merged() -> None:
    """AGG-10: the context is the union of the chunks', later entries winning; a chunk without response adds only
    that."""
    chunks = [
        ChatClientResponse(piece("a"), {"x": 1, "y": 1}),
        ChatClientResponse(None, {"z": 3}),
        ChatClientResponse(piece("b"), {"y": 2}),
    ]
    aggregator = MessageAggregator()
    assert list(aggregator.over(iter(chunks))) == chunks
    assert aggregator.context == {"x": 1, "y": 2, "z": 3}
    assert aggregator.response.text == "ab"


@pytest.mark.parametrize("reason", [FinishReason.LENGTH, FinishReason.CONTENT_FILTER])
def test_calls_of_a_generation_that_was_cut_off_are_withheld(drain: Drain, reason: FinishReason) -> None:
    """R6: the calls are no calls of the message, and are found in the generation's properties."""
    call = ToolCall("1", "a", '{"x": ')
    response = aggregate(drain, piece("Let me see.", call), piece(None, reason=reason))
    assert not response.has_tool_calls
    assert response.finish_reason == reason
    assert response.generations[0].metadata.properties[WITHHELD_TOOL_CALLS] == (call,)


@pytest.mark.parametrize(
    ("texts", "whole"),
    [
        (["a\ud83d", "\ude00b"], "a😀b"),
        (["\ud83d", "x"], "\ud83dx"),
        (["é", "ü"], "éü"),
        (["\ude00", "\ud83d"], "\ude00\ud83d"),
    ],
)
def test_a_character_that_came_in_halves_is_whole(texts: list[str], whole: str) -> None:
    """Servers that cut texts by UTF-16 send a character's halves in two chunks; a half without its other stays."""
    aggregator = MessageAggregator()
    for text in texts:
        aggregator.add(piece(text))
    assert aggregator.response.text == whole


def test_reasoning_that_is_no_text_is_refused() -> None:
    """Where it is made, not where it is joined."""
    with pytest.raises(TypeError, match=r"the reasoning of an AssistantMessage is \{\}; a str is wanted"):
        AssistantMessage("a", reasoning={})  # type: ignore[arg-type]  # what is to be refused
