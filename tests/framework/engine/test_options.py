"""Chat options, and their layers (OPT, R26)."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from vernal import (
    ChatClient,
    ChatOptions,
    DefaultToolCallingManager,
    DuplicateToolError,
    FunctionToolCallback,
    Prompt,
    ToolCall,
    ToolCallback,
    ToolCallingChatOptions,
)
from vernal.testing import ScriptedChatModel
from vernal.values.options import as_tool_calling, merge_options
from vernal.values.responses import ChatResponse


def named(name: str) -> ToolCallback:
    return FunctionToolCallback(lambda: name, name=name)


A, B = named("a"), named("b")
Tools = Sequence[ToolCallback] | None
Entries = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class OwnOptions(ToolCallingChatOptions):
    """What a provider adds."""

    seed: int | None = None


EVERYTHING: dict[str, Any] = {
    "model": "gpt-5",
    "temperature": 0.7,
    "max_tokens": 100,
    "frequency_penalty": 0.5,
    "presence_penalty": 0.3,
    "stop_sequences": ["stop"],
    "top_k": 3,
    "top_p": 0.9,
    "tool_callbacks": [A, B],
    "tool_context": {"tenant": "acme"},
    "tool_choice": "auto",
    "parallel_tool_calls": False,
    "output_schema": {"type": "object"},
}


def test_what_is_set_is_read_back() -> None:
    """OPT-01, OPT-03, OPT-05: every field, sequences in order."""
    options = ToolCallingChatOptions(**EVERYTHING)
    read = {field.name: getattr(options, field.name) for field in dataclasses.fields(options)}
    assert read == {**EVERYTHING, "stop_sequences": ("stop",), "tool_callbacks": (A, B)}


@pytest.mark.parametrize("given", [A, 7, object()])
def test_callbacks_that_are_no_sequence_are_refused(given: Any) -> None:
    """OPT-02: the text says what was given, and how to make tools of an object."""
    with pytest.raises(TypeError, match=r"tool_callbacks is .*tool_callbacks\(your_object\)"):
        ToolCallingChatOptions(tool_callbacks=given)


def test_options_are_frozen_and_apart_from_what_they_were_made_of() -> None:
    """OPT-04, OPT-12: neither the fields, nor the callbacks, nor the context can be changed."""
    callbacks, context, schema = [A], {"k": 1}, {"type": "object"}
    options = ToolCallingChatOptions(tool_callbacks=callbacks, tool_context=context, output_schema=schema)
    callbacks.append(B)
    schema["type"] = "array"
    assert options.output_schema == {"type": "object"}
    context["k"] = 2
    assert options.tool_callbacks == (A,)
    assert options.tool_context == {"k": 1}
    with pytest.raises(TypeError):
        options.tool_context["k"] = 3  # type: ignore[index]  # what must not work
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.tool_callbacks = ()  # type: ignore[misc]  # what must not work


def test_unset_and_empty_are_two_things() -> None:
    """OPT-06, OPT-07, OPT-15: None where nothing is set, empty where that was set."""
    unset = ToolCallingChatOptions()
    assert all(getattr(unset, field.name) is None for field in dataclasses.fields(unset))
    empty = ToolCallingChatOptions(tool_callbacks=[], tool_context={}, stop_sequences=[])
    assert (empty.tool_callbacks, empty.tool_context, empty.stop_sequences) == ((), {}, ())


@pytest.mark.parametrize(
    ("runtime", "default", "merged"),
    [
        ([A], [B], (A,)),
        ([A], [], (A,)),
        ([A], None, (A,)),
        ([], [B], (B,)),
        (None, [B], (B,)),
        ([], [], ()),
        (None, None, None),
    ],
)
def test_callbacks_of_a_request_replace_those_beneath(runtime: Tools, default: Tools, merged: Tools) -> None:
    """OPT-08: they are not united; an empty list leaves the default."""
    base, over = ToolCallingChatOptions(tool_callbacks=default), ToolCallingChatOptions(tool_callbacks=runtime)
    result = merge_options(base, over)
    assert isinstance(result, ToolCallingChatOptions)
    assert result.tool_callbacks == merged


@pytest.mark.parametrize(
    ("runtime", "default", "merged"),
    [
        ({"k1": "v1", "k2": "v2"}, {"k1": "vA", "k3": "v3"}, {"k1": "v1", "k2": "v2", "k3": "v3"}),
        ({"k": 1}, {}, {"k": 1}),
        ({"k": 1}, None, {"k": 1}),
        ({}, {"k": 1}, {"k": 1}),
        (None, {"k": 1}, {"k": 1}),
        ({}, {}, {}),
        (None, None, None),
    ],
)
def test_contexts_are_united_and_the_request_wins(runtime: Entries, default: Entries, merged: Entries) -> None:
    """OPT-09: the union of both, entries of the request over those beneath."""
    base, over = ToolCallingChatOptions(tool_context=default), ToolCallingChatOptions(tool_context=runtime)
    result = merge_options(base, over)
    assert isinstance(result, ToolCallingChatOptions)
    assert result.tool_context == merged


@pytest.mark.parametrize("key", [None, "", "  ", 7])
def test_keys_of_a_context_are_names(key: Any) -> None:
    """OPT-10, OPT-12: the text shows the key."""
    with pytest.raises(ValueError, match=f"tool_context has the key {key!r}"):
        ToolCallingChatOptions(tool_context={key: 1})


def test_two_tools_of_one_name_are_refused_where_they_meet() -> None:
    """OPT-11, R29: by client and manager, naming both origins; options alone do not look into callbacks."""
    options = ToolCallingChatOptions(tool_callbacks=[A, named("a")])
    model = ScriptedChatModel(["Never."])
    with pytest.raises(DuplicateToolError, match=r"Multiple tools with the same name \(a\)"):
        ChatClient(model).prompt("Go on.").options(options).call()
    with pytest.raises(DuplicateToolError, match=r"Multiple tools with the same name \(a\)"):
        DefaultToolCallingManager().execute_tool_calls(
            Prompt("Go on.", options), ChatResponse.of(tool_calls=[ToolCall("1", "a")])
        )
    assert model.requests == []


def test_combining_joins_callbacks_and_contexts() -> None:
    """OPT-13: the other's fields where set; callbacks of both, these first; contexts united, the other winning."""
    one = ToolCallingChatOptions(model="m1", top_k=1, tool_callbacks=[A], tool_context={"a": 1, "b": 1})
    two = ToolCallingChatOptions(model="m2", tool_callbacks=[B], tool_context={"b": 2})
    assert one.combine_with(two) == ToolCallingChatOptions(
        model="m2", top_k=1, tool_callbacks=[A, B], tool_context={"a": 1, "b": 2}
    )
    assert one.combine_with(None) is one
    assert one.combine_with(ChatOptions(top_k=9)) == one.copy(top_k=9)
    assert ToolCallingChatOptions().combine_with(ToolCallingChatOptions()).tool_callbacks is None  # type: ignore[attr-defined]  # they are of this kind
    assert one.tool_callbacks == (A,)


def test_a_copy_keeps_every_field_and_its_type() -> None:
    """OPT-14, R26: all fields, callbacks and context included, but what is changed."""
    options = OwnOptions(**EVERYTHING, seed=7)
    assert options.copy() == options
    changed = options.copy(seed=8)
    assert (type(changed), changed.seed) == (OwnOptions, 8)
    assert changed.copy(seed=7) == options


def test_texts_are_kept_as_they_are() -> None:
    """OPT-15: an empty model name, blank and repeated stop sequences, their order."""
    options = ChatOptions(model="", stop_sequences=["b", "", " ", "b"])
    assert (options.model, options.stop_sequences) == ("", ("b", "", " ", "b"))


@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        ({"temperature": -0.1}, ValueError, "temperature is -0.1; a number of at least 0 is wanted"),
        ({"temperature": "hot"}, TypeError, "temperature is 'hot'"),
        ({"temperature": True}, TypeError, "temperature is True"),
        ({"temperature": float("nan")}, ValueError, "temperature is nan"),
        ({"top_p": 1.1}, ValueError, "top_p is 1.1; a number from 0 to 1 is wanted"),
        ({"top_p": -0.1}, ValueError, "top_p is -0.1"),
        ({"max_tokens": 0}, ValueError, "max_tokens is 0; an integer of at least 1 is wanted"),
        ({"max_tokens": 1.5}, TypeError, "max_tokens is 1.5"),
        ({"top_k": -1}, ValueError, "top_k is -1"),
        ({"stop_sequences": "stop"}, TypeError, "stop_sequences is 'stop'"),
    ],
)
def test_numbers_out_of_range_are_refused(fields: dict[str, Any], error: type[Exception], text: str) -> None:
    """OPT-15: the text names field, value and what is wanted; the bounds themselves are allowed."""
    with pytest.raises(error, match=text):
        ChatOptions(**fields)
    assert ChatOptions(temperature=0, top_p=1, max_tokens=1, top_k=0).top_p == 1


def test_layers_are_merged_field_by_field() -> None:
    """R26: a field of the request where it is set, else that beneath; 0, False and "" are set."""
    base = OwnOptions(model="m", temperature=0.5, parallel_tool_calls=True, seed=1, stop_sequences=["x"])
    over = ToolCallingChatOptions(model="", temperature=0, parallel_tool_calls=False)
    assert merge_options(base, over) == OwnOptions(
        model="", temperature=0, parallel_tool_calls=False, seed=1, stop_sequences=["x"]
    )
    assert merge_options(base, None) is base
    assert merge_options(None, over) is over
    assert merge_options(None, None) == ToolCallingChatOptions()


def test_a_merge_has_the_more_derived_type() -> None:
    """R26: no field of either side is lost where one is derived of the other."""
    plain, own = ChatOptions(model="m", top_k=1), OwnOptions(seed=7, top_k=2)
    assert merge_options(plain, own) == OwnOptions(model="m", seed=7, top_k=2)
    assert merge_options(own, plain) == OwnOptions(model="m", seed=7, top_k=1)


def test_promotion_keeps_every_field() -> None:
    """R26: plain options become tool-calling ones; such that are stay themselves."""
    plain = {name: value for name, value in EVERYTHING.items() if hasattr(ChatOptions(), name)}
    assert as_tool_calling(ChatOptions(**plain)) == ToolCallingChatOptions(**plain)
    own = OwnOptions(seed=1)
    assert as_tool_calling(own) is own
    assert as_tool_calling(None) == ToolCallingChatOptions()
