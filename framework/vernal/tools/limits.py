"""How often tools may be called in one turn, what the turn may cost, and what happens beyond."""

import re
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from vernal.errors import UsageError, VernalError
from vernal.tools.execution import PARTIAL_TOOL_RESPONSES, ToolExecutionResult
from vernal.values.choices import chosen
from vernal.values.mappings import frozen
from vernal.values.messages import AssistantMessage, ToolResponseMessage
from vernal.values.records import dataclass
from vernal.values.responses import ChatGenerationMetadata, FinishReason, Generation
from vernal.values.turn import Turn
from vernal.values.usage import Usage

UNLIMITED = -1
"""What settings write for no limit (TAC-13)."""


class OnLimitExceeded(StrEnum):
    """What a breached limit does: end the turn, or tell the model."""

    THROW = "throw"
    RETURN_ERROR_RESPONSE = "return_error_response"


@dataclass(frozen=True, slots=True)
class LimitBreach:
    """A limit that one more call would exceed, or a budget that is used up.

    `tool_name` is None for what holds for the turn as a whole. `used` is how much of a `budget`, such as
    "Token budget", is used; None for a limit of calls.
    """

    tool_name: str | None
    limit: float
    used: float | None = None
    budget: str = ""

    @property
    def message(self) -> str:
        """For the developer (LIM-18)."""
        if self.used is not None:
            return f"{self.budget} ({self.limit:,g}) of this turn is used up ({self.used:,.10g})"
        if self.tool_name is None:
            return f"Total tool call limit ({self.limit}) exceeded for this turn"
        return f"Tool call limit ({self.limit}) exceeded for tool {self.tool_name!r}"

    @property
    def text_for_model(self) -> str:
        """For the model (LIM-18)."""
        if self.used is not None or self.tool_name is None:
            return f"{self.message}. No further tool calls are allowed."
        return f"{self.message}. No further calls to this tool are allowed in this turn."


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """What a million tokens of a model cost, in any currency, the same for all models.

    `cached_input` and `cache_write` are the prices of input tokens read from, or written to, the provider's cache; by
    default that of other input.

    Raises:
        ValueError: a price is negative.
    """

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None

    def __post_init__(self) -> None:
        for name in ("input", "output", "cached_input", "cache_write"):
            price = getattr(self, name)
            if price is not None and not price >= 0:
                raise ValueError(f"the price {name} is {price!r}; a number of at least 0 is wanted")

    def cost(self, usage: Usage) -> float:
        """What `usage` costs."""
        read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
        cached = self.input if self.cached_input is None else self.cached_input
        write = self.input if self.cache_write is None else self.cache_write
        plain = max(usage.prompt_tokens - read - written, 0)
        parts = (plain * self.input, read * cached, written * write, usage.completion_tokens * self.output)
        return sum(parts) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallLimits:
    """Limits per turn; a limit of N lets N calls be answered, None (or -1) means unlimited (LIM-14).

    `max_calls_per_tool` overrides the default for the named tools; `excluded_tools` have no limit of their own but
    count to the total (LIM-15). `max_identical_calls` is how many identical calls in a row run before the next is
    answered with a hint instead (R10).

    `max_tokens` and `max_cost` are budgets of the turn, over all its rounds: once one is used up, no tool of that round
    runs. `on_limit_exceeded` decides what follows; a model that is told that no further call is allowed, for a budget
    or for the total, has one more round to answer in: if it calls tools again, the turn ends. Costs are in the currency
    of `prices`, by the name of the model or the begin of it; the longest that fits counts.

    Raises:
        ValueError: a limit is not greater than 0, or a tool name is blank (LIM-21).
    """

    max_calls_per_tool_default: int | None = 40
    max_calls_per_tool: Mapping[str, int | None] = field(default_factory=dict)
    max_total_tool_calls: int | None = 150
    excluded_tools: frozenset[str] = frozenset()
    on_limit_exceeded: OnLimitExceeded = OnLimitExceeded.THROW
    max_identical_calls: int | None = 2
    max_tokens: int | None = None
    max_cost: float | None = None
    prices: Mapping[str, ModelPrice] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.max_calls_per_tool, dict):  # another mapping may match names in a way of its own
            object.__setattr__(self, "max_calls_per_tool", frozen(self.max_calls_per_tool))
        object.__setattr__(self, "excluded_tools", frozenset(self.excluded_tools))
        object.__setattr__(
            self, "on_limit_exceeded", chosen("on_limit_exceeded", self.on_limit_exceeded, OnLimitExceeded)
        )
        _refuse_low("max_calls_per_tool_default", self.max_calls_per_tool_default)
        _refuse_low("max_total_tool_calls", self.max_total_tool_calls)
        _refuse_low("max_identical_calls", self.max_identical_calls)
        _refuse_low("max_tokens", self.max_tokens)
        if self.max_cost is not None and not self.max_cost > 0:
            raise ValueError(f"max_cost is {self.max_cost!r}; a number greater than 0 is wanted, or None for no limit")
        if isinstance(self.prices, dict):
            object.__setattr__(self, "prices", frozen(self.prices))
        for name, limit in self.max_calls_per_tool.items():
            _refuse_low(f"max_calls_per_tool of {name!r}", limit)
        for name in (*self.max_calls_per_tool, *self.excluded_tools):
            if not name.strip():
                raise ValueError(f"a tool call limit names the tool {name!r}; a non-blank tool name is wanted")

    def breach(self, tool_name: str, turn: Turn) -> LimitBreach | None:
        """The limit that one more call of the tool would exceed in `turn`; the tool's own comes first (LIM-15).

        Raises:
            UsageError: there is a budget of money, and no price of a model that has answered.
        """
        limit = self._limit_of(tool_name)
        if limit is not None and turn.count(tool_name) >= limit:
            return LimitBreach(tool_name, limit)
        total = self.max_total_tool_calls
        if total is not None and total != UNLIMITED and turn.total >= total:
            return LimitBreach(None, total)
        return self._overspent(turn)

    def _overspent(self, turn: Turn) -> LimitBreach | None:
        """The budget that the rounds of `turn` have used up."""
        tokens = self.max_tokens
        if tokens is not None and tokens != UNLIMITED and (used := turn.usage.total_tokens or 0) >= tokens:
            return LimitBreach(None, tokens, used, "Token budget")
        if self.max_cost is not None and (cost := self.cost(turn)) >= self.max_cost:
            return LimitBreach(None, self.max_cost, cost, "Budget of money")
        return None

    def cost(self, turn: Turn) -> float:
        """What the rounds of `turn` have cost by now.

        Raises:
            UsageError: there is no price of a model that has answered.
        """
        rounds = zip(turn.round_models, turn.round_usages, strict=True)
        return sum(self._price(model).cost(usage) for model, usage in rounds if not usage.is_empty)

    def _price(self, model: str | None) -> ModelPrice:
        known = [name for name in self.prices if model is not None and _plain(model).startswith(_plain(name))]
        if not known:
            raise UsageError(
                f"the turn has a budget of money, but there is no price of the model {model!r} (there are prices of: "
                f"{', '.join(self.prices) or 'none'}); give one in ToolCallLimits(prices=…), or set tools.prices"
            )
        return self.prices[max(known, key=len)]

    def _limit_of(self, tool_name: str) -> int | None:
        if tool_name in self.excluded_tools:
            return None
        limit = self.max_calls_per_tool_default
        if self.max_calls_per_tool:
            limit = self.max_calls_per_tool.get(tool_name, limit)
        return None if limit == UNLIMITED else limit


class ToolCallLimitExceeded(VernalError):
    """A tool call limit ended the turn.

    `tool_name` is None where the total was exceeded, or a budget is used up. `partial_result` is the replayable history
    with what had run and the refusals (R12, LIM-19), `refused_id` the id of the first call that was refused.
    """

    def __init__(self, breach: LimitBreach, partial_result: ToolExecutionResult, refused_id: str) -> None:
        names = "max_calls_per_tool, tools.max_total_tool_calls"
        if breach.used is not None:
            names = "max_tokens_per_turn, tools.max_cost_per_turn"
        super().__init__(
            f"{breach.message}; raise the limit (tools.{names}), or set "
            f"tools.on_limit_exceeded=return_error_response to let the model answer with what it has"
        )
        self.breach = breach
        self.partial_result = partial_result
        self.refused_id = refused_id

    @property
    def tool_name(self) -> str | None:
        """The tool whose limit was exceeded, None for the total."""
        return self.breach.tool_name

    @property
    def limit(self) -> float:
        """The limit that was exceeded, or the budget that is used up."""
        return self.breach.limit

    def build_generation(self) -> Generation:
        """The answer for the caller: the refusal as text, the other responses under `partialToolResponses` (LIM-20).

        Those of failed calls are among them: one that ran into its timeout may have taken effect (R12).
        """
        history = self.partial_result.conversation_history
        last = history[-1] if history else None
        text, partial = self.breach.text_for_model, []
        if isinstance(last, ToolResponseMessage):
            partial = [response for response in last.responses if response.id != self.refused_id]
            text = next((r.data for r in last.responses if r.id == self.refused_id), text)
        metadata = ChatGenerationMetadata(
            FinishReason.TOOL_CALL_LIMIT_EXCEEDED, properties={PARTIAL_TOOL_RESPONSES: tuple(partial)}
        )
        return Generation(AssistantMessage(text), metadata)


def _plain(model: str) -> str:
    """The form in which names of models are compared: those from environment variables have `_` for all else."""
    return re.sub(r"[\W_]+", "_", model.casefold())


def _refuse_low(name: str, limit: int | None) -> None:
    if limit is None or limit == UNLIMITED:
        return
    if isinstance(limit, bool) or not isinstance(limit, int) or limit <= 0:
        raise ValueError(f"{name} is {limit!r}; it must be an integer greater than 0, or None for no limit")
