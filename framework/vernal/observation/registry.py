"""Observations, the registry that hears of them, and which one is current."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

_current: ContextVar["Observation | None"] = ContextVar("vernal_observation", default=None)


@dataclass(slots=True, eq=False, weakref_slot=True)
class Observation:
    """Something that takes time: an advisor's work, a tool call.

    `name` says what kind it is, `contextual_name` which one. `low_cardinality_keys` have few values (for metrics),
    `high_cardinality_keys` many (for traces). `subject` is what is observed, `result` what came of it.
    """

    name: str
    contextual_name: str
    low_cardinality_keys: dict[str, str] = field(default_factory=dict)
    high_cardinality_keys: dict[str, str] = field(default_factory=dict)
    parent: "Observation | None" = None
    subject: Any = None
    result: Any = None
    error: BaseException | None = None


class ObservationRegistry:
    """Hears when an observation starts and stops. Subclass it to forward to a tracing or metrics library.

    What a subclass raises is raised out of the observed work: a registry guards itself.
    """

    is_noop = False
    """Whether nobody listens: then no observation is made at all."""

    def on_start(self, observation: Observation) -> None:
        """`observation` begins; its parent is known."""

    def on_stop(self, observation: Observation) -> None:
        """`observation` has ended, once; `observation.error` says whether it failed."""


class _NoopRegistry(ObservationRegistry):
    is_noop = True


NOOP_REGISTRY: ObservationRegistry = _NoopRegistry()


def current_observation() -> Observation | None:
    """The observation in whose scope the caller runs."""
    return _current.get()


@contextmanager
def scope(observation: Observation | None) -> Iterator[None]:
    """Make `observation` the current one; not to be held across a `yield` of a stream."""
    token = _current.set(observation)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def observed(registry: ObservationRegistry, make: Callable[[], Observation]) -> Iterator[Observation | None]:
    """Observe a block of work: started, current within the block, stopped once; an error is recorded and raised on.

    `make` is called only where somebody listens; without a parent of its own the observation gets the current one.
    """
    if registry.is_noop:
        yield None
        return
    observation = make()
    if observation.parent is None:
        observation.parent = _current.get()
    registry.on_start(observation)
    try:
        with scope(observation):
            yield observation
    except BaseException as error:
        observation.error = error
        raise
    finally:
        registry.on_stop(observation)
