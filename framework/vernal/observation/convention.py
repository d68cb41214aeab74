"""How what is observed is named, and what is told of it: the base of the conventions."""

from typing import Any, ClassVar, Generic, TypeVar

from vernal.observation.registry import Observation

C = TypeVar("C")


class ObservationConvention(Generic[C]):
    """Names and keys of one kind of observation, after OpenTelemetry's conventions for GenAI. Subclass to change them.

    With `include_content` what was asked and answered is among the keys; it may be private, so it is not by default.
    """

    name: ClassVar[str]
    """What kind of observation it is."""
    context_type: ClassVar[type[Any]]
    """The type of what is observed."""

    def __init__(self, *, include_content: bool = False) -> None:
        self.include_content = include_content

    def supports(self, subject: object) -> bool:
        """Whether `subject` is of the kind that this convention names (TOB-01)."""
        return isinstance(subject, self.context_type)

    def contextual_name(self, context: C) -> str:
        """Which one it is, such as the tool or the model."""
        return self.name

    def low_cardinality_keys(self, context: C) -> dict[str, str]:
        """Keys with few values, for metrics; asked at the start and again at the end (TOB-02)."""
        return {}

    def high_cardinality_keys(self, context: C) -> dict[str, str]:
        """Keys with many values, for traces; asked at the start and again at the end (TOB-03, TOB-04)."""
        return {}

    def observation(self, context: C) -> Observation:
        """The observation of `context`, as it starts (TCM-37)."""
        return Observation(
            self.name,
            self.contextual_name(context),
            self.low_cardinality_keys(context),
            self.high_cardinality_keys(context),
            subject=context,
        )

    def answered(self, observation: Observation, context: C, result: object) -> None:
        """Complete `observation` with what came of it."""
        observation.low_cardinality_keys |= self.low_cardinality_keys(context)
        observation.high_cardinality_keys |= self.high_cardinality_keys(context)
        observation.result = result
