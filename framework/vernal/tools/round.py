"""One round of tool calls: planned, run, answered. The stages of `DefaultToolCallingManager`."""

import asyncio
import inspect
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vernal.errors import UsageError
from vernal.observation import observed
from vernal.runtime.threads import run_together
from vernal.tools.callback import ToolCallback
from vernal.tools.collection import refuse_duplicates
from vernal.tools.context import NO_CONTEXT, ToolContext
from vernal.tools.conversion import DefaultToolCallResultConverter
from vernal.tools.definition import ToolEffects
from vernal.tools.exceptions import ToolExecutionException
from vernal.tools.execution import ToolExecutionResult
from vernal.tools.interception import (
    Allow,
    Deny,
    Suspend,
    SuspendedTurn,
    ToolCallRequest,
    TurnSuspended,
    decide,
)
from vernal.tools.limits import LimitBreach, OnLimitExceeded, ToolCallLimitExceeded
from vernal.tools.observation import ToolCallingObservationContext
from vernal.tools.result import ToolResult
from vernal.tools.retry import ToolTimeout, may_heal, wait_after
from vernal.tools.turns import OUTCOME_UNKNOWN, turn_of
from vernal.values.arguments import comparable_arguments, parse_arguments, raw_arguments
from vernal.values.events import ChatEvent, ToolCallFinished, ToolCallProgress, ToolCallStarted
from vernal.values.messages import ToolCall, ToolResponse, ToolResponseMessage
from vernal.values.options import ToolCallingChatOptions
from vernal.values.prompt import Prompt
from vernal.values.replay import repair_calls
from vernal.values.responses import CUT_OFF, ChatResponse, Generation
from vernal.values.turn import AnsweredCall, Turn, call_ids

if TYPE_CHECKING:
    from vernal.tools.manager import DefaultToolCallingManager

CUT_OFF_TEXT = "This tool call was not executed, because the answer was cut off before it was complete."
NOT_RUN_TEXT = "This tool call was not executed, because the tool call limit of this turn is exceeded."
WAITING_TEXT = "This tool call was not executed: it waits for a decision."
REPEATED_TEXT = (
    "This tool call was not executed: the same tool was called with the same arguments before in this turn. "
    "Use the result that you have, change the arguments, or answer the user."
)

Outcome = tuple[Any, Exception | None]
"""What a first attempt, made by a thread, has come to: a text or what gives it, or an error."""
Work = Callable[[], Any]

_CONVERTER = DefaultToolCallResultConverter()
"""For what a careless callback returns instead of a text (R15)."""


@dataclass(slots=True, eq=False)
class _Planned:
    """A call of the round: run by `callback`, or answered with `refusal`."""

    call: ToolCall
    tool_input: str
    record: AnsweredCall
    callback: ToolCallback | None = None
    refusal: str = ""
    response: ToolResponse | None = None
    raised: Exception | None = None
    waits: str | None = None


class ToolRound:
    """Executes the tool calls of one generation."""

    def __init__(self, manager: "DefaultToolCallingManager", prompt: Prompt, generation: Generation) -> None:
        self._manager, self._prompt = manager, prompt
        self._turn: Turn = prompt.turn if prompt.turn is not None else turn_of(prompt)
        self._generation = self._repaired(generation)
        options = prompt.options if isinstance(prompt.options, ToolCallingChatOptions) else ToolCallingChatOptions()
        callbacks = options.tool_callbacks or ()
        self._offered = manager._offered.of((callbacks,), lambda: _by_name(callbacks))
        self._context = ToolContext(options.tool_context) if options.tool_context else NO_CONTEXT
        self._breach: LimitBreach | None = None
        self._told = self._turn.exhausted  # before this round: the model had its last one
        self._refused_id = ""

    def _repaired(self, generation: Generation) -> Generation:
        """The generation with calls fit for the history (R1, R8); left as it is where they have been made so."""
        turn, known = self._turn, self._turn.repaired
        turn.repaired = ()  # given a second time, by an advisor, its ids would be taken
        if turn.resumption is not None or any(one is generation for one in known):
            return generation
        used = turn.used_ids | call_ids(self._prompt.messages)
        return repair_calls(ChatResponse((generation,)), used).generations[0]

    async def run(self) -> ToolExecutionResult:
        """Plan, run and answer the calls."""
        planned = [self._resumed(call) or self._plan(call) for call in self._generation.output.tool_calls]
        if self._manager.interceptors or self._turn.resumption is not None:
            for call in planned:
                if call.callback is not None:
                    await self._intercept(call, call.callback)
            self._turn.resumption = None
        if self._turn.listener is not None:
            self._tell_refusals(planned)
        await self._run_all([call for call in planned if call.callback is not None])
        result = self._result(planned)
        for call in planned:
            if call.raised is not None:
                _carry(call.raised, result)
                raise call.raised
        if self._breach is not None:
            raise ToolCallLimitExceeded(self._breach, result, self._refused_id)
        if any(call.waits is not None for call in planned):
            raise TurnSuspended(self._suspended(planned))
        return result

    def _resumed(self, call: ToolCall) -> _Planned | None:
        """A call of a resumed round: answered before, or waiting for the decision that has come."""
        resumption = self._turn.resumption
        if resumption is None:
            return None
        record = next((each for each in self._turn.answered if each.call.id == call.id), None)
        if record is None:
            return None
        planned = _Planned(call, raw_arguments(call), record)
        planned.response = resumption.state.responses.get(call.id)
        if planned.response is None:
            planned.callback = self._callback(call.name)
            planned.refusal = _unknown_tool(call.name, self._offered)
            record.took_effect = planned.callback is not None
        return planned

    async def _intercept(self, planned: _Planned, callback: ToolCallback) -> None:
        """Let the interceptors, or the decision that a resumed turn brings, decide about a call."""
        resumption, call = self._turn.resumption, planned.call
        decision = resumption.decisions.get(call.id) if resumption is not None else None
        if decision is None:
            request = ToolCallRequest(
                call, parse_arguments(planned.tool_input), callback.definition, callback.metadata, self._context
            )
            decision = await decide(self._manager.interceptors, request)
        if isinstance(decision, Allow):
            if decision.arguments is not None:
                planned.tool_input = _as_text(call, decision.arguments)
                planned.call = ToolCall(call.id, call.name, planned.tool_input, call.type, call.metadata)
                planned.record.call, planned.record.arguments = planned.call, dict(decision.arguments)
            return
        planned.callback, planned.record.took_effect = None, False
        planned.refusal = decision.text if isinstance(decision, Deny) else WAITING_TEXT
        if isinstance(decision, Suspend):
            planned.waits = decision.reason

    def _suspended(self, planned: list[_Planned]) -> SuspendedTurn:
        return SuspendedTurn(
            messages=self._prompt.messages,
            assistant=self._generation.output.copy(tool_calls=tuple(each.call for each in planned)),
            responses={each.call.id: each.response or _refused(each) for each in planned if each.waits is None},
            reasons={each.call.id: each.waits for each in planned if each.waits is not None},
            answered=tuple(self._turn.answered),
            round_usages=tuple(self._turn.round_usages),
            round_models=tuple(self._turn.round_models),
        )

    def _plan(self, call: ToolCall) -> _Planned:
        arguments = comparable_arguments(call)
        limits, turn = self._manager.limits, self._turn
        breach = limits.breach(call.name, turn)
        callback = self._callback(call.name) if breach is None else None
        repeated = callback is not None and self._is_repeated(callback, call, arguments)
        tool_input = raw_arguments(call)
        planned = _Planned(call, tool_input, turn.record_call(call, arguments))
        if self._generation.finish_reason in CUT_OFF:
            planned.refusal = CUT_OFF_TEXT
        elif self._breach is not None:
            planned.refusal = breach.text_for_model if breach is not None else NOT_RUN_TEXT
        elif breach is not None:
            planned.refusal = breach.text_for_model
            if limits.on_limit_exceeded is OnLimitExceeded.THROW or self._told:
                self._breach, self._refused_id = breach, call.id
            turn.exhausted = turn.exhausted or breach.tool_name is None
        elif callback is None:
            planned.refusal = _unknown_tool(call.name, self._offered)
        elif repeated:
            planned.refusal = REPEATED_TEXT
        else:
            planned.callback = callback
            planned.record.took_effect = True  # for its siblings already (R10), until it has failed
        return planned

    def _callback(self, name: str) -> ToolCallback | None:
        callback = self._offered.get(name)
        if callback is None and self._manager.resolution_fallback_enabled and name.strip():
            callback = self._manager.tool_callback_resolver.resolve(name)
        return callback

    def _is_repeated(self, callback: ToolCallback, call: ToolCall, arguments: Mapping[str, Any]) -> bool:
        metadata, limit = callback.metadata, self._manager.limits.max_identical_calls
        if metadata.polling or limit is None:
            return False
        earlier = self._turn.by_tool.get(call.name)
        if not earlier:
            return False
        once = metadata.effects in (ToolEffects.WRITE, ToolEffects.DESTRUCTIVE) and not metadata.idempotent
        if once and any(record.arguments == arguments and record.took_effect for record in earlier):
            return True
        tail = self._turn.answered[-limit:]
        return len(tail) == limit and all(r.call.name == call.name and r.arguments == arguments for r in tail)

    async def _run_all(self, planned: list[_Planned]) -> None:
        """Run the calls together, bounded; one that is exclusive or changes things runs alone, in its place (R16)."""
        group: list[_Planned] = []
        for call in planned:
            if call.callback is not None and call.callback.metadata.runs_alone:
                await self._run_group(group)
                await self._run_group([call])
                group = []
            else:
                group.append(call)
        await self._run_group(group)

    async def _run_group(self, group: list[_Planned]) -> None:
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

        async def run(planned: _Planned) -> None:
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

    def _blocking_works(self, group: list[_Planned]) -> list[Work]:
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
            work = callback.blocking_work(call.tool_input, self._context)
            if work is None or callback.metadata.timeout is not None:
                return []
            works.append(work)
        return works

    def _tell_refusals(self, planned: list[_Planned]) -> None:
        for each in planned:
            if each.callback is None and each.response is None and each.waits is None:
                self._tell_started(each)
                self._tell_finished(each, _refused(each), 0.0)

    def _tell_started(self, planned: _Planned) -> None:
        call, arguments = planned.call, planned.record.arguments
        self._tell(ToolCallStarted(call_id=call.id, name=call.name, arguments=arguments))

    def _tell_finished(self, planned: _Planned, response: ToolResponse, duration: float) -> None:
        call = planned.call
        self._tell(ToolCallFinished(call_id=call.id, name=call.name, response=response, duration=duration))

    def _tell(self, event: ChatEvent) -> None:
        if self._turn.listener is not None:
            self._turn.listener(event)

    def _context_of(self, planned: _Planned) -> ToolContext:
        """The context of one call; it can report progress where somebody listens, until the call is answered."""
        if self._turn.listener is None:
            return self._context
        call = planned.call

        def report(message: str, fraction: float | None) -> None:
            if planned.response is None:
                self._tell(ToolCallProgress(call_id=call.id, name=call.name, message=message, fraction=fraction))

        return ToolContext(self._context.context, report=report)

    async def _run_one(self, planned: _Planned) -> None:
        if self._turn.listener is None:
            await self._run_observed(planned)
            return
        self._tell_started(planned)
        begun = time.perf_counter()
        await self._run_observed(planned)
        if planned.response is not None:
            self._tell_finished(planned, planned.response, time.perf_counter() - begun)

    async def _run_observed(self, planned: _Planned) -> None:
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

    async def _respond(self, planned: _Planned, callback: ToolCallback, outcome: Outcome | None = None) -> ToolResponse:
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
                if attempt < callback.metadata.max_attempts and may_heal(error):
                    await wait_after(attempt, callback, error)
                    attempt += 1
                elif isinstance(error, ToolTimeout):
                    return ToolResponse(call.id, call.name, str(error), True, metadata={OUTCOME_UNKNOWN: True})
                else:
                    return await self._failed(planned, callback, error)
        if isinstance(result, ToolResult):
            return ToolResponse(call.id, call.name, str(result), result.is_error, result.media)
        return ToolResponse(call.id, call.name, result)

    async def _attempt(self, planned: _Planned, callback: ToolCallback) -> str:
        timeout = callback.metadata.timeout or self._manager.tool_timeout
        running = callback.acall(planned.tool_input, self._context_of(planned))
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

    async def _failed(self, planned: _Planned, callback: ToolCallback, error: Exception) -> ToolResponse:
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
        except Exception as raised:  # noqa: BLE001  # raised once the siblings have ended, with what they did (R12)
            planned.raised = raised
            text = str(raised)
        call = planned.call
        told = text if text and text.strip() else f"The tool {call.name} failed."
        return ToolResponse(call.id, call.name, told, is_error=True)

    def _result(self, planned: list[_Planned]) -> ToolExecutionResult:
        responses = []
        direct = True
        for call in planned:
            response = call.response or _refused(call)
            callback = call.callback or (self._callback(call.call.name) if call.response is not None else None)
            direct = direct and callback is not None and not response.is_error and callback.metadata.return_direct
            responses.append(response)
        message = self._generation.output.copy(tool_calls=tuple(call.call for call in planned))
        history = (*self._prompt.messages, message, ToolResponseMessage(responses))
        return ToolExecutionResult(history, direct)


async def _settled(result: Any, error: Exception | None) -> str:
    if error is not None:
        raise error
    return _as_told(result if isinstance(result, str) or not inspect.isawaitable(result) else await result)


def _as_told(result: Any) -> str:
    return result if isinstance(result, str) else _CONVERTER.convert(result, Any)


def _by_name(callbacks: Sequence[ToolCallback]) -> dict[str, ToolCallback]:
    refuse_duplicates(callbacks)
    return {callback.definition.name: callback for callback in callbacks}


def _as_text(call: ToolCall, arguments: Mapping[str, Any]) -> str:
    """The JSON text of arguments that an interceptor or a decision has put in place of the model's."""
    try:
        return json.dumps(dict(arguments), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"Allow(arguments) for the call of {call.name!r} has {arguments!r}, which has no JSON text: {error}; give "
            f"what a model could have written"
        ) from error


def _refused(planned: _Planned) -> ToolResponse:
    return ToolResponse(planned.call.id, planned.call.name, planned.refusal, is_error=True)


def _unknown_tool(name: str, offered: Mapping[str, ToolCallback]) -> str:
    if not offered:
        return f"There is no tool {name!r}; no tools are available. Answer without tools."
    return f"There is no tool {name!r}. Available tools: {', '.join(offered)}."


def _carry(error: Exception, result: ToolExecutionResult) -> None:
    try:
        error.partial_result = result  # type: ignore[attr-defined]  # documented at DefaultToolCallingManager (R12)
    except AttributeError:
        error.add_note("What had run before is lost: this exception type takes no attributes.")
