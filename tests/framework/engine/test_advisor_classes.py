"""What makes a class an advisor, and what is refused when it is created."""

from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    HIGHEST_PRECEDENCE,
    LOWEST_PRECEDENCE,
    Advisor,
    BaseAdvisor,
    CallAdvisor,
    ChatClient,
    StreamAdvisor,
)
from vernal.testing import ScriptedChatModel

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form


def plain(self: Any, request: Any, chain: Any) -> Any:
    """A plain function."""


async def coroutine(self: Any, request: Any, chain: Any) -> Any:
    """A coroutine function."""


@pytest.mark.parametrize(
    ("base", "body", "text"),
    [
        (CallAdvisor, {"advise_call": plain}, r"Wrong\.advise_call is a plain function; make it 'async def'"),
        (BaseAdvisor, {"before": plain}, r"Wrong\.before is a plain function; make it 'async def'"),
        (BaseAdvisor, {"after": plain}, r"Wrong\.after is a plain function; make it 'async def'"),
        (StreamAdvisor, {"advise_stream": coroutine}, r"Wrong\.advise_stream is a coroutine function without"),
        (CallAdvisor, {}, "class Wrong is a CallAdvisor but defines no 'advise_call'"),
        (StreamAdvisor, {}, "class Wrong is a StreamAdvisor but defines no 'advise_stream'"),
    ],
)
def test_a_class_that_cannot_work_is_refused(base: type[Advisor], body: dict[str, Any], text: str) -> None:
    """A plain method, a stream that yields nothing, and a missing method are refused with the cure (CHN-12, TCA-52)."""
    with pytest.raises(TypeError, match=text):
        type("Wrong", (base,), {"__qualname__": "Wrong", **body})


def test_an_unfinished_base_may_be_declared() -> None:
    """With `abstract=True` a base may leave to its subclasses what they define; these are looked at again (CHN-12)."""

    class Base(CallAdvisor, abstract=True):
        """Leaves the method to others."""

    with pytest.raises(TypeError, match="defines no 'advise_call'"):
        type("Wrong", (Base,), {})


def test_class_options_reach_other_bases() -> None:
    """Class arguments of a mixin pass through to it (CHN-12)."""
    given: list[str] = []

    class Labelled:
        def __init_subclass__(cls, *, label: str, **options: Any) -> None:
            super().__init_subclass__(**options)
            given.append(label)

    class Both(BaseAdvisor, Labelled, label="mine"):
        """An advisor, and something else."""

    assert given == ["mine"]
    assert Both().name == "Both"


def test_the_bounds_and_the_default_of_orders() -> None:
    """Orders are 32-bit numbers as in Spring; an advisor that says nothing stands at 0 (TCA-02, TCA-03, CHN-10)."""
    assert (HIGHEST_PRECEDENCE, LOWEST_PRECEDENCE) == (-(2**31), 2**31 - 1)
    assert BaseAdvisor().order == 0


def test_a_base_advisor_changes_nothing_by_itself(form: "Form") -> None:
    """Without `before` and `after` request and response pass as they are (CHN-12)."""
    model = ScriptedChatModel(["Hi there."], fragments=3)
    outcome = form.ask(ChatClient(model).prompt("Hello").advisors(BaseAdvisor()))
    assert outcome.text == "Hi there."
    assert [message.text for message in model.requests[0].messages] == ["Hello"]
    assert outcome.chat_response.finish_reason == "stop"
