"""Checks on messages that several suites share."""

import json
from collections.abc import Sequence

from vernal.values.messages import Message
from vernal.values.responses import ChatResponse
from vernal.values.serialization import dump_messages, load_messages


def through_json(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, written down as JSON text and read again."""
    return load_messages(json.loads(json.dumps(dump_messages(messages))))


def assert_survives_json(response: ChatResponse) -> None:
    """Fail unless the message of each generation can be written down as JSON, and comes back as it was."""
    messages = tuple(generation.output for generation in response.generations)
    assert through_json(messages) == messages, "what was read again is not what was written down"
