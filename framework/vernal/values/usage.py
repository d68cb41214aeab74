"""Token usage: one meaning for all providers, summed exactly over the rounds of a turn (R22)."""

from typing import Any

from vernal.values.records import dataclass


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Usage:
    """Tokens of one model request, or of several together.

    `prompt_tokens` is all input, cached tokens included; `completion_tokens` all output, reasoning included.
    `total_tokens` defaults to their sum. The cache and reasoning counts are parts of these, None where the provider
    does not say. `native` is the provider's own usage object; sums have none (UCA-04).
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    native: Any = None

    def __post_init__(self) -> None:
        if self.total_tokens is None:
            object.__setattr__(self, "total_tokens", self.prompt_tokens + self.completion_tokens)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was reported."""
        return not (self.prompt_tokens or self.completion_tokens or self.total_tokens)

    def __add__(self, other: "Usage") -> "Usage":
        """The sum of both; an empty side gives the other side itself (UCA-02)."""
        if other.is_empty:
            return self
        if self.is_empty:
            return other
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            total_tokens=(self.total_tokens or 0) + (other.total_tokens or 0),
            cache_read_tokens=_sum(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens=_sum(self.cache_write_tokens, other.cache_write_tokens),
            reasoning_tokens=_sum(self.reasoning_tokens, other.reasoning_tokens),
        )


EMPTY_USAGE = Usage()


def _sum(left: int | None, right: int | None) -> int | None:
    if left is None:
        return right
    return left if right is None else left + right
