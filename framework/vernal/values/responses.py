"""What a model answers: generations with their finish reasons, usage and metadata."""

import dataclasses
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Self

from vernal.values.mappings import EMPTY, frozen
from vernal.values.messages import AssistantMessage, ToolCall
from vernal.values.records import dataclass
from vernal.values.usage import EMPTY_USAGE, Usage


class FinishReason(StrEnum):
    """Why a generation ended, in one vocabulary for all providers; the raw reason is kept beside it."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    ERROR = "error"
    RETURN_DIRECT = "returnDirect"
    TOOL_CALL_LIMIT_EXCEEDED = "toolCallLimitExceeded"


CUT_OFF = frozenset({FinishReason.LENGTH, FinishReason.CONTENT_FILTER})
"""Finish reasons after which a tool call may be incomplete and is not run (R6)."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class RateLimit:
    """What a provider says about the caller's limits; counts in requests and tokens, resets in seconds."""

    requests_limit: int | None = None
    requests_remaining: int | None = None
    requests_reset: float | None = None
    tokens_limit: int | None = None
    tokens_remaining: int | None = None
    tokens_reset: float | None = None


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ChatGenerationMetadata:
    """Why a generation ended, and what else is known of it.

    `finish_reason` is in vernal's vocabulary, `native_finish_reason` as the provider said it. `properties` are such as
    `toolId`, `toolName`, `partialToolResponses`, `withheldToolCalls`.
    """

    finish_reason: str | None = None
    native_finish_reason: str | None = None
    properties: Mapping[str, Any] = EMPTY

    def __post_init__(self) -> None:
        object.__setattr__(self, "properties", frozen(self.properties))


NO_GENERATION_METADATA = ChatGenerationMetadata()


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Generation:
    """One answer of a model."""

    output: AssistantMessage
    metadata: ChatGenerationMetadata = NO_GENERATION_METADATA

    @property
    def finish_reason(self) -> str | None:
        """Short for `metadata.finish_reason`."""
        return self.metadata.finish_reason


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ChatResponseMetadata:
    """What is known of a response as a whole.

    `usage` is exact over all rounds of the turn; `round_usages` lists the rounds one by one (R22). `properties` holds
    what the provider said beyond the common fields (OAI-12).
    """

    id: str | None = None
    model: str | None = None
    usage: Usage = EMPTY_USAGE
    round_usages: tuple[Usage, ...] = ()
    rate_limit: RateLimit | None = None
    properties: Mapping[str, Any] = EMPTY

    def __post_init__(self) -> None:
        object.__setattr__(self, "properties", frozen(self.properties))

    def copy(self, **changes: Any) -> Self:
        """The same metadata with the named fields changed."""
        return dataclasses.replace(self, **changes)


NO_RESPONSE_METADATA = ChatResponseMetadata()


@dataclass(frozen=True, slots=True, weakref_slot=True, init=False)
class ChatResponse:
    """What a model answered: its generations (usually one), and metadata. A streamed chunk has the same form."""

    generations: tuple[Generation, ...]
    metadata: ChatResponseMetadata

    def __init__(
        self,
        generations: Iterable[Generation] = (),
        metadata: ChatResponseMetadata = NO_RESPONSE_METADATA,
    ) -> None:
        object.__setattr__(self, "generations", generations if type(generations) is tuple else tuple(generations))
        object.__setattr__(self, "metadata", metadata)

    @classmethod
    def of(
        cls,
        text: str | None = None,
        *,
        tool_calls: Iterable[ToolCall] = (),
        finish_reason: str | None = None,
        reasoning: str | None = None,
        usage: Usage = EMPTY_USAGE,
    ) -> Self:
        """A response of one generation, for tests and simple models."""
        output = AssistantMessage(text, tool_calls, reasoning=reasoning)
        reason = finish_reason or (FinishReason.TOOL_CALLS if output.tool_calls else FinishReason.STOP)
        metadata = NO_RESPONSE_METADATA if usage is EMPTY_USAGE else ChatResponseMetadata(usage=usage)
        return cls((Generation(output, ChatGenerationMetadata(reason)),), metadata)

    @property
    def result(self) -> Generation | None:
        """The first generation, None where there is none."""
        return self.generations[0] if self.generations else None

    @property
    def text(self) -> str | None:
        """The text of the first generation, None where there is none."""
        return self.generations[0].output.text if self.generations else None

    @property
    def finish_reason(self) -> str | None:
        """Why the first generation ended."""
        return self.generations[0].metadata.finish_reason if self.generations else None

    @property
    def usage(self) -> Usage:
        """Short for `metadata.usage`."""
        return self.metadata.usage

    @property
    def tool_calling_generation(self) -> Generation | None:
        """The first generation that asks for tools (TCM-16, TCM-17)."""
        for generation in self.generations:
            if generation.output.tool_calls:
                return generation
        return None

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the first generation that has some."""
        generation = self.tool_calling_generation
        return generation.output.tool_calls if generation is not None else ()

    @property
    def has_tool_calls(self) -> bool:
        """Whether any generation asks for tools (PRM-01)."""
        return self.tool_calling_generation is not None

    def has_finish_reasons(self, *reasons: str) -> bool:
        """Whether a generation ended for one of `reasons`, compared case-insensitively (PRM-02)."""
        wanted = {reason.casefold() for reason in reasons}
        return any((generation.finish_reason or "").casefold() in wanted for generation in self.generations)

    def copy(self, **changes: Any) -> Self:
        """The same response with the named fields changed."""
        return type(self)(
            changes.pop("generations", self.generations), changes.pop("metadata", self.metadata), **changes
        )

    def with_usage(self, usage: Usage, rounds: tuple[Usage, ...] = ()) -> Self:
        """The same response with another usage; id, model and all else are kept (UCA-06)."""
        return self.copy(metadata=self.metadata.copy(usage=usage, round_usages=rounds))
