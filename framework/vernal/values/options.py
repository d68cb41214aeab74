"""Chat options and their layers: model < client < request, field by field (R26)."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from vernal.values.mappings import frozen
from vernal.values.records import dataclass

if TYPE_CHECKING:
    from vernal.tools.callback import ToolCallback


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class ChatOptions:
    """What to ask of a model; None means: not set here, another layer or the provider decides.

    Providers subclass it and add their own fields. `temperature` and `top_p` are plain numbers as the provider
    understands them, `max_tokens` counts output tokens.

    Raises:
        TypeError, ValueError: a number is of the wrong kind or out of range.
    """

    model: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    top_k: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    stop_sequences: Sequence[str] | None = None
    output_schema: Mapping[str, Any] | None = None
    """JSON schema that the answer must satisfy, for providers with native structured output."""

    def __post_init__(self) -> None:
        if self.stop_sequences is not None and type(self.stop_sequences) is not tuple:
            if isinstance(self.stop_sequences, str):
                raise TypeError(f"stop_sequences is {self.stop_sequences!r}; a sequence of strings is wanted")
            object.__setattr__(self, "stop_sequences", tuple(self.stop_sequences))
        if self.output_schema is not None:
            object.__setattr__(self, "output_schema", frozen(self.output_schema))
        check_range("temperature", self.temperature, 0)
        check_range("top_p", self.top_p, 0, 1)
        check_range("max_tokens", self.max_tokens, 1, kind=int)
        check_range("top_k", self.top_k, 0, kind=int)

    def copy(self, **changes: Any) -> Self:
        """The same options with the named fields changed."""
        return dataclasses.replace(self, **changes)

    def combine_with(self, other: "ChatOptions | None") -> "ChatOptions":
        """These options with what `other` sets on top: its fields win where set; tool callbacks of both are joined
        (these first), tool contexts are merged, the other's entries winning (OPT-13)."""
        if other is None or other is self:
            return self
        merged = merge_options(self, other)
        if isinstance(self, ToolCallingChatOptions) and isinstance(other, ToolCallingChatOptions):
            joined = (*(self.tool_callbacks or ()), *(other.tool_callbacks or ()))
            return merged.copy(tool_callbacks=joined) if joined else merged
        return merged


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class ToolCallingChatOptions(ChatOptions):
    """Chat options of a model that can call tools.

    `tool_callbacks` are the tools on offer, `tool_context` is handed to tools and never shown to the model.
    `tool_choice` is `"auto"`, `"none"`, `"required"` or the name of a tool.
    """

    tool_callbacks: "Sequence[ToolCallback] | None" = None
    tool_context: Mapping[str, Any] | None = None
    tool_choice: str | None = None
    parallel_tool_calls: bool | None = None

    def __post_init__(self) -> None:
        ChatOptions.__post_init__(self)
        if self.tool_callbacks is not None and type(self.tool_callbacks) is not tuple:
            object.__setattr__(self, "tool_callbacks", _callbacks(self.tool_callbacks))
        if self.tool_context is not None:
            for key in self.tool_context:
                if not isinstance(key, str) or not key.strip():
                    raise ValueError(f"tool_context has the key {key!r}; non-blank strings are wanted")
            object.__setattr__(self, "tool_context", frozen(self.tool_context))

    def without_forced_call(self) -> Self:
        """These options with the choice left to the model, where it is forced to call a tool; else themselves."""
        if self.tool_choice is None or self.tool_choice in ("auto", "none"):
            return self
        return self.copy(tool_choice="auto")


def merge_options(base: ChatOptions | None, runtime: ChatOptions | None) -> ChatOptions:
    """`runtime` on top of `base`: a field set in `runtime` wins; tool callbacks replace (OPT-08), tool contexts are
    merged with the runtime's entries winning (OPT-09).

    The result has the type of `base`, or of `runtime` where that is more derived (CCU-03).
    """
    if base is None:
        return runtime if runtime is not None else ToolCallingChatOptions()
    if runtime is None or runtime is base:
        return base
    kind = type(runtime) if isinstance(runtime, type(base)) else type(base)
    names = _field_names(kind)
    values = {name: value for name in _field_names(type(base)) if (value := getattr(base, name)) is not None}
    context = values.get("tool_context")
    for name in _field_names(type(runtime)):
        value = getattr(runtime, name)
        if value is not None and name in names:
            values[name] = value
    if context and values["tool_context"] is not context:
        values["tool_context"] = {**context, **values["tool_context"]}
    if not values.get("tool_callbacks") and isinstance(base, ToolCallingChatOptions) and base.tool_callbacks:
        values["tool_callbacks"] = base.tool_callbacks
    return kind(**values)


def as_tool_calling(options: ChatOptions | None) -> ToolCallingChatOptions:
    """`options` as tool-calling options: themselves where they are, else promoted with every field kept."""
    if options is None:
        return ToolCallingChatOptions()
    if isinstance(options, ToolCallingChatOptions):
        return options
    return ToolCallingChatOptions(**{name: getattr(options, name) for name in _field_names(ChatOptions)})


def check_range(name: str, value: Any, low: float, high: float | None = None, *, kind: type = float) -> None:
    """Refuse `value` unless it is None or a number of the wanted kind within the bounds, both inclusive."""
    if value is None:
        return
    wanted = "an integer" if kind is int else "a number"
    bounds = f"of at least {low:g}" if high is None else f"from {low:g} to {high:g}"
    if isinstance(value, bool) or not isinstance(value, int if kind is int else (int, float)):
        raise TypeError(f"{name} is {value!r}; {wanted} {bounds} is wanted")
    if value < low or (high is not None and value > high) or value != value:
        raise ValueError(f"{name} is {value!r}; {wanted} {bounds} is wanted")


def _callbacks(values: "Iterable[ToolCallback]") -> "tuple[ToolCallback, ...]":
    try:
        return tuple(values)
    except TypeError:
        raise TypeError(
            f"tool_callbacks is {values!r}; a sequence of ToolCallback is wanted: tool_callbacks(your_object) makes one"
        ) from None


_names_of: dict[type, tuple[str, ...]] = {}


def _field_names(kind: type[ChatOptions]) -> tuple[str, ...]:
    names = _names_of.get(kind)
    if names is None:
        names = _names_of[kind] = tuple(field.name for field in dataclasses.fields(kind))
    return names
