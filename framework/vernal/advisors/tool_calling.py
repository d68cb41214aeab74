"""The advisor that runs the tool-calling loop, and its hooks."""

import copy
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Self

from vernal.advisors.api import (
    HIGHEST_PRECEDENCE,
    AdvisorChain,
    CallAdvisor,
    CallAdvisorChain,
    StreamAdvisor,
    StreamAdvisorChain,
    ToolAdvisor,
    checked_order,
    closing_chunk,
    given,
    refuse_other,
)
from vernal.advisors.event_channel import EventChannel
from vernal.advisors.tool_loop import StreamedRound, ToolLoop
from vernal.models.aggregator import MessageAggregator
from vernal.runtime.streams import aclose
from vernal.tools.execution import ToolExecutionResult
from vernal.tools.manager import DefaultToolCallingManager, ToolCallingManager
from vernal.values.events import EVENTS
from vernal.values.exchange import ChatClientRequest, ChatClientResponse
from vernal.values.messages import Message, SystemMessage
from vernal.values.options import ToolCallingChatOptions
from vernal.values.responses import ChatResponse

DEFAULT_ORDER = HIGHEST_PRECEDENCE + 300

ToolExecutionEligibilityChecker = Callable[[ChatResponse], bool | Awaitable[bool]]
"""Decides whether a response asks for tools to be executed; a plain function or an `async` one."""

_TWINS = (
    ("do_initialize_loop", "do_initialize_loop_stream"),
    ("do_before_call", "do_before_stream"),
    ("do_after_call", "do_after_stream"),
    ("do_get_next_instructions_for_tool_call", "do_get_next_instructions_for_tool_call_stream"),
)
_HOOKS = (*(name for twins in _TWINS for name in twins), "do_finalize_loop")


def has_tool_calls(chat_response: ChatResponse) -> bool:
    """The default eligibility checker: tools are executed where the response asks for some."""
    return chat_response.has_tool_calls


def _refuse_wrong_hooks(cls: type) -> None:
    body = vars(cls)
    for name in _HOOKS:
        if inspect.isfunction(body.get(name)) and not inspect.iscoroutinefunction(body[name]):
            raise TypeError(f"the hook {cls.__qualname__}.{name} is a plain function; make it 'async def'")
    if inspect.iscoroutinefunction(body.get("do_finalize_loop_stream")):
        raise TypeError(
            f"the hook {cls.__qualname__}.do_finalize_loop_stream is a coroutine function without a 'yield'; write an "
            f"asynchronous generator ('async def' with 'yield'), or a plain function that returns an iterator"
        )


@dataclass(kw_only=True, eq=False)
class ToolCallingAdvisor(CallAdvisor, StreamAdvisor, ToolAdvisor):
    """Runs the loop: ask the model, execute the tools it asks for, and again, until it answers.

    Advisors of a greater order stand inside the loop and see every round, the others see one request and one response
    (TCA-21). `advisor_order` lies between `HIGHEST_PRECEDENCE` and `LOWEST_PRECEDENCE`, both exclusive.
    `tool_execution_eligibility_checker` decides whether a response asks for tools; it is never asked about none.
    With `conversation_history_enabled=False` each round gets the system messages and the last message only, if a
    memory advisor stands inside the loop, which keeps the rest; without one the history goes out all the same (R4).
    With `reset_tool_choice` a `tool_choice` that forces a call becomes `"auto"` once tools have run, since the model
    could never answer; without it a tool whose result is returned directly must end the turn.

    Hooks are `async def`. Of a hook and its stream twin the most derived definition counts for both. What a hook
    changes of messages, options or context holds for the rest of the turn (R23).

    Raises:
        TypeError, ValueError: at construction, where a field is of the wrong kind or out of range.
    """

    tool_calling_manager: ToolCallingManager = field(default_factory=DefaultToolCallingManager)
    tool_execution_eligibility_checker: ToolExecutionEligibilityChecker = has_tool_calls
    advisor_order: int = DEFAULT_ORDER
    conversation_history_enabled: bool = True
    reset_tool_choice: bool = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = [base for base in cls.__mro__ if base not in ToolCallingAdvisor.__mro__]  # mixins included
        for base in own:
            _refuse_wrong_hooks(base)
        for call, stream in _TWINS:
            body = next((vars(base) for base in own if call in vars(base) or stream in vars(base)), vars(cls))
            if call in body and stream not in body:
                setattr(cls, stream, body[call])
            elif stream in body and call not in body:
                setattr(cls, call, body[stream])

    def __post_init__(self) -> None:
        self.validate()

    @property
    def order(self) -> int:
        """`advisor_order`, unless a subclass says otherwise."""
        return self.advisor_order

    @property
    def name(self) -> str:
        """What the advisor is called in reports."""
        return "Tool Calling Advisor" if type(self) is ToolCallingAdvisor else type(self).__name__

    def validate(self) -> None:
        """Refuse fields of the wrong kind or out of range."""
        refuse_other("tool_calling_manager", self.tool_calling_manager, ToolCallingManager)
        if not callable(self.tool_execution_eligibility_checker):
            raise TypeError(
                f"tool_execution_eligibility_checker is {self.tool_execution_eligibility_checker!r}; "
                f"a callable from ChatResponse to bool is wanted"
            )
        checked_order(self.order)

    def copy(self, **changes: Any) -> Self:
        """The same advisor with the named fields changed; neither side sees later changes of the other (TCA-09)."""
        twin = copy.copy(self)
        for name, value in changes.items():
            if not hasattr(self, name):
                raise TypeError(f"{type(self).__name__} has no field {name!r} to change in a copy")
            setattr(twin, name, value)
        twin.validate()
        return twin

    # the loop

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        """Run the loop to its end; a request without tool-calling options passes through (TCA-14)."""
        refuse_other("request", request, ChatClientRequest)
        refuse_other("chain", chain, CallAdvisorChain)
        if not isinstance(request.prompt.options, ToolCallingChatOptions):
            return await chain.next_call(request)
        loop = ToolLoop(self, request, lambda: chain.copy(self).call_advisors)
        begun = await self.do_initialize_loop(request, chain)
        loop.begin(given(self, "do_initialize_loop", begun, ChatClientRequest))
        resumed = loop.resumed()
        while True:
            if resumed is None:
                asked = await self.do_before_call(loop.request, chain)
                request = loop.sent(given(self, "do_before_call", asked, ChatClientRequest))
                response = await chain.copy(self).next_call(request)
                changed = await self.do_after_call(response, chain)
                response = given(self, "do_after_call", changed, ChatClientResponse)
            else:
                request, response, resumed = loop.sent(loop.request), resumed, None
            final = await loop.decide(request, response, chain, streaming=False)
            if final is not None:
                final = await self.do_finalize_loop(final, chain)
                return given(self, "do_finalize_loop", final, ChatClientResponse)

    def advise_stream(self, request: ChatClientRequest, chain: StreamAdvisorChain) -> AsyncIterator[ChatClientResponse]:
        """Run the loop; text goes out as it arrives, tool calls do not (TCA-42, TCA-45)."""
        refuse_other("request", request, ChatClientRequest)
        refuse_other("chain", chain, StreamAdvisorChain)
        if not isinstance(request.prompt.options, ToolCallingChatOptions):
            return chain.next_stream(request)
        chunks = self._rounds(request, chain)
        kind = type(self)
        if (
            kind.do_finalize_loop is ToolCallingAdvisor.do_finalize_loop
            and kind.do_finalize_loop_stream is ToolCallingAdvisor.do_finalize_loop_stream
        ):
            return chunks
        return self._finalized(chunks, chain)

    async def is_tool_call_response(self, chat_response: ChatResponse | None) -> bool:
        """Whether tools are to be executed for this response; False for none (TCA-25)."""
        if chat_response is None:
            return False
        answer = self.tool_execution_eligibility_checker(chat_response)
        return bool(await answer) if inspect.isawaitable(answer) else bool(answer)

    async def _rounds(self, request: ChatClientRequest, chain: StreamAdvisorChain) -> AsyncIterator[ChatClientResponse]:
        loop = ToolLoop(self, request, lambda: chain.copy(self).stream_advisors)
        begun = await self.do_initialize_loop_stream(request, chain)
        loop.begin(given(self, "do_initialize_loop_stream", begun, ChatClientRequest))
        resumed = loop.resumed()
        while True:
            streamed = StreamedRound(loop.turn)
            if resumed is None:
                asked = await self.do_before_stream(loop.request, chain)
                request = loop.sent(given(self, "do_before_stream", asked, ChatClientRequest))
                downstream = chain.copy(self)
                try:
                    async for chunk in downstream.next_stream(request):
                        for ready in streamed.take(chunk):
                            yield ready
                finally:
                    await downstream.aclose()
                response = streamed.response(request)
                changed = await self.do_after_stream(response, chain)
                given(self, "do_after_stream", changed, ChatClientResponse)
            else:
                request, response, changed, resumed = loop.sent(loop.request), resumed, resumed, None
            deciding = loop.decide(request, changed, chain, streaming=True)
            if EVENTS in request.context:
                channel = EventChannel[ChatClientResponse | None]()
                loop.turn.listener = channel.put
                async with aclosing(channel.during(deciding)) as events:
                    async for event in events:
                        yield ChatClientResponse(None, request.context, event)
                final = channel.result
            else:
                final = await deciding
            if final is not None:
                for chunk in streamed.last_chunks(response, changed, final):
                    yield chunk
            if EVENTS in request.context:
                history = final.conversation_history if final is not None else ()
                yield ChatClientResponse(None, request.context, loop.round_finished(changed), history)
            if final is not None:
                return

    async def _finalized(
        self, chunks: AsyncIterator[ChatClientResponse], chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        aggregator = MessageAggregator()
        outgoing = self.do_finalize_loop_stream(chunks, chain)
        try:
            async for chunk in outgoing:
                aggregator.add(chunk)
                yield chunk
        finally:
            try:
                await aclose(outgoing)
            finally:
                await aclose(chunks)
        response = ChatClientResponse(aggregator.collected(), aggregator.context)
        final = given(self, "do_finalize_loop", await self.do_finalize_loop(response, chain), ChatClientResponse)
        last = closing_chunk(response, final)
        if last is not None:
            yield last

    # hooks

    async def do_initialize_loop(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        """Once, before the first round: set up what the turn needs."""
        return request

    async def do_initialize_loop_stream(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        """The stream twin of `do_initialize_loop`."""
        return request

    async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        """Before each round: what it returns is what goes to the model."""
        return request

    async def do_before_stream(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        """The stream twin of `do_before_call`."""
        return request

    async def do_after_call(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        """After each round's response, before the loop decides whether to go on."""
        return response

    async def do_after_stream(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        """The stream twin of `do_after_call`; it gets the aggregate of the round's chunks."""
        return response

    async def do_finalize_loop(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        """Once, after the loop has ended: normally, by a direct return or by a limit (TCA-58).

        In a stream it gets the aggregate of what went out; its metadata and context go out in a last chunk.
        """
        return response

    def do_finalize_loop_stream(
        self, chunks: AsyncIterator[ChatClientResponse], chain: AdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        """May transform the chunks that go out of the whole loop."""
        return chunks

    async def do_get_next_instructions_for_tool_call(
        self, request: ChatClientRequest, response: ChatClientResponse, tool_execution_result: ToolExecutionResult
    ) -> tuple[Message, ...]:
        """The messages of the next round.

        The whole history where it is enabled (TCA-32), else the system messages of the request and the last message
        (TCA-33, TCA-34; without a system message none is invented, other than TCA-35).
        """
        history = tool_execution_result.conversation_history
        if self.conversation_history_enabled:
            return history
        systems = (message for message in request.prompt.messages if isinstance(message, SystemMessage))
        return (*systems, *history[-1:])

    async def do_get_next_instructions_for_tool_call_stream(
        self, request: ChatClientRequest, response: ChatClientResponse, tool_execution_result: ToolExecutionResult
    ) -> tuple[Message, ...]:
        """The stream twin of `do_get_next_instructions_for_tool_call`."""
        return await ToolCallingAdvisor.do_get_next_instructions_for_tool_call(
            self, request, response, tool_execution_result
        )
