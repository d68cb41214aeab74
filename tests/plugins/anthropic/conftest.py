"""Anthropic's service, and streams of its protocol."""

import json
from typing import TYPE_CHECKING, Any

import pytest

from vernal.testing.server import Reply
from vernal_anthropic import AnthropicChatModel

if TYPE_CHECKING:
    from tests.plugins.conftest import Service


@pytest.fixture
def service(service_of: "type[Service]") -> "Service":
    """The service and its model."""
    return service_of(AnthropicChatModel, {"content": []})


class Events:
    """Streams of the protocol."""

    def of(
        self, *blocks: tuple[dict[str, Any], list[dict[str, Any]]], stop: str | None = "end_turn", **more: Any
    ) -> Reply:
        """A stream of blocks, each given by its start and its deltas; without `stop` it breaks off after them."""
        usage = {"input_tokens": 5, "cache_read_input_tokens": 20, "output_tokens": 1}
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": {"id": "m1", "model": "claude", "content": [], "usage": usage}},
            {"type": "ping"},
        ]
        for index, (start, deltas) in enumerate(blocks):
            events.append({"type": "content_block_start", "index": index, "content_block": start})
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
        if stop is not None:
            delta = {"stop_reason": stop, "stop_sequence": None}
            events += [
                {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}},
                {"type": "message_stop"},
            ]
        return self.raw(*events, **more)

    def raw(self, *events: dict[str, Any], **more: Any) -> Reply:
        """A stream of these events."""
        pieces = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events]
        return Reply(pieces, content_type="text/event-stream", **more)


@pytest.fixture
def events() -> Events:
    """Streams of the protocol."""
    return Events()
