"""Tool calls that a model streams in pieces."""

from collections.abc import Iterator

from vernal.values.arguments import is_json_object
from vernal.values.messages import ToolCall
from vernal.values.responses import ChatResponse, Generation


class CallFragments:
    """Joins the pieces of a streamed tool call (R8): a piece has no name, or the same, and no id, or the same.

    A chunk whose last call has no whole arguments yet is held back until the next call or the end; all else passes at
    once. Providers of ours join by themselves; this is for a `ChatModel` that hands on what a service sends.
    """

    def __init__(self) -> None:
        self._held: ChatResponse | None = None

    def take(self, chunk: ChatResponse) -> Iterator[ChatResponse]:
        """What goes on now that `chunk` has come."""
        if not chunk.has_tool_calls:
            yield chunk
            return
        held, self._held = self._held, None
        if held is not None:
            joined = _joined(held, chunk)
            if joined is None:
                yield held
            else:
                chunk = joined
        if _is_open(chunk):
            self._held = chunk
        else:
            yield chunk

    def rest(self) -> Iterator[ChatResponse]:
        """What was held back when the stream has ended."""
        held, self._held = self._held, None
        if held is not None:
            yield held


def _is_open(chunk: ChatResponse) -> bool:
    if len(chunk.generations) != 1:
        return False
    output = chunk.generations[0].output
    return not (output.text or output.reasoning or output.media) and not is_json_object(_text(output.tool_calls[-1]))


def _text(call: ToolCall) -> str:
    return call.arguments or ""  # some services send null (TCM-24)


def _joined(held: ChatResponse, chunk: ChatResponse) -> ChatResponse | None:
    """Both as one chunk, where the second goes on with the call that the first has begun."""
    if len(chunk.generations) != 1:
        return None
    (generation,) = chunk.generations
    *before, begun = held.generations[0].output.tool_calls
    piece, *behind = generation.output.tool_calls
    if piece.name.strip() not in ("", begun.name) or piece.id.strip() not in ("", begun.id):
        return None
    if piece.name.strip() and not piece.id.strip():
        return None  # another call of the same tool
    whole = ToolCall(begun.id, begun.name, _text(begun) + _text(piece), begun.type, begun.metadata)
    output = generation.output.copy(tool_calls=(*before, whole, *behind))
    return chunk.copy(generations=(Generation(output, generation.metadata),))
