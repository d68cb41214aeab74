"""R19: a request to the model that is made again never runs a tool again."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import ALL_FORMS

from vernal import ChatClient, FallbackModelAdvisor, RetryAdvisor
from vernal.testing import ScriptedChatModel, chunks, tool_call

FAILURES = st.lists(st.integers(0, 2), min_size=1, max_size=4)


@given(failures=FAILURES, attempts=st.integers(1, 4), falling_back=st.booleans())
def test_tools_run_once_however_often_the_model_is_asked(
    failures: list[int], attempts: int, falling_back: bool
) -> None:
    """R19: each round's request fails so many times before it answers; every tool runs once, in its round."""
    for form in ALL_FORMS:
        ran: list[int] = []

        def work(n: int) -> str:
            """Work."""
            ran.append(n)  # noqa: B023  # used within the loop
            return "worked"

        script: list[Any] = []
        for number, times in enumerate(failures):
            script += [OSError("down")] * times
            script.append(tool_call("work", n=number) if number < len(failures) - 1 else "done")
        healing = [times < attempts for times in failures]
        first_bad = healing.index(False) if False in healing else None
        spare = ScriptedChatModel(["spare"])
        advisors = [RetryAdvisor(max_attempts=attempts, delay=0)]
        fallback = [FallbackModelAdvisor(models=[spare])] if falling_back else []
        spec = ChatClient(ScriptedChatModel(script)).prompt("Go on.").tools(work).advisors(*advisors, *fallback)
        try:
            text = form.ask(spec).text
        except OSError:
            assert first_bad is not None
            assert not falling_back
        else:
            assert text == ("done" if first_bad is None else "spare")
        rounds = len(failures) - 1 if first_bad is None else first_bad
        assert ran == list(range(rounds))


def test_a_stream_that_has_begun_is_not_begun_again() -> None:
    """R19, R20: what has gone out cannot be taken back."""
    model = ScriptedChatModel([chunks("a", OSError("broke")), "b"])
    stream = ChatClient(model).prompt("?").advisors(RetryAdvisor(delay=0)).stream().content()
    assert next(stream) == "a"
    with pytest.raises(OSError, match="broke"):
        next(stream)
    assert len(model.requests) == 1
