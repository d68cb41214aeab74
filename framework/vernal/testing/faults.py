"""Faults on purpose: models, tools and stores that fail, wait or break off where a test says."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Self, TypeVar

from vernal.memory.repository import ChatMemoryRepository
from vernal.models.chat import ChatModel
from vernal.runtime.streams import aclose
from vernal.testing.gate import Gate
from vernal.tools.callback import ToolCallback
from vernal.tools.context import ToolContext
from vernal.tools.definition import ToolDefinition, ToolMetadata
from vernal.values.messages import Message
from vernal.values.options import ChatOptions
from vernal.values.prompt import Prompt
from vernal.values.responses import ChatResponse

if TYPE_CHECKING:
    from vernal.tools.parameters import InjectedParameter

T = TypeVar("T")


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and when.

    - `what`: an exception to raise, or a `Gate` to wait at.
    - `at`: which request, call or operation it befalls, counted from 1; None: each.
    - `after`: how many steps of it have been done by then: chunks of a stream, while a call is one step. 0: before it
      begins; 1: a tool has run, a store has saved, an answer has come, and it is lost. A stream of fewer chunks fails
      at its end.
    """

    what: BaseException | Gate
    at: int | None = 1
    after: int = 0

    async def strike(self) -> None:
        """Raise, or wait."""
        if isinstance(self.what, Gate):
            await self.what.apass_through()
        else:
            raise self.what


class _Faults:
    """The faults of one wrapper, which counts what it is asked."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._faults = faults
        self._numbers = count(1)

    def next(self) -> list[Fault]:
        """Those that befall the next request."""
        number = next(self._numbers)
        return [fault for fault in self._faults if fault.at in (None, number)]

    async def around(self, step: Callable[[], Awaitable[T]]) -> T:
        """Take the one step of a call, unless a fault befalls it."""
        faults = self.next()
        await _strike(faults, 0, 0)
        result = await step()
        await _strike(faults, 1, sys.maxsize)
        return result


async def _strike(faults: Sequence[Fault], first: int, last: int) -> None:
    for fault in faults:
        if first <= fault.after <= last:
            await fault.strike()


class FaultyChatModel(ChatModel):
    """A model that does what `model` does, but for the faults.

        FaultyChatModel(model, Fault(RateLimitError("slow down", service="test")), Fault(gate, at=2, after=3))

    The first request is refused; the second stream stops after its third chunk until the gate is opened.
    """

    def __init__(self, model: ChatModel, *faults: Fault) -> None:
        self._model = model
        self._faults = _Faults(faults)
        self.native_structured_output = model.native_structured_output

    @property
    def service_name(self) -> str:
        """That of the model."""
        return self._model.service_name

    @property
    def default_options(self) -> ChatOptions | None:
        """Those of the model."""
        return self._model.default_options

    async def acall(self, prompt: Prompt) -> ChatResponse:
        """The model's answer, unless a fault befalls it."""
        return await self._faults.around(lambda: self._model.acall(prompt))

    async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        """The chunks of the model's answer, up to where a fault befalls them."""
        faults = self._faults.next()
        await _strike(faults, 0, 0)
        stream, passed = self._model.astream(prompt), 0
        try:
            async for chunk in stream:
                yield chunk
                passed += 1
                await _strike(faults, passed, passed)
            await _strike(faults, passed + 1, sys.maxsize)
        finally:
            await aclose(stream)


class FaultyToolCallback(ToolCallback):
    """A tool that does what `tool` does, but for the faults."""

    def __init__(self, tool: ToolCallback, *faults: Fault) -> None:
        self._tool = tool
        self._faults = _Faults(faults)

    @property
    def definition(self) -> ToolDefinition:
        """That of the tool."""
        return self._tool.definition

    @property
    def metadata(self) -> ToolMetadata:
        """That of the tool."""
        return self._tool.metadata

    @property
    def origin(self) -> str:
        """That of the tool."""
        return self._tool.origin

    @property
    def injected(self) -> "tuple[InjectedParameter, ...]":
        """Those of the tool."""
        return self._tool.injected

    def with_beans(self, beans: Mapping[str, Callable[[], Any]]) -> Self:
        """The same faults around the tool with these beans; both count together."""
        twin = type(self)(self._tool.with_beans(beans))
        twin._faults = self._faults
        return twin

    async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
        """Run the tool, unless a fault befalls it."""
        return await self._faults.around(lambda: self._tool.acall(tool_input, tool_context))


class FaultyChatMemoryRepository(ChatMemoryRepository):
    """A store that does what `repository` does, but for the faults; operations of all kinds count together."""

    def __init__(self, repository: ChatMemoryRepository, *faults: Fault) -> None:
        self._repository = repository
        self._faults = _Faults(faults)

    async def afind_conversation_ids(self) -> list[str]:
        """The ids of all conversations."""
        return await self._faults.around(lambda: self._repository.afind_conversation_ids())

    async def afind_by_conversation_id(self, conversation_id: str) -> list[Message]:
        """The messages of a conversation."""
        return await self._faults.around(lambda: self._repository.afind_by_conversation_id(conversation_id))

    async def asave_all(self, conversation_id: str, messages: Sequence[Message]) -> None:
        """Replace the messages of a conversation."""
        await self._faults.around(lambda: self._repository.asave_all(conversation_id, messages))

    async def adelete_by_conversation_id(self, conversation_id: str) -> None:
        """Forget a conversation."""
        await self._faults.around(lambda: self._repository.adelete_by_conversation_id(conversation_id))
