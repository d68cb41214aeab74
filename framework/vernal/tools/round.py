"""One round of tool calls: planned, run, answered. The stages of `DefaultToolCallingManager`."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vernal.errors import UsageError
from vernal.tools.callback import ToolCallback
from vernal.tools.collection import refuse_duplicates
from vernal.tools.context import ToolContext
from vernal.tools.definition import ToolEffects
from vernal.tools.exceptions import ToolArgumentsError
from vernal.tools.execution import ToolExecutionResult
from vernal.tools.interception import (
    Allow,
    Answer,
    Deny,
    Suspend,
    SuspendedTurn,
    ToolCallRequest,
    TurnSuspended,
    decide,
)
from vernal.tools.limits import LimitBreach, OnLimitExceeded, ToolCallLimitExceeded
from vernal.tools.running import RETURN_DIRECT, Planned, ToolRunner, answered, refused
from vernal.tools.turns import turn_of
from vernal.values.arguments import comparable_arguments, raw_arguments
from vernal.values.messages import ToolCall, ToolResponseMessage
from vernal.values.options import ToolCallingChatOptions
from vernal.values.prompt import Prompt
from vernal.values.replay import repair_calls
from vernal.values.responses import CUT_OFF, ChatResponse, Generation
from vernal.values.turn import Turn, call_ids

if TYPE_CHECKING:
    from vernal.tools.manager import DefaultToolCallingManager

CUT_OFF_TEXT = "This tool call was not executed, because the answer was cut off before it was complete."
NOT_RUN_TEXT = "This tool call was not executed, because the tool call limit of this turn is exceeded."
WAITING_TEXT = "This tool call was not executed: it waits for a decision."
REPEATED_TEXT = (
    "This tool call was not executed: the same tool was called with the same arguments before in this turn. "
    "Use the result that you have, change the arguments, or answer the user."
)


class ToolRound:
    """Executes the tool calls of one generation."""

    def __init__(self, manager: "DefaultToolCallingManager", prompt: Prompt, generation: Generation) -> None:
        self._manager, self._prompt = manager, prompt
        self._turn: Turn = prompt.turn if prompt.turn is not None else turn_of(prompt)
        self._generation = self._repaired(generation)
        options = prompt.options if isinstance(prompt.options, ToolCallingChatOptions) else ToolCallingChatOptions()
        callbacks = options.tool_callbacks or ()
        self._offered = manager._offered.of((callbacks,), lambda: _by_name(callbacks))
        self._context = ToolContext(options.tool_context, conversation_history=prompt.messages)
        self._runner = ToolRunner(manager, self._turn, self._context)
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
            self._runner.tell_unrun(planned)
        await self._runner.run_all([call for call in planned if call.callback is not None])
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

    def _resumed(self, call: ToolCall) -> Planned | None:
        """A call of a resumed round: answered before, or waiting for the decision that has come."""
        resumption = self._turn.resumption
        if resumption is None:
            return None
        record = next((each for each in self._turn.answered if each.call.id == call.id), None)
        if record is None:
            return None
        planned = Planned(call, raw_arguments(call), record)
        planned.response = resumption.state.responses.get(call.id)
        planned.earlier = planned.response is not None
        if planned.response is None:
            planned.callback = self._callback(call.name)
            planned.refusal = _unknown_tool(call.name, self._offered)
            record.took_effect = planned.callback is not None
        return planned

    async def _intercept(self, planned: Planned, callback: ToolCallback) -> None:
        """Let the interceptors, or the decision that a resumed turn brings, decide about a call."""
        resumption, call = self._turn.resumption, planned.call
        decision = resumption.decisions.get(call.id) if resumption is not None else None
        changed = decision.arguments if isinstance(decision, Allow) else None
        if decision is None:
            try:
                arguments = callback.read_arguments(planned.tool_input)
            except ToolArgumentsError as misfit:
                planned.refuse(str(misfit))
                return
            context = self._runner.context_of(planned)
            request = ToolCallRequest(call, arguments, callback.definition, callback.metadata, context)
            decision, changed = await decide(self._manager.interceptors, request)
            if arguments is not None:
                planned.tool_input = _as_text(call, arguments)  # what was judged is what runs
        if changed is not None and not isinstance(decision, Deny):
            planned.tool_input = _as_text(call, changed)
            planned.call = ToolCall(call.id, call.name, planned.tool_input, call.type, call.metadata)
            planned.record.call, planned.record.arguments = planned.call, dict(changed)
        if isinstance(decision, Answer):
            planned.callback = None
            planned.response = answered(planned.call, decision.result)
        elif isinstance(decision, Deny | Suspend):
            planned.refuse(decision.text if isinstance(decision, Deny) else WAITING_TEXT)
            planned.waits = decision.reason if isinstance(decision, Suspend) else None

    def _suspended(self, planned: list[Planned]) -> SuspendedTurn:
        return SuspendedTurn(
            messages=self._prompt.messages,
            assistant=self._generation.output.copy(tool_calls=tuple(each.call for each in planned)),
            responses={each.call.id: each.response or refused(each) for each in planned if each.waits is None},
            reasons={each.call.id: each.waits for each in planned if each.waits is not None},
            answered=tuple(self._turn.answered),
            round_usages=tuple(self._turn.round_usages),
            round_models=tuple(self._turn.round_models),
            nested={each.call.id: each.nested for each in planned if each.nested is not None},
        )

    def _plan(self, call: ToolCall) -> Planned:
        arguments = comparable_arguments(call)
        limits, turn = self._manager.limits, self._turn
        breach = limits.breach(call.name, turn)
        callback = self._callback(call.name) if breach is None else None
        repeated = callback is not None and self._is_repeated(callback, call, arguments)
        tool_input = raw_arguments(call)
        planned = Planned(call, tool_input, turn.record_call(call, arguments))
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

    def _result(self, planned: list[Planned]) -> ToolExecutionResult:
        responses = []
        direct = True
        for call in planned:
            response = call.response or refused(call)
            callback = call.callback or (self._callback(call.call.name) if call.response is not None else None)
            wanted = callback is not None and (callback.metadata.return_direct or RETURN_DIRECT in response.metadata)
            direct = direct and wanted and not response.is_error
            responses.append(response)
        message, calls = self._generation.output, tuple(call.call for call in planned)
        if any(call is not asked for call, asked in zip(calls, message.tool_calls, strict=True)):
            message = message.copy(tool_calls=calls)
        history = (*self._prompt.messages, message, ToolResponseMessage(responses))
        return ToolExecutionResult(history, direct)


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


def _unknown_tool(name: str, offered: Mapping[str, ToolCallback]) -> str:
    if not offered:
        return f"There is no tool {name!r}; no tools are available. Answer without tools."
    return f"There is no tool {name!r}. Available tools: {', '.join(offered)}."


def _carry(error: Exception, result: ToolExecutionResult) -> None:
    try:
        error.partial_result = result  # type: ignore[attr-defined]  # documented at DefaultToolCallingManager (R12)
    except AttributeError:
        error.add_note("What had run before is lost: this exception type takes no attributes.")
