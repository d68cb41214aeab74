"""Messages survive being written as JSON and read again."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import (
    AssistantMessage,
    Media,
    Message,
    SystemMessage,
    ToolCall,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
)
from vernal.values.serialization import dump_messages, load_messages

TEXT = st.text(max_size=12)
METADATA = st.dictionaries(TEXT, st.one_of(TEXT, st.integers(), st.booleans(), st.none(), st.lists(TEXT)), max_size=3)
MEDIA = st.lists(
    st.one_of(
        st.builds(Media, st.just("image/png"), data=st.binary(max_size=9), name=st.none() | TEXT),
        st.builds(Media, st.just("image/png"), url=st.just("http://host/x.png")),
    ),
    max_size=2,
)
CALLS = st.lists(st.builds(ToolCall, TEXT, TEXT, TEXT, TEXT, METADATA), max_size=3)
RESPONSES = st.lists(st.builds(ToolResponse, TEXT, TEXT, TEXT, st.booleans(), MEDIA.map(tuple), METADATA), max_size=3)
MESSAGES = st.one_of(
    st.builds(SystemMessage, TEXT, METADATA),
    st.builds(UserMessage, TEXT, MEDIA, METADATA),
    st.builds(AssistantMessage, st.none() | TEXT, CALLS, MEDIA, st.none() | TEXT, METADATA),
    st.builds(ToolResponseMessage, RESPONSES, METADATA),
)


@given(st.lists(MESSAGES, max_size=4))
def test_every_message_comes_back_as_it_was(messages: list[Message]) -> None:
    """Kinds, ids, argument texts to the byte, metadata, media, error flags and order survive (R3)."""
    text = json.dumps(dump_messages(messages))
    assert load_messages(json.loads(text)) == tuple(messages)


def test_what_says_nothing_is_not_written() -> None:
    """A plain message is a plain dictionary."""
    assert dump_messages([UserMessage("hi")]) == [{"type": "user", "text": "hi"}]


def test_an_unknown_type_is_refused() -> None:
    """The error names what is wanted."""
    with pytest.raises(ValueError, match="system, user, assistant or tool"):
        load_messages([{"type": "robot"}])
