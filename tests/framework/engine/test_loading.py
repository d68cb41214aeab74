"""The collector is out of the way while modules are loaded, and only then."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from vernal.runtime.loading import loading

NOT_LOADED = "a.module.that.is.not.there"


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """The collector as it was, whatever a test leaves."""
    enabled = gc.isenabled()
    gc.enable()
    yield
    gc.unfreeze()
    if not enabled:
        gc.disable()


class Ring:
    """Garbage that only the collector finds."""

    def __init__(self) -> None:
        self.itself = self


def is_in(ring: Ring | None, generation: int) -> bool:
    """Whether the collector counts `ring`, or any, as of this generation."""
    return any(type(each) is Ring and ring in (None, each) for each in gc.get_objects(generation))


def test_nothing_is_collected_while_a_module_is_loaded() -> None:
    """The collector stands still within the block, and runs behind it, also where loading fails."""
    seen: list[bool] = []
    with pytest.raises(ZeroDivisionError), loading(NOT_LOADED):
        seen.append(gc.isenabled() or 1 // 0 > 0)
    assert gc.isenabled()
    with loading(NOT_LOADED):
        seen.append(gc.isenabled())
    assert seen == [False]


def test_what_was_loaded_counts_as_old() -> None:
    """Behind the block nothing is left for the look at the young; garbage is found by the look at all."""
    with loading(NOT_LOADED):
        kept = weakref.ref(Ring())
        assert is_in(None, generation=0)
    assert not is_in(None, generation=0)
    assert is_in(None, generation=2)
    assert kept() is not None
    gc.collect()
    assert kept() is None


def test_a_module_that_is_there_changes_nothing() -> None:
    """Loaded for the second time, it costs nothing, and the collector goes on."""
    gc.collect()  # so that the next look is far
    with loading("gc"):
        assert gc.isenabled()
        young = Ring()
    assert is_in(young, generation=0)


def test_a_collector_that_is_off_stays_off() -> None:
    """Whoever has turned it off wants it so."""
    gc.disable()
    with loading(NOT_LOADED):
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_what_is_frozen_stays_frozen() -> None:
    """A server that has frozen what its workers share keeps it so."""
    gc.freeze()
    frozen = gc.get_freeze_count()
    with loading(NOT_LOADED):
        pass
    assert gc.isenabled()
    assert gc.get_freeze_count() == frozen
