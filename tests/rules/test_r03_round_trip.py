"""R3: what is stored of a message comes back as it was."""

import json

from hypothesis import given
from hypothesis import strategies as st

from vernal import (
    AssistantMessage,
    InMemoryChatMemoryRepository,
    Media,
    Message,
    SystemMessage,
    ToolCall,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
)
from vernal.values.serialization import dump_messages, load_messages

TEXT = st.text(max_size=8)
METADATA = st.dictionaries(TEXT, st.recursive(st.none() | st.integers() | TEXT, st.lists, max_leaves=3), max_size=2)
MEDIA = st.one_of(
    st.builds(lambda data, name: Media("image/png", data, name=name), st.binary(max_size=8), st.none() | TEXT),
    st.builds(lambda url: Media("audio/wav", url=url), TEXT),
)
CALLS = st.builds(ToolCall, TEXT, TEXT, TEXT, st.just("function"), METADATA)
RESPONSES = st.builds(ToolResponse, TEXT, TEXT, TEXT, st.booleans(), st.lists(MEDIA, max_size=1), METADATA)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(SystemMessage, TEXT, METADATA),
    st.builds(UserMessage, TEXT, st.lists(MEDIA, max_size=2), METADATA),
    st.builds(
        AssistantMessage,
        st.none() | TEXT,
        st.lists(CALLS, max_size=2),
        st.lists(MEDIA, max_size=1),
        st.none() | TEXT,
        METADATA,
    ),
    st.builds(ToolResponseMessage, st.lists(RESPONSES, max_size=2), METADATA),
)


@given(messages=st.lists(MESSAGES, max_size=4))
def test_every_message_survives_its_json_text(messages: list[Message]) -> None:
    """R3: kinds, metadata, reasoning, ids, error flags, media, and argument strings to the byte, in order."""
    text = json.dumps(dump_messages(messages))
    assert list(load_messages(json.loads(text))) == messages


@given(messages=st.lists(MESSAGES, max_size=4))
def test_the_repository_in_memory_keeps_what_it_was_given(messages: list[Message]) -> None:
    """R3: and neither side sees later changes of the other."""
    repository, given_list = InMemoryChatMemoryRepository(), list(messages)
    repository.save_all("c", given_list)
    given_list.clear()
    repository.find_by_conversation_id("c").clear()
    assert repository.find_by_conversation_id("c") == messages
