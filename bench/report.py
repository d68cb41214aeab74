"""What was measured, as a table of ratios."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

KINDS = ("floor", "vernal")

Figures = dict[str, float]
Pairs = dict[str, list[Figures]]
"""The figures of the floor and of vernal, in each repetition."""


@dataclass(frozen=True)
class Row:
    """A line of the table: one figure of vernal beside the floor's.

    `wanted` bounds the ratio to the floor, or with `absolute` the figure itself; it is the least where `more` is
    better, else the most.
    """

    scenario: str
    unit: str
    pairs: Pairs
    figure: str
    wanted: float
    absolute: bool = False
    more: bool = False

    @property
    def floor(self) -> list[float]:
        """The figure of the floor in each repetition."""
        return [figures[self.figure] for figures in self.pairs["floor"]]

    @property
    def vernal(self) -> list[float]:
        """The figure of vernal in each repetition."""
        return [figures[self.figure] for figures in self.pairs["vernal"]]

    @property
    def ratio(self) -> float:
        """The median of the ratios within a repetition."""
        return median(ours / floor for ours, floor in zip(self.vernal, self.floor, strict=True))

    @property
    def reached(self) -> bool:
        """Whether the wanted figure was reached."""
        measured = median(self.vernal) if self.absolute else self.ratio
        return measured >= self.wanted if self.more else measured <= self.wanted

    def cells(self) -> tuple[str, ...]:
        """The cells of the line."""
        bound = f"{'≥' if self.more else '≤'} {self.wanted:g}{'' if self.absolute else ' x'}"
        return (
            self.scenario,
            f"{median(self.floor):.4g} {self.unit}".rstrip(),
            f"{median(self.vernal):.4g} {self.unit}".rstrip(),
            f"{self.ratio:.2f} x",
            bound,
            "ok" if self.reached else "over",
        )


HEAD = ("scenario", "floor", "vernal", "ratio", "wanted", "")


def table(rows: Sequence[Row]) -> str:
    """The rows, aligned, as Markdown."""
    lines = [HEAD, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    texts = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines]
    return "\n".join((texts[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *texts[1:]))
