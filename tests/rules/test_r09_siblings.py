"""R9: one failing call costs its siblings nothing; results come back in call order."""

from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import ALL_FORMS, Setting, play

from vernal import ChatResponse, ToolCall, ToolResponseMessage

KINDS = st.lists(
    st.sampled_from(["note", "look", "save", "alone", "many", "fail", "fatal", "ghost", "bad"]), min_size=1, max_size=7
)


@given(kinds=KINDS, parallel=st.integers(1, 4))
def test_every_call_gets_its_own_result_in_its_place(kinds: list[str], parallel: int) -> None:
    """R9: whichever of the others fail, are unknown or malformed, and however many run at once."""
    calls = [
        ToolCall(str(n), "note" if kind == "bad" else kind, "{oops" if kind == "bad" else f'{{"n": {n}}}')
        for n, kind in enumerate(kinds)
    ]
    for form in ALL_FORMS:
        played = play(form, [ChatResponse.of(tool_calls=calls)], Setting(parallel=parallel))
        message = played.requests[-1][-1]
        assert isinstance(message, ToolResponseMessage)
        assert [(r.id, r.name) for r in message.responses] == [(call.id, call.name) for call in calls]
        for n, (kind, response) in enumerate(zip(kinds, message.responses, strict=True)):
            assert response.is_error == (kind in ("fail", "fatal", "ghost", "bad"))
            if kind in ("note", "look", "save", "alone"):
                assert response.data == f"{kind} {n}, run 1"
        runs = [(kind, n) for n, kind in enumerate(kinds) if kind not in ("ghost", "bad")]
        assert sorted(played.toolbox.runs) == sorted(runs)
