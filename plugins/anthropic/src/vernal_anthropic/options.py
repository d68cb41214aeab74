"""Options of Anthropic's chat models, beyond those that all models share."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from vernal import ChatOptions, ToolCallingChatOptions, check_range, frozen, merge_options

RESERVED = frozenset({"messages", "stream"})
CACHED = ("tools", "system", "messages")
LEAST_THINKING = 1024
DEFAULT_MAX_TOKENS = 4096


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class AnthropicChatOptions(ToolCallingChatOptions):
    """What to ask of one of Anthropic's models; None: not set here, another layer or the service decides.

    - `max_tokens`: the service wants it; 4096 where nobody sets it, beside those of `thinking_budget`.
    - `thinking_budget`: tokens to think with before the answer, at least 1024; 0: no thinking.
    - `thinking`: `"adaptive"`, the model decides how much, or `"disabled"`; a budget goes before it.
    - `effort`: how much trouble the model takes: `"low"`, `"medium"`, `"high"`, `"max"`.
    - `cache`: what is marked for the prompt cache, among `"tools"`, `"system"` and `"messages"`; each mark stands at
      the end of its part, and covers what is before it in this order. `cache_ttl`: how long: `"5m"` or `"1h"`.
    - `strict`: whether arguments must follow the tools' schemas to the letter.
    - `user`: an opaque id of the end user; `service_tier`: `"auto"` or `"standard_only"`.
    - `extra_body`: further members of the request, which win over the others; `tools` among them, such as those that
      the service runs itself, are added to the tools.

    Raises:
        TypeError, ValueError: a number is of the wrong kind or out of range, `cache` names something else, or
            `extra_body` has a reserved member.
    """

    thinking_budget: int | None = None
    thinking: str | None = None
    effort: str | None = None
    cache: tuple[str, ...] | None = None
    cache_ttl: str | None = None
    strict: bool | None = None
    user: str | None = None
    service_tier: str | None = None
    extra_body: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        ToolCallingChatOptions.__post_init__(self)
        check_range("thinking_budget", self.thinking_budget, 0, kind=int)
        if self.thinking_budget is not None and 0 < self.thinking_budget < LEAST_THINKING:
            raise ValueError(f"thinking_budget is {self.thinking_budget!r}; 0 or at least {LEAST_THINKING} is wanted")
        if self.cache is not None:
            object.__setattr__(self, "cache", _cached(self.cache))
        if self.extra_body is not None:
            object.__setattr__(self, "extra_body", frozen(self.extra_body))
        taken = RESERVED & set(self.extra_body or ())
        if taken:
            raise ValueError(f"extra_body has {sorted(taken)!r}, which the model sets itself; leave them out")


def on_top_of(base: AnthropicChatOptions, options: ChatOptions | None) -> AnthropicChatOptions:
    """`options` on top of `base`, field by field; fields that Anthropic does not know are left out (R26)."""
    return cast("AnthropicChatOptions", merge_options(base, options))


def _cached(parts: Iterable[str]) -> tuple[str, ...]:
    given = (parts,) if isinstance(parts, str) else tuple(parts)
    unknown = [part for part in given if part not in CACHED]
    if unknown:
        raise ValueError(f"cache has {unknown!r}; among {', '.join(map(repr, CACHED))} is wanted")
    return given
