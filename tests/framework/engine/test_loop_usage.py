"""Usage over the rounds of a turn."""

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from vernal import ChatClient, ChatClientRequestSpec, ChatResponse, MessageAggregator, ToolCallingAdvisor, Usage
from vernal.testing import ScriptedChatModel, chunks, tool_call
from vernal.values.usage import EMPTY_USAGE

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form


def weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


def spec_of(*script: Any) -> ChatClientRequestSpec:
    """A request about the weather."""
    return ChatClient(ScriptedChatModel(script)).prompt("Hello").tools(weather)


def asking(usage: Usage, city: str = "Oslo") -> ChatResponse:
    """A response that asks for the weather and has cost `usage`."""
    return ChatResponse.of(tool_calls=[tool_call("weather", call_id=city, city=city)]).with_usage(usage)


def part(text: str | None, usage: Usage = EMPTY_USAGE) -> ChatResponse:
    """A chunk."""
    response = ChatResponse.of(text) if text is not None else ChatResponse()
    return response.with_usage(usage)


def test_usage_is_the_sum_of_the_rounds(form: "Form") -> None:
    """The answer shows what all rounds have cost, its generations are the model's (TCA-29, TCA-47, R22)."""
    answer = ChatResponse.of("Fine.").with_usage(Usage(1, 2, 3))
    outcome = form.ask(spec_of(asking(Usage(10, 20, 30)), answer))
    assert outcome.chat_response.usage == Usage(11, 22, 33)
    assert outcome.chat_response.metadata.round_usages == (Usage(10, 20, 30), Usage(1, 2, 3))
    assert outcome.chat_response.generations == answer.generations
    assert len(outcome.chunks) == 1


def test_cache_counts_are_summed_and_native_usage_is_dropped(form: "Form") -> None:
    """Cache and reasoning counts add up; a sum has no native usage, the rounds keep theirs (TCA-30, R22)."""
    first = Usage(10, 20, 30, cache_read_tokens=100, cache_write_tokens=5, native={"n": 1})
    second = Usage(1, 2, 3, cache_read_tokens=200, cache_write_tokens=0, reasoning_tokens=2, native={"n": 2})
    outcome = form.ask(spec_of(asking(first), ChatResponse.of("Fine.").with_usage(second)))
    usage = outcome.chat_response.usage
    assert (usage.cache_read_tokens, usage.cache_write_tokens, usage.reasoning_tokens) == (300, 5, 2)
    assert usage.native is None
    assert [one.native for one in outcome.chat_response.metadata.round_usages] == [{"n": 1}, {"n": 2}]


def test_a_single_round_keeps_its_usage(form: "Form") -> None:
    """Without a tool round the model's response comes back untouched, native usage included (TCA-31)."""
    answer = ChatResponse.of("Fine.").with_usage(Usage(1, 2, 3, native={"n": 1}))
    outcome = form.ask(spec_of(answer))
    assert outcome.chat_response == answer
    assert outcome.chat_response.usage.native == {"n": 1}


def test_usage_of_earlier_rounds_goes_to_chunks_that_carry_usage(stream_form: "Form") -> None:
    """Chunks with (0,0,0) stay as they are, the one with usage shows the total, texts stay theirs (TCA-48)."""
    answer = chunks(part("Hello "), part("world", Usage(1, 2, 3)), part("!"))
    outcome = stream_form.ask(spec_of(asking(Usage(10, 20, 30)), answer))
    assert [chunk.text for chunk in outcome.chunks] == ["Hello ", "world", "!"]
    assert [chunk.usage for chunk in outcome.chunks] == [EMPTY_USAGE, Usage(11, 22, 33), EMPTY_USAGE]


def test_usage_that_no_chunk_has_told_comes_last(stream_form: "Form") -> None:
    """After a final round without usage, a chunk without generations tells that of the earlier rounds (TCA-49)."""
    outcome = stream_form.ask(spec_of(asking(Usage(10, 20, 30)), chunks(part("Fine."))))
    content, usage = outcome.chunks
    assert (content.text, content.usage) == ("Fine.", EMPTY_USAGE)
    assert usage.chat_response is not None
    assert usage.chat_response.generations == ()
    assert usage.usage == Usage(10, 20, 30)


def test_a_silent_final_round_tells_the_usage_of_the_earlier_ones(stream_form: "Form") -> None:
    """Even where the last round streams nothing at all, what the turn has cost is told (TCA-49, R22)."""
    outcome = stream_form.ask(spec_of(asking(Usage(10, 20, 30)), chunks()))
    assert [chunk.usage for chunk in outcome.chunks] == [Usage(10, 20, 30)]


def test_usage_told_in_parts_adds_up(stream_form: "Form") -> None:
    """Input told in the first chunk and output in the last count together, in each round (R22)."""
    asked = chunks(part("Let me see.", Usage(10)), asking(Usage(0, 20)))
    answer = chunks(part("Fi", Usage(1)), part("ne."), part(None, Usage(0, 2)))
    outcome = stream_form.ask(spec_of(asked, answer))
    assert outcome.text == "Let me see.Fine."
    assert outcome.chat_response.usage == Usage(11, 22, 33)
    assert outcome.chat_response.metadata.round_usages == (Usage(10, 20, 30), Usage(1, 2, 3))


def test_each_turn_counts_for_itself(form: "Form") -> None:
    """One request asked twice, by way of one advisor, shows the usage of one turn each time (TCA-50, R23)."""
    script = [asking(Usage(10, 20, 30)), ChatResponse.of("Fine.").with_usage(Usage(1, 2, 3))]
    model = ScriptedChatModel([*script, *script])
    spec = ChatClient(model).prompt("Hello").tools(weather).advisors(ToolCallingAdvisor())
    outcomes = [form.ask(spec), form.ask(spec)]
    assert [outcome.chat_response.usage for outcome in outcomes] == [Usage(11, 22, 33)] * 2
    assert len(model.requests) == 4


COUNTS = st.integers(1, 1000)
USAGES = st.builds(Usage, COUNTS, COUNTS, cache_read_tokens=st.none() | COUNTS, reasoning_tokens=st.none() | COUNTS)


@given(rounds=st.lists(USAGES, min_size=1, max_size=5), trailing=st.booleans())
def test_usage_is_exact_over_any_rounds(forms: "tuple[Form, ...]", rounds: list[Usage], trailing: bool) -> None:
    """Whatever the rounds cost, and in whichever chunk they tell it, the sum and the list are exact (R22)."""
    total = sum(rounds, EMPTY_USAGE)
    for form in forms:
        *asked, last = rounds
        script: list[Any] = [asking(usage, f"City {n}") for n, usage in enumerate(asked)]
        pieces = [part("Fi"), part("ne."), part(None, last)] if trailing else [part("Fi", last), part("ne.")]
        outcome = form.ask(spec_of(*script, chunks(*pieces)))
        assert outcome.text == "Fine."
        assert outcome.chat_response.usage == total
        assert outcome.chat_response.metadata.round_usages == (tuple(rounds) if asked else ())


def test_the_total_of_parts_covers_both() -> None:
    """The aggregate's total counts input and output that came apart, and a greater total that was given (R22)."""
    for parts, total in [((Usage(10), Usage(0, 5)), 15), ((Usage(10), Usage(0, 5, 18)), 18)]:
        aggregator = MessageAggregator()
        for usage in parts:
            aggregator.add(part("x", usage))
        assert aggregator.usage == aggregator.collected().usage == Usage(10, 5, total)
