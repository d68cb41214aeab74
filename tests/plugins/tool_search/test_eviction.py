"""When sessions are forgotten."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal_tool_search import (
    AlwaysEvict,
    CompositeEviction,
    LruEviction,
    NeverEvict,
    ToolIndexEvictionStrategy,
    TtlEviction,
)


class Clock:
    """A clock that stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_always_and_never() -> None:
    """TSX-09: `AlwaysEvict` names the present session, `NeverEvict` none."""
    assert list(AlwaysEvict().on_access("a")) == ["a"]
    assert list(NeverEvict().on_access("a")) == []


def test_the_least_recently_used_goes_first() -> None:
    """TSX-09: none goes below the capacity; being used again refreshes; what was removed has no place any more."""
    strategy = LruEviction(2)
    assert [list(strategy.on_access(name)) for name in ("a", "b", "a", "c")] == [[], [], [], ["b"]]
    strategy.on_removed("a")
    strategy.on_removed("unknown")
    assert [list(strategy.on_access(name)) for name in ("d", "e")] == [[], ["c"]]


def test_what_is_unused_for_too_long_goes_when_another_is_used() -> None:
    """TSX-09: a fresh session stays, an expired one goes, the present one never; what was removed does not go again."""
    clock = Clock()
    strategy = TtlEviction(10, clock=clock)
    assert list(strategy.on_access("a")) == list(strategy.on_access("b")) == []
    clock.now = 9.9
    assert list(strategy.on_access("b")) == []
    clock.now = 10
    assert list(strategy.on_access("c")) == ["a"]
    clock.now = 100
    strategy.on_removed("b")
    assert list(strategy.on_access("c")) == []


@given(capacity=st.integers(1, 4), used=st.lists(st.sampled_from("abcdef")))
def test_no_strategy_evicts_the_present_session_or_keeps_too_many(capacity: int, used: list[str]) -> None:
    """TSX-09: whatever is used, those kept are the last ones used, as many as there is room for."""
    strategy, kept = LruEviction(capacity), set[str]()
    for count, name in enumerate(used, start=1):
        kept.add(name)
        kept -= set(strategy.on_access(name))
        latest = list(dict.fromkeys(reversed(used[:count])))
        assert kept == set(latest[:capacity])


def test_several_strategies_as_one() -> None:
    """TSX-09: what any of them names goes, once; all hear of what was removed."""
    removed: list[str] = []

    class Fixed(ToolIndexEvictionStrategy):
        def __init__(self, *names: str) -> None:
            self._names = names

        def on_access(self, session_id: str) -> tuple[str, ...]:
            return self._names

        def on_removed(self, session_id: str) -> None:
            removed.append(session_id)

    strategy = CompositeEviction(Fixed("a", "b"), Fixed("b", "c"))
    assert list(strategy.on_access("d")) == ["a", "b", "c"]
    strategy.on_removed("a")
    assert removed == ["a", "a"]


@pytest.mark.parametrize("make", [lambda: LruEviction(0), lambda: TtlEviction(0), CompositeEviction])
def test_numbers_out_of_range_are_refused(make: type) -> None:
    """TSX-09: no room, no time and no strategy are errors that say what is wanted."""
    with pytest.raises(ValueError, match=r"wanted"):
        make()


def test_a_strategy_of_ones_own_says_what_it_lacks() -> None:
    """A subclass that does not define `on_access` is told so when it is asked."""
    with pytest.raises(NotImplementedError, match="has no method 'on_access'"):
        ToolIndexEvictionStrategy().on_access("a")
