"""What keeps a history replayable (R1): ids that match, no call that was cut off, no call without its answer."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from uuid import uuid4

from vernal.values.arguments import is_json_object, normalise
from vernal.values.messages import AssistantMessage, Message, ToolCall, ToolResponse, ToolResponseMessage
from vernal.values.responses import CUT_OFF, ChatGenerationMetadata, ChatResponse, Generation

WITHHELD_TOOL_CALLS = "withheldToolCalls"
"""Generation property that holds the tool calls which were cut off, and therefore neither run nor kept (R6)."""

NOT_EXECUTED = "This tool call was not executed."


def withhold_cut_off_calls(response: ChatResponse) -> ChatResponse:
    """Move the tool calls of a generation that was cut off (finish reason `length` or a filter) out of its message.

    They are found under `withheldToolCalls` of the generation's properties; the finish reason says why (R6). A response
    without such a generation is given back itself.
    """
    generations = response.generations
    if not any(g.output.tool_calls and g.metadata.finish_reason in CUT_OFF for g in generations):
        return response
    return response.copy(generations=tuple(_without_calls(g) if _is_cut_off(g) else g for g in generations))


def repair_calls(response: ChatResponse, used: set[str]) -> ChatResponse:
    """Make the tool calls of `response` fit for a history: unique ids (R8), arguments that are JSON objects (R1).

    A call without an id, or with one in `used`, gets a new unique one; all ids are noted in `used`. A response that
    needs no repair is given back itself.
    """
    changed = False
    generations = []
    for generation in response.generations:
        message = generation.output
        if message.tool_calls:
            calls = tuple(_with_unique_id(normalise(call)[0], used) for call in message.tool_calls)
            if any(new is not old for new, old in zip(calls, message.tool_calls, strict=True)):
                changed = True
                generation = Generation(message.copy(tool_calls=calls), generation.metadata)
        generations.append(generation)
    return response.copy(generations=tuple(generations)) if changed else response


def replay_faults(messages: Iterable[Message]) -> list[str]:
    """What makes `messages` no replayable history, one sentence a fault; empty where all is well (R1)."""
    faults: list[str] = []
    open_ids: list[str] = []
    for index, message in enumerate(messages):
        if isinstance(message, ToolResponseMessage):
            given = [response.id for response in message.responses]
            if sorted(given) != sorted(open_ids):
                faults.append(f"message {index} answers the calls {given!r}, but {open_ids!r} are to be answered there")
            open_ids = []
            continue
        if open_ids:
            faults.append(f"message {index} follows the tool calls {open_ids!r}, which are not answered")
        open_ids = []
        if isinstance(message, AssistantMessage):
            open_ids = [call.id for call in message.tool_calls]
            faults += _call_faults(index, message.tool_calls)
    if open_ids:
        faults.append(f"the conversation ends with the tool calls {open_ids!r}, which are not answered")
    return faults


def replayable(
    messages: Sequence[Message], *, foreign: bool = False, known: tuple[Message, ...] = ()
) -> tuple[Message, ...]:
    """`messages` so that each call is answered once, directly behind its message (R1); themselves where they are so.

    Answers that stand apart from their calls, or in several messages, are brought together; a call without one is
    answered by an error, an answer without a call is left out. Blank and repeated ids become unique, in both messages.
    Of `foreign` messages, that no loop of ours has made, arguments that are no JSON object are repaired too, and ids
    that an earlier message has. Where they begin with `known`, messages that this function gave, only the rest is
    looked at: a long conversation costs what is new in it.
    """
    begin = len(known)
    if _is_replayable(messages[begin:] if begin and messages[:begin] == known else messages, foreign):
        return tuple(messages)
    used: set[str] = set()
    repaired: list[Message] = []
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage) and message.tool_calls:
            repaired += _answered(message, messages[index + 1 :], used if foreign else set())
        elif not isinstance(message, ToolResponseMessage):
            repaired.append(message)
    return tuple(repaired)


def _is_cut_off(generation: Generation) -> bool:
    return bool(generation.output.tool_calls) and generation.metadata.finish_reason in CUT_OFF


def _without_calls(generation: Generation) -> Generation:
    metadata = generation.metadata
    return Generation(
        generation.output.copy(tool_calls=()),
        ChatGenerationMetadata(
            metadata.finish_reason,
            metadata.native_finish_reason,
            {**metadata.properties, WITHHELD_TOOL_CALLS: generation.output.tool_calls},
        ),
    )


def _with_unique_id(call: ToolCall, used: set[str]) -> ToolCall:
    if call.id and call.id.strip() and call.id not in used:
        used.add(call.id)
        return call
    unique = f"call_{uuid4().hex[:24]}"
    used.add(unique)
    return ToolCall(unique, call.name, call.arguments, call.type, call.metadata)


def _call_faults(index: int, calls: tuple[ToolCall, ...]) -> list[str]:
    faults = []
    ids = [call.id for call in calls]
    if len(set(ids)) != len(ids) or not all(ids):
        faults.append(f"message {index} has the call ids {ids!r}; unique, non-blank ids are wanted")
    faults += [
        f"message {index}: the arguments of call {call.id!r} are {call.arguments!r}, no JSON object"
        for call in calls
        if not is_json_object(call.arguments)
    ]
    return faults


def _is_replayable(messages: Sequence[Message], foreign: bool) -> bool:
    open_ids: list[str] = []
    used: set[str] = set()
    for message in messages:
        if isinstance(message, ToolResponseMessage):
            given = [response.id for response in message.responses]
            if given != open_ids and sorted(given) != sorted(open_ids):
                return False
            open_ids = []
        elif open_ids:
            return False
        elif isinstance(message, AssistantMessage) and message.tool_calls:
            open_ids = [call.id for call in message.tool_calls]
            if len(set(open_ids)) != len(open_ids) or not all(map(str.strip, open_ids)):
                return False
            if foreign:
                if not used.isdisjoint(open_ids) or not all(is_json_object(c.arguments) for c in message.tool_calls):
                    return False
                used.update(open_ids)
    return not open_ids


def _answered(
    message: AssistantMessage, following: Sequence[Message], used: set[str]
) -> tuple[AssistantMessage, ToolResponseMessage]:
    """The message with its calls repaired, and one with their answers, found in what follows."""
    found = _answers(message.tool_calls, following)
    calls, answers = [], []
    for call in message.tool_calls:
        fit = _with_unique_id(normalise(call)[0], used)
        waiting = found.get(call.id)
        answer = waiting.pop(0) if waiting else ToolResponse(call.id, call.name, NOT_EXECUTED, is_error=True)
        calls.append(fit)
        answers.append(answer if answer.id == fit.id else replace(answer, id=fit.id))
    if any(new is not old for new, old in zip(calls, message.tool_calls, strict=True)):
        message = message.copy(tool_calls=calls)
    first = following[0] if following else None
    if not isinstance(first, ToolResponseMessage):
        return message, ToolResponseMessage(answers)
    if len(first.responses) == len(answers) and all(
        any(one is answer for answer in answers) for one in first.responses
    ):
        return message, first
    return message, ToolResponseMessage(answers, first.metadata)


def _answers(calls: tuple[ToolCall, ...], following: Sequence[Message]) -> dict[str, list[ToolResponse]]:
    """The answers to `calls` by id, up to where a later message has a call of the same id."""
    found: dict[str, list[ToolResponse]] = {call.id: [] for call in calls}
    for message in following:
        if isinstance(message, AssistantMessage) and any(call.id in found for call in message.tool_calls):
            break
        if isinstance(message, ToolResponseMessage):
            for response in message.responses:
                if response.id in found:
                    found[response.id].append(response)
    return found
