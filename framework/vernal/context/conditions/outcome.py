"""What conditions decided, kept as it was when it was decided."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from vernal.values.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionOutcome:
    """One decision: whether a condition matched, why, and on what evidence (such as the origin of a setting).

    `cure` says what would make it match, where somebody can do something about it.
    """

    matched: bool
    condition: str
    reason: str
    cure: str = ""
    evidence: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.condition}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionRecord:
    """The decisions on one class or bean method, in the order in which they were made.

    `source` is the class (`ChatMemoryAutoConfiguration`) or the method (`ChatMemoryAutoConfiguration.chat_memory`).
    """

    source: str
    origin: str
    outcomes: tuple[ConditionOutcome, ...] = ()

    @property
    def matched(self) -> bool:
        """Every condition matched."""
        return all(outcome.matched for outcome in self.outcomes)

    @property
    def failure(self) -> ConditionOutcome | None:
        """The decision that kept it out."""
        return next((outcome for outcome in self.outcomes if not outcome.matched), None)


class ConditionReport:
    """Every decision of a start, also of one that failed: what matched, what did not, what was excluded, and why."""

    def __init__(self) -> None:
        self._records: dict[str, ConditionRecord] = {}
        self.exclusions: dict[str, str] = {}

    def add(self, record: ConditionRecord) -> None:
        """Record the decisions on a class or method."""
        self._records[record.source] = record

    def exclude(self, source: str, reason: str) -> None:
        """Record that an auto-configuration was excluded, and by what."""
        self.exclusions[source] = reason

    def __iter__(self) -> Iterator[ConditionRecord]:
        return iter(self._records.values())

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, source: str) -> ConditionRecord:
        return self._records[source]

    def __contains__(self, source: object) -> bool:
        return source in self._records

    @property
    def positive(self) -> tuple[ConditionRecord, ...]:
        """What had conditions, all of which matched."""
        return tuple(record for record in self if record.outcomes and record.matched)

    @property
    def negative(self) -> tuple[ConditionRecord, ...]:
        """What a condition kept out."""
        return tuple(record for record in self if not record.matched)

    @property
    def unconditional(self) -> tuple[ConditionRecord, ...]:
        """What had no conditions."""
        return tuple(record for record in self if not record.outcomes)

    def delta(self, earlier: "ConditionReport") -> "ConditionReport":
        """What was decided otherwise, or not at all, in `earlier`, the report of another start.

        What has gone since is excluded in it, as "no longer considered".
        """
        changed = ConditionReport()
        for record in self:
            if record.source not in earlier or record != earlier[record.source]:
                changed.add(record)
        for source, reason in self.exclusions.items():
            if earlier.exclusions.get(source) != reason:
                changed.exclude(source, reason)
        for record in earlier:
            if record.source not in self and record.source not in self.exclusions:
                changed.exclude(record.source, "no longer considered")
        return changed

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data, for JSON."""
        return {
            "positive": [_plain(record) for record in self.positive],
            "negative": [_plain(record) for record in self.negative],
            "exclusions": dict(self.exclusions),
            "unconditional": [record.source for record in self.unconditional],
        }

    def __str__(self) -> str:
        lines: list[str] = []
        for title, records in (("Matched", self.positive), ("Did not match", self.negative)):
            lines.append(f"{title}:")
            for record in records:
                lines.append(f"  {record.source}")
                lines += [f"    {'+' if outcome.matched else '-'} {outcome}" for outcome in record.outcomes]
        lines.append("Excluded:")
        lines += [f"  {source}: {reason}" for source, reason in self.exclusions.items()]
        lines.append("Without conditions:")
        lines += [f"  {record.source}" for record in self.unconditional]
        return "\n".join(lines)


def _plain(record: ConditionRecord) -> dict[str, Any]:
    outcomes = [
        {
            "matched": one.matched,
            "condition": one.condition,
            "reason": one.reason,
            "cure": one.cure,
            "evidence": dict(one.evidence),
        }
        for one in record.outcomes
    ]
    return {"source": record.source, "origin": record.origin, "outcomes": outcomes}
