"""Budgets of a turn: tokens and money, over all its rounds."""

import pytest
from tests.framework.engine.conftest import Form

from vernal import (
    Allow,
    ApprovalInterceptor,
    AssistantMessage,
    ChatClient,
    ChatGenerationMetadata,
    ChatResponse,
    ChatResponseMetadata,
    DefaultToolCallingManager,
    FunctionToolCallback,
    Generation,
    ModelPrice,
    OnLimitExceeded,
    ToolCallback,
    ToolCallingAdvisor,
    ToolCallLimits,
    ToolEffects,
    ToolMetadata,
    TurnSuspended,
    Usage,
    UsageError,
)
from vernal.testing import ScriptedChatModel, tool_call

PRICES = {"acme": ModelPrice(input=1.0, output=10.0), "acme-large": ModelPrice(input=100.0, output=1000.0)}


def answer(text: str | None, *, tokens: int, model: str = "acme-small-2", n: int | None = None) -> ChatResponse:
    """An answer that used so many tokens, half of them output; with `n` it calls the tool `step`."""
    calls = () if n is None else (tool_call("step", call_id=f"id_{n}", n=n),)
    reason = "stop" if n is None else "tool_calls"
    return ChatResponse(
        (Generation(AssistantMessage(text, calls), ChatGenerationMetadata(reason)),),
        ChatResponseMetadata(model=model, usage=Usage(tokens // 2, tokens - tokens // 2)),
    )


class Steps:
    """A tool that counts."""

    def __init__(self, effects: ToolEffects | None = None) -> None:
        self.made: list[int] = []
        self.metadata = ToolMetadata(effects=effects)

    @property
    def tool(self) -> ToolCallback:
        def step(n: int) -> str:
            self.made.append(n)
            return f"step {n}"

        return FunctionToolCallback(step, metadata=self.metadata)


def client(model: ScriptedChatModel, limits: ToolCallLimits, **manager: object) -> ChatClient:
    """A client whose turns have these limits."""
    advisor = ToolCallingAdvisor(tool_calling_manager=DefaultToolCallingManager(limits=limits, **manager))  # type: ignore[arg-type]  # the options of one test
    return ChatClient.builder(model).tool_advisor(advisor).build()


def test_a_used_up_budget_of_tokens_ends_the_turn(form: Form) -> None:
    """Once the rounds have used the tokens of the turn no tool runs, and the answer says why."""
    steps = Steps()
    model = ScriptedChatModel([answer(None, tokens=60, n=1), answer(None, tokens=40, n=2)])
    limits = ToolCallLimits(max_tokens=100)
    response = form.ask(client(model, limits).prompt("Go.").tools(steps.tool)).chat_response
    assert steps.made == [1]
    assert response.result is not None
    assert response.result.finish_reason == "toolCallLimitExceeded"
    assert response.text == "Token budget (100) of this turn is used up (100). No further tool calls are allowed."
    assert response.usage.total_tokens == 100


def test_an_answer_within_the_budget_is_given(form: Form) -> None:
    """An answer is given however much it used: a budget stops tools, it takes nothing away."""
    model = ScriptedChatModel([answer(None, tokens=60, n=1), answer("Done.", tokens=400)])
    limits = ToolCallLimits(max_tokens=100)
    assert form.ask(client(model, limits).prompt("Go.").tools(Steps().tool)).text == "Done."


def test_the_model_has_one_more_round_where_it_is_told(form: Form) -> None:
    """With `return_error_response` the model may answer with what it has; if it calls tools again, the turn ends."""
    steps = Steps()
    limits = ToolCallLimits(max_tokens=50, on_limit_exceeded=OnLimitExceeded.RETURN_ERROR_RESPONSE)
    model = ScriptedChatModel([answer(None, tokens=60, n=1), answer("What I have.", tokens=10)])
    assert form.ask(client(model, limits).prompt("Go.").tools(steps.tool)).text == "What I have."
    model = ScriptedChatModel([answer(None, tokens=60, n=n) for n in (1, 2)])
    response = form.ask(client(model, limits).prompt("Go.").tools(steps.tool)).chat_response
    assert "Token budget (50) of this turn is used up (120)" in str(response.text)
    assert (steps.made, model.remaining) == ([], 0)


def test_money_is_counted_by_the_prices_of_the_models_that_answered(form: Form) -> None:
    """Input and output have their prices; of several that fit the model's name the longest counts."""
    steps = Steps()
    limits = ToolCallLimits(max_cost=0.05, prices=PRICES)  # 100 tokens of acme-large: 0.055
    cheap = answer(None, tokens=100, n=1)
    dear = answer(None, tokens=100, n=2, model="acme-large")
    model = ScriptedChatModel([cheap, dear])
    response = form.ask(client(model, limits).prompt("Go.").tools(steps.tool)).chat_response
    assert steps.made == [1]
    assert "Budget of money (0.05) of this turn is used up (0.05555)" in str(response.text)


def test_cached_tokens_have_their_own_prices() -> None:
    """What a cache gives or takes is charged as such, and never twice."""
    usage = Usage(1_000_000, 1_000, cache_read_tokens=600_000, cache_write_tokens=100_000)
    assert ModelPrice(input=1, output=10, cached_input=0.1, cache_write=1.25).cost(usage) == pytest.approx(
        0.3 + 0.06 + 0.125 + 0.01
    )
    assert ModelPrice(input=1, output=10).cost(usage) == pytest.approx(1.01)


def test_a_model_without_a_price_is_named(form: Form) -> None:
    """A budget of money cannot be kept for a model of unknown price: the error names it and the setting."""
    steps = Steps()
    model = ScriptedChatModel([answer(None, tokens=60, n=1, model="other")])
    with pytest.raises(UsageError, match=r"no price of the model 'other' \(there are prices of: acme, acme-large\)"):
        form.ask(client(model, ToolCallLimits(max_cost=1, prices=PRICES)).prompt("Go.").tools(steps.tool))
    assert steps.made == []


def test_a_resumed_turn_goes_on_with_what_it_has_used() -> None:
    """What was used before a suspension counts after it, the models included."""
    steps = Steps(ToolEffects.DESTRUCTIVE)
    limits = ToolCallLimits(max_cost=0.05, prices=PRICES)
    model = ScriptedChatModel(
        [answer(None, tokens=80, n=1, model="acme-large"), answer(None, tokens=80, n=2, model="acme-large")]
    )
    assistant = client(model, limits, interceptors=(ApprovalInterceptor(),))
    with pytest.raises(TurnSuspended) as suspended:
        assistant.prompt("Go.").tools(steps.tool).call().content()
    state = type(suspended.value.state).from_json(suspended.value.state.to_json())
    answered = assistant.prompt().tools(steps.tool).resume(state, {"id_1": Allow()}).call().content()
    assert "Budget of money (0.05) of this turn is used up (0.088)" in str(answered)
    assert steps.made == [1]


@pytest.mark.parametrize("wrong", [{"max_tokens": 0}, {"max_cost": 0}, {"max_cost": -1.5}, {"max_tokens": True}])
def test_budgets_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    """A budget that cannot be kept is named when it is given."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ToolCallLimits(**wrong)  # type: ignore[arg-type]  # what is wrong on purpose
    with pytest.raises(ValueError, match="price output is -1"):
        ModelPrice(input=1, output=-1)
