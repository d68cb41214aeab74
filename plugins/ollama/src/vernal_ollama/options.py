"""Options of Ollama's chat models, beyond those that all models share."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from vernal import ChatOptions, ToolCallingChatOptions, check_range, frozen, merge_options

RESERVED = frozenset({"messages", "stream"})

_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class OllamaChatOptions(ToolCallingChatOptions):
    """What to ask of a model that Ollama runs; None: not set here, another layer, the model or Ollama decides.

    - `think`: whether the model thinks first, or how hard: True, False, `"low"`, `"medium"`, `"high"`.
    - `keep_alive`: how long the model stays in memory: seconds, or a duration such as `"5m"`; -1: for good, 0: not.
    - `num_ctx`: tokens of context; what does not fit in is cut away by Ollama without a word.
    - `seed`, `min_p`, `typical_p`, `repeat_penalty`, `repeat_last_n`, `num_keep`: how tokens are drawn.
    - `num_batch`, `num_gpu`, `main_gpu`, `num_thread`, `use_mmap`: how the model runs.
    - `logprobs`, `top_logprobs`: log-probabilities, found under `logprobs` of the response's properties.
    - `runner_options`: further members of the request's `options`; `extra_body`: of the request itself. They win.

    `max_tokens` is Ollama's `num_predict`. Ollama has no tool choice but none: with `tool_choice="none"` no tools are
    shown, and with the name of a tool that one alone.

    Raises:
        TypeError, ValueError: a number is of the wrong kind or out of range, or `extra_body` has a reserved member.
    """

    think: bool | str | None = None
    keep_alive: str | float | None = None
    num_ctx: int | None = None
    seed: int | None = None
    min_p: float | None = None
    typical_p: float | None = None
    repeat_penalty: float | None = None
    repeat_last_n: int | None = None
    num_keep: int | None = None
    num_batch: int | None = None
    num_gpu: int | None = None
    main_gpu: int | None = None
    num_thread: int | None = None
    use_mmap: bool | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    runner_options: Mapping[str, Any] | None = None
    extra_body: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        ToolCallingChatOptions.__post_init__(self)
        check_range("num_ctx", self.num_ctx, 1, kind=int)
        check_range("min_p", self.min_p, 0, 1)
        check_range("top_logprobs", self.top_logprobs, 0, 20, kind=int)
        if isinstance(self.think, str) and self.think.lower() in ("true", "false"):
            object.__setattr__(self, "think", self.think.lower() == "true")
        if isinstance(self.keep_alive, str) and _NUMBER.fullmatch(self.keep_alive):
            object.__setattr__(self, "keep_alive", float(self.keep_alive))  # as a text it would need a unit
        for name in ("runner_options", "extra_body"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, frozen(value))
        taken = RESERVED & set(self.extra_body or ())
        if taken:
            raise ValueError(f"extra_body has {sorted(taken)!r}, which the model sets itself; leave them out")


def on_top_of(base: OllamaChatOptions, options: ChatOptions | None) -> OllamaChatOptions:
    """`options` on top of `base`, field by field; fields that Ollama does not know are left out (R26)."""
    return cast("OllamaChatOptions", merge_options(base, options))


ROOT_FIELDS = ("model", "think", "keep_alive", "logprobs", "top_logprobs")
"""The options that are members of the request itself."""

RUNNER_FIELDS: Mapping[str, str] = {
    "max_tokens": "num_predict",
    "stop_sequences": "stop",
    **{
        name: name
        for name in (
            "temperature",
            "top_p",
            "top_k",
            "frequency_penalty",
            "presence_penalty",
            "num_ctx",
            "seed",
            "min_p",
            "typical_p",
            "repeat_penalty",
            "repeat_last_n",
            "num_keep",
            "num_batch",
            "num_gpu",
            "main_gpu",
            "num_thread",
            "use_mmap",
        )
    },
}
"""The options that are members of the request's `options`, and their names there."""
