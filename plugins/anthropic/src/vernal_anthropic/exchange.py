"""How prompts and answers travel to and from Anthropic's service. Imported with the first request."""

from collections.abc import Mapping
from typing import Any

from vernal import AssistantMessage, ChatResponse, Exchange, Generation, Prompt
from vernal.http import Endpoint, ServerSentEvent, decode_json
from vernal_anthropic.replies import Reply
from vernal_anthropic.requests import RequestWriter

END_MARK = b"[DONE]"
"""What some gateways send after the end, as other protocols do."""
BEGUN_BY = {"text_delta": "text", "thinking_delta": "thinking"}
"""The blocks that a piece is of where its block was not begun."""


class AnthropicExchange(Exchange):
    """Sends prompts to the service and reads its answers."""

    def __init__(self, endpoint: Endpoint, writer: RequestWriter) -> None:
        super().__init__(endpoint)
        self._writer = writer

    def request(self, prompt: Prompt, *, stream: bool) -> tuple[bytes, str]:
        """The body for `prompt`; all requests go to one address."""
        return self._writer.body(prompt, stream=stream), ""

    def read(self, prompt: Prompt, content: bytes, headers: Mapping[str, str]) -> ChatResponse:
        """The response for a whole answer; an error in its place is raised."""
        message = self.endpoint.read_object(content)
        if message.get("error"):
            raise self.endpoint.refusal(content)
        reply = Reply(self.endpoint.service, headers)
        said = message["content"] or ()
        reply.blocks = [{"type": "text", "text": said}] if isinstance(said, str) else [dict(block) for block in said]
        reply.note(message)
        return reply.build()

    def assembler(self, prompt: Prompt, headers: Mapping[str, str]) -> "StreamAssembler":
        """What assembles a streamed answer."""
        return StreamAssembler(self.endpoint, Reply(self.endpoint.service, headers))


class StreamAssembler:
    """Turns the events of one stream into responses: text and thinking as they arrive, all else in the last one.

    Events and pieces of kinds that are not known are passed over, as the service asks of its clients.
    """

    def __init__(self, endpoint: Endpoint, reply: Reply) -> None:
        self.ended = False
        self._endpoint = endpoint
        self._reply = reply
        self._blocks: list[_Block] = []
        self._open: dict[object, _Block] = {}

    def add(self, event: ServerSentEvent) -> ChatResponse | None:
        """The response with the new text of `event`; an error in its place is raised (R20)."""
        name, payload = event
        if payload.startswith(END_MARK):
            return None
        told = self._endpoint.read_object(payload)
        kind = told.get("type") or name.decode("utf-8", "replace")
        if kind == "content_block_delta":
            index, delta = told.get("index"), told["delta"]
            block = self._open.get(index) or self._begin(index, {"type": BEGUN_BY[delta["type"]]})
            message = block.add(delta)
            return None if message is None else ChatResponse((Generation(message),))
        if kind == "content_block_start":
            message = self._begin(told.get("index"), told["content_block"]).begun()
            return None if message is None else ChatResponse((Generation(message),))
        if kind == "message_start":
            self._reply.note(told["message"])
        elif kind == "message_delta":
            delta = told.get("delta") or {}
            self._reply.note({**told, **delta, "usage": told.get("usage") or delta.get("usage")})
        elif kind == "message_stop":
            self.ended = True
        elif kind == "error" or told.get("error"):
            raise self._endpoint.refusal(payload)
        return None

    def finish(self) -> ChatResponse:
        """The last response: tool calls, finish reason, usage, and the blocks that go back unchanged.

        Raises:
            BrokenStreamError: the stream ended before the service said why the answer ends.
        """
        if not self.ended and self._reply.stop_reason is None:
            raise self._endpoint.broken("the stream ended in the middle of the answer")
        self._reply.blocks = [block.whole() for block in self._blocks]
        return self._reply.build(text=False)

    def _begin(self, index: object, begin: dict[str, Any]) -> "_Block":
        """A further block; gateways count wrongly, so its place is where it began."""
        block = self._open[index] = _Block(begin)
        self._blocks.append(block)
        return block


class _Block:
    """One block of content in the making; texts that arrive in many pieces are joined once."""

    __slots__ = ("_block", "_pieces")

    def __init__(self, block: dict[str, Any]) -> None:
        self._block = dict(block)
        self._pieces: dict[str, list[str]] = {}

    def begun(self) -> AssistantMessage | None:
        """The message with what a block has from its start."""
        kind = self._block.get("type")
        return _message(str(kind), self._block.get(kind) or "") if kind in ("text", "thinking") else None

    def add(self, delta: dict[str, Any]) -> AssistantMessage | None:
        kind = delta.get("type")
        if kind == "text_delta":
            return self._added("text", delta["text"])
        if kind == "thinking_delta":
            return self._added("thinking", delta["thinking"])
        if kind == "input_json_delta":
            self._added("input", delta["partial_json"])
        elif kind == "signature_delta":
            self._added("signature", delta["signature"])
        elif kind == "citations_delta":
            self._block["citations"] = [*(self._block.get("citations") or ()), delta["citation"]]
        return None

    def whole(self) -> dict[str, Any]:
        """The block as it would have come at once; input that was cut off stays the text that it is."""
        for member, pieces in self._pieces.items():
            text = "".join(pieces)
            if member != "input":
                self._block[member] = f"{self._block.get(member) or ''}{text}"
            elif text:
                self._block["input"] = _parsed(text)
        self._pieces = {}
        return self._block

    def _added(self, member: str, text: str) -> AssistantMessage | None:
        self._pieces.setdefault(member, []).append(text)
        return _message(member, text)


def _message(member: str, text: str) -> AssistantMessage | None:
    if not text or member not in ("text", "thinking"):
        return None
    return AssistantMessage(text) if member == "text" else AssistantMessage(None, (), (), text)


def _parsed(text: str) -> Any:
    try:
        value = decode_json(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text
