"""A model of the user's that hands on tool calls in the pieces in which a service sends them (R8)."""

import json
from collections.abc import AsyncIterator, Sequence

import pytest

from vernal import AssistantMessage, ChatClient, ChatModel, ChatResponse, Generation, Prompt, ToolCall, tool
from vernal.testing import Form

ran: list[tuple[str, int]] = []


@tool
def add(name: str, number: int) -> str:
    """Add a number."""
    ran.append((name, number))
    return "added"


class Pieces(ChatModel):
    """Streams calls as they are given, then an answer."""

    def __init__(self, pieces: Sequence[ToolCall]) -> None:
        self.pieces: Sequence[ToolCall] | None = pieces

    async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        """One chunk for each piece."""
        pieces, self.pieces = self.pieces, None
        for piece in pieces or ():
            yield ChatResponse((Generation(AssistantMessage(None, [piece])),))
        if pieces is None:
            yield ChatResponse((Generation(AssistantMessage("Done.")),))


FIRST, SECOND = json.dumps({"name": "a", "number": 1}), json.dumps({"name": "b", "number": 2})


@pytest.mark.parametrize("form", [Form.STREAM, Form.ASTREAM])
@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([("1", "add", ""), ("1", "", FIRST)], [("a", 1)]),
        ([("1", "add", ""), ("", "", FIRST[:5]), ("", "", FIRST[5:])], [("a", 1)]),
        ([("1", "add", FIRST[:9]), ("1", "add", FIRST[9:])], [("a", 1)]),
        ([("1", "add", FIRST), ("2", "add", SECOND)], [("a", 1), ("b", 2)]),
        (
            [("1", "add", FIRST[:3]), ("1", "", FIRST[3:]), ("2", "add", SECOND[:1]), ("", "", SECOND[1:])],
            [("a", 1), ("b", 2)],
        ),
        ([("", "add", FIRST), ("", "add", SECOND)], [("a", 1), ("b", 2)]),
    ],
    ids=["name first", "in three", "name again", "whole ones", "two in pieces", "no ids"],
)
def test_pieces_of_a_call_become_one_call(
    form: Form, pieces: list[tuple[str, str, str]], expected: list[tuple[str, int]]
) -> None:
    """A blank name or id goes on with the call before, a new id begins one (Spring AI, LiteLLM)."""
    ran.clear()
    model = Pieces([ToolCall(*piece) for piece in pieces])
    assert form.ask(ChatClient(model).prompt("?").tools(add)).text == "Done."
    assert sorted(ran) == expected
