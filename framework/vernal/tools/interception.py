"""Deciding about tool calls before they run: allow, change, deny, or wait for somebody's word."""

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import field
from itertools import zip_longest
from typing import Any, Self

from vernal.errors import UsageError, VernalError
from vernal.tools.context import ToolContext
from vernal.tools.definition import ToolDefinition, ToolEffects, ToolMetadata
from vernal.values.choices import chosen
from vernal.values.messages import AssistantMessage, Message, ToolCall, ToolResponse
from vernal.values.records import dataclass
from vernal.values.serialization import (
    dump_call,
    dump_messages,
    dump_response,
    load_call,
    load_messages,
    load_response,
)
from vernal.values.turn import AnsweredCall, Turn
from vernal.values.usage import Usage

RESUMPTION = "vernal.resumption"
"""The context entry of a turn that goes on where it was suspended."""

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Allow:
    """The call runs; with `arguments` it runs with these, and the history says so."""

    arguments: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Deny:
    """The call does not run; the model is told `text`."""

    text: str = "This tool call was denied."


@dataclass(frozen=True, slots=True)
class Answer:
    """The call does not run; the model is told `result` as if the tool had given it.

    For what comes from elsewhere: a cache, a person who was asked, a client that has run the tool itself.
    """

    result: Any


@dataclass(frozen=True, slots=True)
class Suspend:
    """The call waits for a decision from outside: the turn ends with `TurnSuspended`, and can be resumed."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallRequest:
    """A tool call that is about to run.

    `arguments` are JSON values that fit the tool: what does not fit is answered before anybody is asked (R5). None
    where a tool takes something else than an object.
    """

    call: ToolCall
    arguments: Mapping[str, Any] | None
    definition: ToolDefinition
    metadata: ToolMetadata
    context: ToolContext


Decision = Allow | Deny | Answer | Suspend
ToolCallInterceptor = Callable[[ToolCallRequest], Decision | Awaitable[Decision | None] | None]
"""Decides about a call; None means: allow. A plain function or an `async` one. What it raises ends the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspendedTurn:
    """A turn that waits for decisions, as data: `to_json()` can be stored, and resumed in another process.

    `pending` are the calls that wait, `reasons` why, by id; `responses` what the other calls of the round have given,
    by id: none of them runs again. A call waits too whose tool has asked another assistant that waits: `nested` has
    that assistant's turn, by the id of the call. Resume it first, and give what comes of it as `Answer(…)`; with
    `Allow()` the tool would ask anew.
    """

    messages: tuple[Message, ...]
    assistant: AssistantMessage
    responses: Mapping[str, ToolResponse]
    reasons: Mapping[str, str]
    answered: tuple[AnsweredCall, ...]
    round_usages: tuple[Usage, ...]
    round_models: tuple[str | None, ...] = ()
    nested: "Mapping[str, SuspendedTurn]" = field(default_factory=dict)

    @property
    def pending(self) -> tuple[ToolCall, ...]:
        """The calls that wait for a decision, in their order."""
        return tuple(call for call in self.assistant.tool_calls if call.id in self.reasons)

    def to_json(self) -> str:
        """The whole as JSON text.

        Raises:
            TypeError: metadata of a message hold something that is no JSON value.
        """
        answered = [
            {"call": dump_call(a.call), "arguments": a.arguments and dict(a.arguments), "took_effect": a.took_effect}
            for a in self.answered
        ]
        return json.dumps(
            {
                "format": _FORMAT,
                "messages": dump_messages(self.messages),
                "assistant": dump_messages([self.assistant])[0],
                "responses": [dump_response(response) for response in self.responses.values()],
                "reasons": dict(self.reasons),
                "answered": answered,
                "round_usages": [_dump_usage(usage) for usage in self.round_usages],
                "round_models": self.round_models,
                "nested": {call_id: state.to_json() for call_id, state in self.nested.items()},
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The suspended turn that `to_json` made `text` of.

        Raises:
            ValueError: the text is none, or of a format that this version does not know.
        """
        value = json.loads(text)
        if not isinstance(value, dict) or value.get("format") != _FORMAT:
            raise ValueError(f"this is no suspended turn of format {_FORMAT}, which SuspendedTurn.to_json() makes")
        (assistant,) = load_messages([value["assistant"]])
        if not isinstance(assistant, AssistantMessage):
            raise ValueError("the message with the tool calls is no assistant message")
        responses = [load_response(response) for response in value["responses"]]
        return cls(
            messages=load_messages(value["messages"]),
            assistant=assistant,
            responses={response.id: response for response in responses},
            reasons=value["reasons"],
            answered=tuple(
                AnsweredCall(load_call(each["call"]), each["arguments"], each["took_effect"])
                for each in value["answered"]
            ),
            round_usages=tuple(Usage(**usage) for usage in value["round_usages"]),
            round_models=tuple(value.get("round_models", ())),
            nested={call_id: cls.from_json(inner) for call_id, inner in value.get("nested", {}).items()},
        )


class TurnSuspended(VernalError):
    """A turn waits for decisions about tool calls; `state` is the `SuspendedTurn`.

    It goes on with `client.prompt().tools(…).resume(state, {call_id: Allow(), Deny(…) or Answer(…)})`.
    """

    def __init__(self, state: SuspendedTurn) -> None:
        names = ", ".join(f"{call.name} ({call.id})" for call in state.pending)
        super().__init__(f"the turn waits for a decision about {names}; go on with .resume(error.state, decisions)")
        self.state = state

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.state,)


@dataclass(slots=True, eq=False)
class Resumption:
    """A suspended turn and the decisions that it goes on with; taken up once.

    Raises:
        ValueError: a pending call has no decision, or a decision is about no pending call.
    """

    state: SuspendedTurn
    decisions: Mapping[str, Decision]
    _taken: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        pending = {call.id for call in self.state.pending}
        missing, unknown = sorted(pending - set(self.decisions)), sorted(set(self.decisions) - pending)
        if missing or unknown:
            text = f"no decision is given about {', '.join(missing)}" if missing else ""
            text += f"{'; ' if text else ''}nothing waits under {', '.join(unknown)}" if unknown else ""
            raise ValueError(f"{text}; a decision is wanted for each of {', '.join(sorted(pending))}, and no other")

    def take(self) -> "Resumption":
        """This resumption, the first time.

        Raises:
            UsageError: it has been taken up already; what ran then would run twice.
        """
        if self._taken:
            raise UsageError("this suspended turn has been resumed already; its tools would run twice")
        self._taken = True
        return self

    def restore(self, turn: Turn) -> None:
        """Give `turn` the record of what happened before the suspension."""
        for answered in self.state.answered:
            turn.record_call(answered.call, answered.arguments).took_effect = answered.took_effect
        for usage, model in zip_longest(self.state.round_usages, self.state.round_models):
            turn.record_usage(usage, model)
        turn.resumption = self


class ApprovalInterceptor:
    """Suspends calls of tools whose declared effects need somebody's word, by default destructive ones."""

    def __init__(self, effects: Iterable[ToolEffects | str] = (ToolEffects.DESTRUCTIVE,)) -> None:
        self.effects = frozenset(chosen("among the effects", effect, ToolEffects) for effect in effects)

    def __call__(self, request: ToolCallRequest) -> Decision | None:
        """Suspend, or say nothing."""
        effects = request.metadata.effects
        if effects in self.effects:
            return Suspend(f"the tool {request.definition.name} is {effects}")
        return None


async def decide(
    interceptors: Iterable[ToolCallInterceptor], request: ToolCallRequest
) -> tuple[Decision, Mapping[str, Any] | None]:
    """What the interceptors say of a call: the first that denies, answers or suspends, else allowed; and the arguments
    as those before it have changed them, None where none has.
    """
    changed: Mapping[str, Any] | None = None
    for interceptor in interceptors:
        decision = interceptor(request)
        if inspect.isawaitable(decision):
            decision = await decision
        if isinstance(decision, Deny | Answer | Suspend):
            return decision, changed
        if isinstance(decision, Allow) and decision.arguments is not None:
            changed = decision.arguments
            request = ToolCallRequest(request.call, changed, request.definition, request.metadata, request.context)
        elif decision is not None and not isinstance(decision, Allow):
            raise TypeError(
                f"a tool call interceptor gave {decision!r}; Allow, Deny, Answer, Suspend or None is wanted"
            )
    return Allow(), changed


def _dump_usage(usage: Usage) -> dict[str, Any]:
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    parts = ("cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
    return {name: value for name in (*names, *parts) if (value := getattr(usage, name)) is not None}
