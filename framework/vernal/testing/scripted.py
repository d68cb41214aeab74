"""A chat model that answers from a script."""

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from vernal.errors import UsageError
from vernal.models.aggregator import MessageAggregator
from vernal.models.chat import ChatModel
from vernal.testing.gate import Gate
from vernal.testing.replay import assert_replayable
from vernal.values.messages import AssistantMessage, ToolCall
from vernal.values.options import ChatOptions
from vernal.values.prompt import Prompt
from vernal.values.responses import ChatGenerationMetadata, ChatResponse, FinishReason, Generation

Step = ChatResponse | BaseException | Gate
"""A chunk that is given, an exception that is raised, or where the model waits."""


@dataclass(frozen=True)
class Chunks:
    """An answer that is streamed in these chunks, and is their aggregate when it is called."""

    items: "tuple[Step, ...]"


def tool_call(name: str, /, *, call_id: str | None = None, **arguments: Any) -> ToolCall:
    """An answer that asks for one tool: `tool_call("refund", order="42")`; without `call_id` the script numbers it."""
    return ToolCall(call_id if call_id is not None else "", name, json.dumps(arguments))


def tool_calls(*calls: ToolCall, text: str | None = None) -> tuple[str | ToolCall, ...]:
    """An answer that asks for several tools at once, with a text beside them where one is given."""
    return calls if text is None else (text, *calls)


def chunks(*items: "str | ToolCall | Step") -> Chunks:
    """An answer in the given chunks; an exception among them breaks the stream there, at a `Gate` it waits."""
    return Chunks(tuple(_piece(item) if isinstance(item, str | ToolCall) else item for item in items))


class ScriptedChatModel(ChatModel):
    """Answers each request with the next item of `script`, and keeps the requests.

    An item is a text, a `tool_call(…)`, a sequence of both, `chunks(…)`, a `ChatResponse`, an exception to raise, or a
    function from the `Prompt` to one of these. `ChatResponse.of` has reasoning, usage and finish reasons, also among
    `chunks(…)`. `requests` holds every `Prompt`; each is checked with
    `assert_replayable`, unless `check` is False. `options` are the model's default options. With `fragments` a text is
    streamed in pieces of so many characters.

    Raises:
        UsageError: from a request beyond the end of the script.
        AssertionError: from a request whose messages cannot be replayed.
    """

    def __init__(
        self,
        script: Iterable[Any] = (),
        *,
        options: ChatOptions | None = None,
        check: bool = True,
        fragments: int | None = None,
    ) -> None:
        self._script = list(script)
        self._options = options
        self._check = check
        self._fragments = fragments
        self._numbered = 0
        self.requests: list[Prompt] = []

    @property
    def default_options(self) -> ChatOptions | None:
        """What was given as `options`."""
        return self._options

    @property
    def remaining(self) -> int:
        """How many answers of the script are left."""
        return len(self._script)

    async def acall(self, prompt: Prompt) -> ChatResponse:
        """The next answer."""
        aggregator, given = MessageAggregator(), list[ChatResponse]()
        for chunk in self._next(prompt):
            if isinstance(chunk, ChatResponse):
                aggregator.add(chunk)
                given.append(chunk)
            else:
                await _taken(chunk)
        return given[0] if len(given) == 1 else aggregator.collected()

    async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        """The chunks of the next answer."""
        for chunk in self._next(prompt):
            if isinstance(chunk, ChatResponse):
                yield chunk
            else:
                await _taken(chunk)

    def _next(self, prompt: Prompt) -> Sequence[Step]:
        self.requests.append(prompt)
        if self._check:
            assert_replayable(prompt.messages)
        if not self._script:
            raise UsageError(
                f"the script has {len(self.requests) - 1} answers, and the model was asked once more; "
                f"the last message is {prompt.messages[-1:]!r}"
            )
        item = self._script.pop(0)
        return self._chunks(item(prompt) if callable(item) else item)

    def _chunks(self, item: Any) -> Sequence[Step]:
        if isinstance(item, Step):
            return (item,)
        if isinstance(item, Chunks):
            return tuple(self._numbered_calls(chunk) for chunk in item.items)
        if isinstance(item, str) and self._fragments:
            pieces = [item[i : i + self._fragments] for i in range(0, len(item), self._fragments)] or [""]
            return (*map(_piece, pieces[:-1]), _answer([pieces[-1]]))
        parts = [item] if isinstance(item, str | ToolCall) else list(item)
        return (self._numbered_calls(_answer(parts)),)

    def _numbered_calls(self, chunk: Step) -> Step:
        """Calls that `tool_call` left without an id get one that is unique in this script."""
        if not isinstance(chunk, ChatResponse) or not chunk.has_tool_calls:
            return chunk
        return chunk.copy(generations=tuple(self._numbered_generation(g) for g in chunk.generations))

    def _numbered_generation(self, generation: Generation) -> Generation:
        calls = []
        for call in generation.output.tool_calls:
            self._numbered += 1
            call_id = call.id or f"call_{self._numbered}"
            calls.append(ToolCall(call_id, call.name, call.arguments, call.type, call.metadata))
        return Generation(generation.output.copy(tool_calls=calls), generation.metadata)


async def _taken(step: BaseException | Gate) -> None:
    if isinstance(step, BaseException):
        raise step
    await step.apass_through()


def _piece(item: str | ToolCall) -> ChatResponse:
    message = AssistantMessage(None, (item,)) if isinstance(item, ToolCall) else AssistantMessage(item)
    return ChatResponse((Generation(message),))


def _answer(parts: "list[str | ToolCall]") -> ChatResponse:
    texts = [part for part in parts if isinstance(part, str)]
    calls = [part for part in parts if isinstance(part, ToolCall)]
    reason = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
    message = AssistantMessage("".join(texts) if texts else None, calls)
    return ChatResponse((Generation(message, ChatGenerationMetadata(reason, reason.value)),))
