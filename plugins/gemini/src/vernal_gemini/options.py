"""Options of Gemini's chat models, beyond those that all models share."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from vernal import ChatOptions, ToolCallingChatOptions, check_range, frozen, merge_options

RESERVED = frozenset({"contents"})
_GENERATION = re.compile(r"gemini-(\d+)")


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class GeminiChatOptions(ToolCallingChatOptions):
    """What to ask of one of Gemini's models; None: not set here, another layer or the service decides.

    - `candidate_count`: how many answers to give; each is a generation of the response.
    - `thinking_budget`: tokens to think with; 0: none, -1: the model decides. `thinking_level`: how hard the newer
      models think: `"low"`, `"high"`. `include_thoughts`: whether a summary of it is found in `reasoning`.
    - `seed`, `logprobs`: repeatable answers; log-probabilities of so many tokens at each place.
    - `safety_settings`: thresholds by category, such as
      `{"HARM_CATEGORY_HARASSMENT": "BLOCK_ONLY_HIGH"}`.
    - `cached_content`: the name of a cached prompt.
    - `generation_config`: further members of the request's `generationConfig`; `extra_body`: of the request itself.
      They win over the others; `tools` in `extra_body`, such as `{"googleSearch": {}}`, are added to the tools.

    Raises:
        TypeError, ValueError: a number is of the wrong kind or out of range, or `extra_body` has a reserved member.
    """

    candidate_count: int | None = None
    thinking_budget: int | None = None
    thinking_level: str | None = None
    include_thoughts: bool | None = None
    seed: int | None = None
    logprobs: int | None = None
    safety_settings: Mapping[str, str] | None = None
    cached_content: str | None = None
    generation_config: Mapping[str, Any] | None = None
    extra_body: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        ToolCallingChatOptions.__post_init__(self)
        check_range("candidate_count", self.candidate_count, 1, kind=int)
        check_range("thinking_budget", self.thinking_budget, -1, kind=int)
        check_range("logprobs", self.logprobs, 0, 20, kind=int)
        for name in ("safety_settings", "generation_config", "extra_body"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, frozen(value))
        taken = RESERVED & set(self.extra_body or ())
        if taken:
            raise ValueError(f"extra_body has {sorted(taken)!r}, which the model sets itself; leave them out")


def on_top_of(base: GeminiChatOptions, options: ChatOptions | None) -> GeminiChatOptions:
    """`options` on top of `base`, field by field; fields that Gemini does not know are left out (R26)."""
    return cast("GeminiChatOptions", merge_options(base, options))


def generation(model: str | None) -> int:
    """The generation that a model is of, by its name; 0 where that does not tell."""
    found = _GENERATION.search(model or "")
    return int(found[1]) if found else 0


CONFIG_FIELDS: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "max_tokens": "maxOutputTokens",
    "stop_sequences": "stopSequences",
    "candidate_count": "candidateCount",
    "seed": "seed",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
}
"""The options that are members of the request's `generationConfig`, and their names there."""
THINKING_FIELDS: Mapping[str, str] = {
    "thinking_budget": "thinkingBudget",
    "thinking_level": "thinkingLevel",
    "include_thoughts": "includeThoughts",
}
