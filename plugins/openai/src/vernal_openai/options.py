"""Options of OpenAI's chat models, beyond those that all models share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from vernal import ChatOptions, ToolCallingChatOptions, check_range, frozen, merge_options

RESERVED = frozenset({"messages", "stream"})


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class OpenAiChatOptions(ToolCallingChatOptions):
    """What to ask of an OpenAI-compatible chat model; None: not set here, another layer or the service decides.

    - `reasoning_effort`: how long a reasoning model thinks, such as `"minimal"`, `"low"`, `"medium"`, `"high"`.
    - `thinking`: whether to think at all, for services that have a switch for it (`Profile.thinking`).
    - `verbosity`: how long answers are: `"low"`, `"medium"`, `"high"`.
    - `n`: how many answers to give; each is a generation of the response.
    - `logprobs`, `top_logprobs`: log-probabilities, found under `logprobs` of the generation's properties.
    - `strict`: whether arguments must follow the tools' schemas to the letter; optional ones become nullable (OAI-11).
    - `modalities`, `audio`: `("text", "audio")` and `{"voice": "alloy", "format": "wav"}` have the answer spoken: the
      sound is in the message's `media`, what is said is its text. Streams take the format `"pcm16"` alone.
    - `prediction`: what much of the answer is known to be. `web_search_options`: for models that search.
    - `prompt_cache_key`, `safety_identifier`: what requests have in common; who asks, in a form that tells nothing.
    - `output_schema_name`: the name of the `output_schema`, `"answer"` by default.
    - `stream_usage`: whether a stream reports its usage; True by default.
    - `extra_body`: further members of the request, which win over the others.

    Raises:
        TypeError, ValueError: a number is of the wrong kind or out of range, or `extra_body` has a reserved member.
    """

    reasoning_effort: str | None = None
    thinking: bool | None = None
    verbosity: str | None = None
    n: int | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    logit_bias: Mapping[str, float] | None = None
    seed: int | None = None
    service_tier: str | None = None
    strict: bool | None = None
    output_schema_name: str | None = None
    user: str | None = None
    store: bool | None = None
    metadata: Mapping[str, str] | None = None
    modalities: Sequence[str] | None = None
    audio: Mapping[str, Any] | None = None
    prediction: Mapping[str, Any] | None = None
    web_search_options: Mapping[str, Any] | None = None
    prompt_cache_key: str | None = None
    safety_identifier: str | None = None
    stream_usage: bool | None = None
    extra_body: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        ToolCallingChatOptions.__post_init__(self)
        check_range("n", self.n, 1, kind=int)
        check_range("top_logprobs", self.top_logprobs, 0, 20, kind=int)
        if self.modalities is not None:
            if isinstance(self.modalities, str):
                raise TypeError(f"modalities is {self.modalities!r}; a sequence such as ('text', 'audio') is wanted")
            object.__setattr__(self, "modalities", tuple(self.modalities))
        for name in ("logit_bias", "metadata", "audio", "prediction", "web_search_options", "extra_body"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, frozen(value))
        taken = RESERVED & set(self.extra_body or ())
        if taken:
            raise ValueError(f"extra_body has {sorted(taken)!r}, which the model sets itself; leave them out")


def on_top_of(base: OpenAiChatOptions, options: ChatOptions | None) -> OpenAiChatOptions:
    """`options` on top of `base`, field by field; fields that OpenAI does not know are left out (R26)."""
    return cast("OpenAiChatOptions", merge_options(base, options))


PLAIN_FIELDS = (
    "model",
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "frequency_penalty",
    "presence_penalty",
    "reasoning_effort",
    "verbosity",
    "n",
    "logprobs",
    "top_logprobs",
    "logit_bias",
    "seed",
    "service_tier",
    "user",
    "store",
    "metadata",
    "modalities",
    "audio",
    "prediction",
    "web_search_options",
    "prompt_cache_key",
    "safety_identifier",
)
"""The options that are members of the request, under these names or those of the profile."""
