"""The calls of a round at work: together or alone, told of, observed, tried again, judged where they fail."""

import asyncio
import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vernal.observation import observed
from vernal.runtime.threads import run_together
from vernal.tools.callback import ToolCallback
from vernal.tools.context import ToolContext
from vernal.tools.conversion import DefaultToolCallResultConverter
from vernal.tools.exceptions import ToolExecutionException
from vernal.tools.failures import log_failure
from vernal.tools.interception import SuspendedTurn, TurnSuspended
from vernal.tools.observation import ToolCallingObservationContext
from vernal.tools.result import ToolResult
from vernal.tools.retry import ToolTimeout, may_heal, wait_after
from vernal.tools.turns import OUTCOME_UNKNOWN
from vernal.values.events import ChatEvent, ToolCallFinished, ToolCallProgress, ToolCallStarted
from vernal.values.mappings import EMPTY
from vernal.values.messages import ToolCall, ToolResponse
from vernal.values.turn import AnsweredCall, Turn

if TYPE_CHECKING:
    from vernal.tools.manager import DefaultToolCallingManager

Outcome = tuple[Any, Exception | None]
"""What a first attempt, made by a thread, has come to: a text or what gives it, or an error."""
Work = Callable[[], Any]

RETURN_DIRECT = "returnDirect"
"""Metadata of a response that its tool wants to be returned directly."""

_CONVERTER = DefaultToolCallResultConverter()
"""For what a careless callback returns instead of a text (R15)."""


@dataclass(slots=True, eq=False)
class Planned:
    """A call of the round: run by `callback`, or answered with `refusal`, or with a `response` that comes from
    elsewhere, such as from `earlier` in a turn that was suspended."""

    call: ToolCall
    tool_input: str
    record: AnsweredCall
    callback: ToolCallback | None = None
    refusal: str = ""
    response: ToolResponse | None = None
    raised: Exception | None = None
    waits: str | None = None
    nested: SuspendedTurn | None = None
    earlier: bool = False

    def refuse(self, text: str) -> None:
        """Let it not run; the model is told `text`."""
        self.callback, self.refusal, self.record.took_effect = None, text, False


class ToolRunner:
    """Runs the planned calls of one round."""

    def __init__(self, manager: "DefaultToolCallingManager", turn: Turn, context: ToolContext) -> None:
        self._manager, self._turn, self._context = manager, turn, context

    async def run_all(self, planned: list[Planned]) -> None:
        """Run the calls together, bounded; one that is exclusive or changes things runs alone, in its place (R16)."""
        group: list[Planned] = []
        for call in planned:
            if call.callback is not None and call.callback.metadata.runs_alone:
                await self._run_group(group)
                await self._run_group([call])
                group = []
            else:
                group.append(call)
        await self._run_group(group)

    async def _run_group(self, group: list[Planned]) -> None:
        works = self._blocking_works(group)
        if works:
            outcomes = await run_together(works)
            for call, outcome in zip(group, outcomes, strict=True):
                assert call.callback is not None
                call.response = await self._respond(call, call.callback, outcome)
            return
        if not group:
            return
        bound = asyncio.Semaphore(self._manager.max_parallel_calls)
        # Each call tells of its end itself: by `gather` the loop would turn once more before the round goes on.
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        running = len(group)

        async def run(planned: Planned) -> None:
            nonlocal running
            try:
                async with bound:
                    await self._run_one(planned)
            except BaseException as error:
                if not ended.done():
                    ended.set_exception(error)
                raise
            running -= 1
            if not running and not ended.done():
                ended.set_result(None)

        tasks = [asyncio.create_task(run(call)) for call in group]
        try:
            await ended
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    def _blocking_works(self, group: list[Planned]) -> list[Work]:
        """The calls as work for threads, where they are nothing else and nobody follows each of them; else none."""
        manager = self._manager
        if self._turn.listener is not None or not manager.observation_registry.is_noop:
            return []
        if manager.tool_timeout is not None or len(group) > manager.max_parallel_calls:
            return []
        works = []
        for call in group:
            callback = call.callback
            assert callback is not None
            work = callback.blocking_work(call.tool_input, self.context_of(call))
            if work is None or callback.metadata.timeout is not None:
                return []
            works.append(work)
        return works

    def tell_unrun(self, planned: list[Planned]) -> None:
        """Tell of the calls that have an answer without running."""
        for each in planned:
            if each.callback is None and each.waits is None and not each.earlier:
                self._tell_started(each)
                self._tell_finished(each, each.response or refused(each), 0.0)

    def _tell_started(self, planned: Planned) -> None:
        call, arguments = planned.call, planned.record.arguments
        self._tell(ToolCallStarted(call_id=call.id, name=call.name, arguments=arguments))

    def _tell_finished(self, planned: Planned, response: ToolResponse, duration: float) -> None:
        call = planned.call
        self._tell(ToolCallFinished(call_id=call.id, name=call.name, response=response, duration=duration))

    def _tell(self, event: ChatEvent) -> None:
        if self._turn.listener is not None:
            self._turn.listener(event)

    def context_of(self, planned: Planned) -> ToolContext:
        """The context of one call; it can report progress where somebody listens, until the call is answered."""
        call, shared = planned.call, self._context
        if self._turn.listener is None:
            return ToolContext(shared.context, tool_call=call, conversation_history=shared.conversation_history)

        def report(message: str, fraction: float | None) -> None:
            if planned.response is None:
                self._tell(ToolCallProgress(call_id=call.id, name=call.name, message=message, fraction=fraction))

        history = shared.conversation_history
        return ToolContext(shared.context, tool_call=call, conversation_history=history, report=report)

    async def _run_one(self, planned: Planned) -> None:
        if self._turn.listener is None:
            await self._run_observed(planned)
            return
        self._tell_started(planned)
        begun = time.perf_counter()
        await self._run_observed(planned)
        if planned.response is not None and planned.waits is None:
            self._tell_finished(planned, planned.response, time.perf_counter() - begun)

    async def _run_observed(self, planned: Planned) -> None:
        callback, call = planned.callback, planned.call
        assert callback is not None
        registry, convention = self._manager.observation_registry, self._manager.observation_convention
        if registry.is_noop:
            planned.response = await self._respond(planned, callback)
            return
        context = ToolCallingObservationContext(
            tool_definition=callback.definition,
            tool_metadata=callback.metadata,
            tool_type=call.type,
            call_id=call.id,
            arguments=planned.tool_input,
        )
        with observed(registry, lambda: convention.observation(context)) as observation:
            response = planned.response = await self._respond(planned, callback)
            if observation is not None:
                context.result = response.data
                convention.answered(observation, context, response)
                observation.error = planned.raised

    async def _respond(self, planned: Planned, callback: ToolCallback, outcome: Outcome | None = None) -> ToolResponse:
        """The response to a call; `outcome` is what its first attempt has come to, where that has been made."""
        call, attempt = planned.call, 1
        while True:
            try:
                if attempt == 1 and outcome is not None:
                    result = await _settled(*outcome)
                else:
                    result = await self._attempt(planned, callback)
                break
            except Exception as error:  # noqa: BLE001  # any failure of a tool is the exception processor's to judge
                waiting = error if isinstance(error, TurnSuspended) else error.__cause__
                if isinstance(waiting, TurnSuspended):
                    return self._waits(planned, waiting)
                if attempt < callback.metadata.max_attempts and may_heal(error):
                    await wait_after(attempt, callback, error)
                    attempt += 1
                elif isinstance(error, ToolTimeout):
                    log_failure(call.name, error)
                    return ToolResponse(call.id, call.name, str(error), True, metadata={OUTCOME_UNKNOWN: True})
                else:
                    return await self._failed(planned, callback, error)
        return _response(call, result)

    async def _attempt(self, planned: Planned, callback: ToolCallback) -> str:
        timeout = callback.metadata.timeout or self._manager.tool_timeout
        running = callback.acall(planned.tool_input, self.context_of(planned))
        if timeout is None:
            result: Any = await running
        else:
            clock = asyncio.timeout(timeout)
            try:
                async with clock:
                    result = await running
            except Exception as error:
                if clock.expired():
                    raise ToolTimeout(timeout) from error
                raise
        return _as_told(result)

    def _waits(self, planned: Planned, inner: TurnSuspended) -> ToolResponse:
        """The tool has asked an assistant whose turn waits for a decision: so does this call."""
        planned.waits, planned.nested, planned.record.took_effect = str(inner), inner.state, False
        return ToolResponse(planned.call.id, planned.call.name, planned.waits, is_error=True)

    async def _failed(self, planned: Planned, callback: ToolCallback, error: Exception) -> ToolResponse:
        planned.record.took_effect = isinstance(error, ToolExecutionException) and error.has_run
        wrapped = error
        if not isinstance(wrapped, ToolExecutionException):
            wrapped = ToolExecutionException(callback.definition, error)
        try:
            text: Any = self._manager.tool_execution_exception_processor.process(wrapped)
            if inspect.isawaitable(text):
                text = await text
            if text is not None and not isinstance(text, str):
                text = _CONVERTER.convert(text, Any)
            log_failure(planned.call.name, wrapped.__cause__ or wrapped)
        except Exception as raised:  # noqa: BLE001  # raised once the siblings have ended, with what they did (R12)
            planned.raised = raised
            text = str(raised)
        call = planned.call
        told = text if text and text.strip() else f"The tool {call.name} failed."
        return ToolResponse(call.id, call.name, told, is_error=True)


def answered(call: ToolCall, result: Any) -> ToolResponse:
    """The response to a call whose result comes from elsewhere, told as if the tool had given it (R15)."""
    return _response(call, _as_told(result))


def refused(planned: Planned) -> ToolResponse:
    """The response to a call that does not run."""
    return ToolResponse(planned.call.id, planned.call.name, planned.refusal, is_error=True)


def _response(call: ToolCall, text: str) -> ToolResponse:
    if isinstance(text, ToolResult):
        metadata = {RETURN_DIRECT: True} if text.return_direct else EMPTY
        return ToolResponse(call.id, call.name, str(text), text.is_error, text.media, metadata)
    return ToolResponse(call.id, call.name, text)


async def _settled(result: Any, error: Exception | None) -> str:
    if error is not None:
        raise error
    return _as_told(result if isinstance(result, str) or not inspect.isawaitable(result) else await result)


def _as_told(result: Any) -> str:
    return result if isinstance(result, str) else _CONVERTER.convert(result, Any)
