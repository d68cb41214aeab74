"""Streamed answers assembled: fragments of tool calls, reasoning, usage (OAI-01 … OAI-09)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import ChatResponse, MessageAggregator, ToolCall
from vernal.http import BrokenStreamError, ProtocolError
from vernal_openai.replies import ResponseHeaders
from vernal_openai.streams import CallFragments, StreamAssembler


def fragment(index: int | None = None, **members: Any) -> dict[str, Any]:
    """A fragment of a tool call; `name` and `arguments` are those of its function."""
    function = {name: members.pop(name) for name in ("name", "arguments") if name in members}
    return {**({} if index is None else {"index": index}), **members, "function": function}


def merged(*fragments: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Id, name and arguments of the calls that the fragments make."""
    calls = CallFragments()
    for part in fragments:
        calls.add(part)
    return [(call.id, call.name, call.arguments) for call in calls.build()]


def delta(finish: str | None = None, index: int = 0, **members: Any) -> dict[str, Any]:
    """A chunk of one answer."""
    return {"id": "r", "model": "m", "choices": [{"index": index, "delta": members, "finish_reason": finish}]}


def stream(*chunks: dict[str, Any], end_mark: bool = True) -> tuple[list[ChatResponse], ChatResponse]:
    """The responses that are given for the chunks of a stream, and their aggregate."""
    assembler = StreamAssembler("test", ResponseHeaders({}))
    given = [response for chunk in chunks if (response := assembler.add(chunk)) is not None]
    given.append(assembler.finish(end_mark=end_mark))
    aggregator = MessageAggregator()
    for response in given:
        aggregator.add(response)
    return given, aggregator.response


def test_members_that_are_not_known_are_kept_whichever_known_ones_are_there() -> None:
    """OAI-12: a choice without an index, or with null probabilities beside it, loses nothing; null ones say nothing."""
    chunk = {"choices": [{"delta": {"content": "a"}, "stop_reason": 7}]}
    other = {"choices": [{"delta": {"content": "b"}, "finish_reason": "stop", "logprobs": None, "matched": 9}]}
    _, response = stream(chunk, other)
    assert response.text == "ab"
    assert response.result is not None
    assert response.result.metadata.properties == {"stop_reason": 7, "matched": 9}
    _, response = stream({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop", "logprobs": None}]})
    assert response.result is not None
    assert response.result.metadata.properties == {}


def test_arguments_in_fragments_are_joined() -> None:
    """OAI-01: a first fragment with id and name, then fragments with arguments alone, are one call."""
    parts = [
        fragment(0, id="call_1", name="f", arguments=""),
        fragment(0, arguments='{"a"'),
        fragment(0, arguments=":1}"),
    ]
    assert merged(*parts) == [("call_1", "f", '{"a":1}')]


def test_blank_ids_and_names_add_nothing() -> None:
    """OAI-02: continuations with an empty id and name still belong to the call (DeepSeek)."""
    parts = [fragment(0, id="call_1", name="f", arguments='{"a"'), fragment(0, id="", name="", arguments=":1}")]
    assert merged(*parts) == [("call_1", "f", '{"a":1}')]
    assert merged(parts[0], fragment(0, id=" ", name=" ", arguments=":1}")) == [("call_1", "f", '{"a":1}')]


def test_interleaved_calls_are_told_apart_by_index() -> None:
    """OAI-03: fragments of two calls in any order, also in one chunk, go to their own call."""
    parts = [
        fragment(0, id="a", name="f", arguments="{"),
        fragment(1, id="b", name="g", arguments="["),
        fragment(1, arguments="]"),
        fragment(0, arguments="}"),
    ]
    assert merged(*parts) == [("a", "f", "{}"), ("b", "g", "[]")]


def test_id_name_and_arguments_may_come_apart() -> None:
    """OAI-04: each in a chunk of its own, they make one call."""
    assert merged(fragment(0, id="a"), fragment(0, name="f"), fragment(0, arguments="{}")) == [("a", "f", "{}")]


def test_without_index_a_new_id_starts_a_new_call() -> None:
    """OAI-06, R8: a fragment with an id starts a call, one without goes on with the last."""
    parts = [
        fragment(id="a", name="f", arguments="{"),
        fragment(arguments="}"),
        fragment(id="b", name="g"),
        fragment(arguments="{}"),
    ]
    assert merged(*parts) == [("a", "f", "{}"), ("b", "g", "{}")]


@pytest.mark.parametrize("identifiers", [("a", "b"), ("", ""), (None, None)])
def test_whole_calls_under_one_index_are_several(identifiers: tuple[str | None, str | None]) -> None:
    """R8: services that give every whole call the index 0 are understood, with ids and without."""
    first, second = identifiers
    parts = [
        fragment(0, id=first, name="f", arguments='{"a":1}'),
        fragment(0, id=second, name="f", arguments='{"a":2}'),
    ]
    assert merged(*parts) == [(first or "", "f", '{"a":1}'), (second or "", "f", '{"a":2}')]


def test_an_id_that_changes_with_every_fragment_is_one_call() -> None:
    """R8: under one index, a new id without a name does not start a call."""
    parts = [fragment(0, id="a", name="f", arguments="{"), fragment(0, id="b", arguments="}")]
    assert merged(*parts) == [("a", "f", "{}")]


@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_every_interleaving_gives_the_same_calls(arguments: list[str], chance: Any, whole_head: bool) -> None:
    """R8: calls cut into fragments anywhere and mixed in any order come out whole, in the order of their begin."""
    waiting = [[fragment(i, id=f"c{i}", name="f", arguments="")] for i in range(len(arguments))]
    for index, text in enumerate(arguments):
        while text:
            size = chance.randint(1, len(text))
            waiting[index].append(
                fragment(index, arguments=text[:size], **({} if whole_head else {"id": "", "name": ""}))
            )
            text = text[size:]
    parts = [queue.pop(0) for queue in waiting]
    while remaining := [queue for queue in waiting if queue]:
        parts.append(chance.choice(remaining).pop(0))
    assert merged(*parts) == [(f"c{i}", "f", text) for i, text in enumerate(arguments)]


def test_arguments_as_an_object_become_text() -> None:
    """Services that send the object itself are understood; what is no JSON is kept as it came."""
    assert merged(fragment(0, id="a", name="f", arguments={"a": [1]})) == [("a", "f", '{"a":[1]}')]
    assert merged(fragment(0, id="a", name="f", arguments="{oops")) == [("a", "f", "{oops")]


def test_members_beyond_the_protocol_are_kept_with_their_call() -> None:
    """OAI-07: also when they come in a later fragment, they belong to the right call."""
    extra = {"google": {"thought_signature": "sig"}}
    _, response = stream(
        delta(tool_calls=[fragment(0, id="a", name="f", arguments="{}"), fragment(1, id="b", name="g")]),
        delta(tool_calls=[fragment(1, arguments="{}", extra_content=extra)]),
        delta("tool_calls"),
    )
    assert response.tool_calls == (
        ToolCall("a", "f", "{}"),
        ToolCall("b", "g", "{}", metadata={"extra": {"extra_content": extra}}),
    )


def test_text_comes_as_it_arrives_and_all_else_at_the_end() -> None:
    """OAI-09, R21: a chunk for each piece of text without a finish reason; calls, reason and usage in the last one."""
    given, response = stream(
        delta(role="assistant", content=""),
        delta(content="Let me "),
        delta(content="see."),
        delta(tool_calls=[fragment(0, id="a", name="f", arguments="{}")]),
        delta("tool_calls", content=None),
        {"id": "r", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}},
    )
    assert [chunk.text for chunk in given] == ["Let me ", "see.", None]
    assert [chunk.finish_reason for chunk in given] == [None, None, "tool_calls"]
    assert [chunk.has_tool_calls for chunk in given] == [False, False, True]
    assert given[0].metadata is given[1].metadata
    assert (response.text, response.usage.total_tokens, response.metadata.id) == ("Let me see.", 7, "r")


@pytest.mark.parametrize("member", ["reasoning_content", "reasoning"])
def test_reasoning_is_collected_over_the_whole_stream(member: str) -> None:
    """OAI-08: under either name, beside text and beside tool calls, no piece is lost."""
    call = [fragment(0, id="a", name="f", arguments="{}")]
    _, response = stream(
        delta(None, 0, **{member: "Think step one. "}),
        delta(None, 0, tool_calls=call, **{member: "Now call the tool. "}),
        delta("tool_calls", 0, **{member: "One more thought."}),
    )
    assert response.result is not None
    assert response.result.output.reasoning == "Think step one. Now call the tool. One more thought."


def test_several_answers_keep_their_places() -> None:
    """With `n` the pieces of each answer go to its own generation."""
    _, response = stream(
        delta(index=1, content="b"), delta(index=0, content="a"), delta("stop", index=0), delta("length", index=1)
    )
    assert [(g.output.text, g.finish_reason) for g in response.generations] == [("a", "stop"), ("b", "length")]


def test_refusals_and_log_probabilities_grow() -> None:
    """What a stream gives in pieces beside the text is whole at its end."""
    logprobs = [{"content": [{"token": token}], "refusal": None} for token in "ab"]
    chunks = [delta(refusal="I can"), delta("stop", refusal="not.")]
    for chunk, part in zip(chunks, logprobs, strict=True):
        chunk["choices"][0]["logprobs"] = part
    _, response = stream(*chunks)
    assert response.result is not None
    assert response.result.output.metadata["refusal"] == "I cannot."
    assert response.result.metadata.properties["logprobs"] == {"content": [{"token": "a"}, {"token": "b"}]}


def test_what_the_service_says_beyond_the_protocol_is_kept() -> None:
    """OAI-12: unmapped members of the response are properties of its metadata, null ones and padding are not."""
    first = {**delta(content="a"), "created": 7, "obfuscation": "xyz", "provider": None}
    _, response = stream(first, {**delta("stop"), "service_tier": "flex"})
    assert response.metadata.properties == {"created": 7, "service_tier": "flex"}


def test_a_stream_without_end_mark_is_whole_when_every_answer_has_ended() -> None:
    """Some services just end; a stream that ends in the middle is broken (R20)."""
    _, response = stream(delta(content="a"), delta("stop"), end_mark=False)
    assert response.text == "a"
    with pytest.raises(BrokenStreamError, match="in the middle of the answer"):
        stream(delta(content="a"), end_mark=False)
    with pytest.raises(BrokenStreamError, match="before it gave an answer"):
        stream()


def test_a_call_without_a_name_is_an_error_unless_it_was_cut_off() -> None:
    """OAI-05, R6: a nameless call cannot be run; one that was cut off is withheld with its reason."""
    nameless = delta(tool_calls=[fragment(0, id="a", arguments="{}")])
    with pytest.raises(ProtocolError, match="Tool call function name is missing in the call 'a'"):
        stream(nameless, delta("tool_calls"))
    _, response = stream(nameless, delta("length"))
    assert (response.tool_calls, response.finish_reason) == ((), "length")
