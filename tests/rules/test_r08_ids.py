"""R8: calls are matched by id; missing, blank and repeated ids are repaired in both messages."""

from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import ALL_FORMS, play

from vernal import AssistantMessage, ChatResponse, ToolCall, ToolResponseMessage
from vernal.testing import chunks

IDS = st.sampled_from(["", " ", "\n", "1", "1", "2", "3"])
ROUNDS = st.lists(st.lists(IDS, min_size=1, max_size=4), min_size=1, max_size=3)


@given(rounds=ROUNDS, streamed=st.booleans())
def test_every_call_of_a_turn_gets_an_id_of_its_own_and_its_own_answer(rounds: list[list[str]], streamed: bool) -> None:
    """R8: whatever ids a model gives, over all rounds and chunks; the answer to the n-th call is that of the n-th; an
    id that is good stays."""
    for form in ALL_FORMS:
        script = []
        for number, ids in enumerate(rounds):
            calls = [ToolCall(i, "note", f'{{"n": {10 * number + place}}}') for place, i in enumerate(ids)]
            whole = ChatResponse.of(tool_calls=calls)
            script.append(chunks(*(ChatResponse.of(tool_calls=[c]) for c in calls)) if streamed else whole)
        history = play(form, script).requests[-1]
        calls = [call for m in history if isinstance(m, AssistantMessage) for call in m.tool_calls]
        answers = [r for m in history if isinstance(m, ToolResponseMessage) for r in m.responses]
        assert [r.id for r in answers] == [call.id for call in calls]
        assert len({call.id for call in calls}) == len(calls)
        for call, answer in zip(calls, answers, strict=True):
            assert call.id.strip()
            assert answer.data == f"note {call.arguments[6:-1]}, run 1"
        given_ids = [call_id for ids in rounds for call_id in ids if call_id.strip()]
        kept = [call.id for call in calls if call.id in given_ids]
        assert kept == list(dict.fromkeys(given_ids))
