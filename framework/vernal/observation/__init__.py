"""Observation: what happens, told to whoever listens. Nothing is made where nobody does."""

from vernal.observation.convention import ObservationConvention
from vernal.observation.registry import (
    NOOP_REGISTRY,
    Observation,
    ObservationRegistry,
    current_observation,
    observed,
    scope,
)

__all__ = [
    "NOOP_REGISTRY",
    "Observation",
    "ObservationConvention",
    "ObservationRegistry",
    "current_observation",
    "observed",
    "scope",
]
