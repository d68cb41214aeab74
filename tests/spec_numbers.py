"""Lists the numbers of the specification that no test carries: `python tests/spec_numbers.py [FAMILY …]`.

A number such as TCA-36 or R8 is carried by a test whose source names it, or by a line of
docs/coming-from-spring-ai.md that says what vernal does instead. `TCA-36..38` and `TCA-36/37` name each number.
The specification lies beside the project; without it there is nothing to list.
"""

import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPEC = Path(os.environ.get("VERNAL_SPEC", ROOT.parent / "shared" / "spec"))
NUMBER = re.compile(r"\b([A-Z]{3})-(\d\d)(?:\.\.(?:[A-Z]{3}-)?(\d\d)|((?:/\d\d)+))?|\bR(\d{1,2})(?:-R?(\d{1,2}))?\b")


def numbers_in(text: str) -> set[str]:
    """All numbers that `text` names."""
    found: set[str] = set()
    for family, first, last, more, rule, last_rule in NUMBER.findall(text):
        if rule:
            found |= {f"R{n}" for n in range(int(rule), int(last_rule or rule) + 1)}
            continue
        found |= {f"{family}-{n:02}" for n in range(int(first), int(last or first) + 1)}
        found |= {f"{family}-{n}" for n in more.split("/") if n}
    return found


def wanted_numbers() -> list[str]:
    """The numbers that the specification defines, in its order."""
    behaviours = re.findall(r"^- ([A-Z]{3}-\d\d)\b", (SPEC / "tool-calling.md").read_text(), re.MULTILINE)
    rules = re.findall(r"^- (R\d+)\.", (SPEC / "robustness.md").read_text(), re.MULTILINE)
    return list(dict.fromkeys([*behaviours, *rules]))


def carried_numbers() -> set[str]:
    """The numbers that tests, or the table of differences, name."""
    sources = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__).resolve()]
    sources.append(ROOT / "docs" / "coming-from-spring-ai.md")
    return {number for path in sources if path.exists() for number in numbers_in(path.read_text())}


def main(families: Iterable[str]) -> None:
    """Print one line a family: how many numbers are carried, and which are not."""
    if not SPEC.exists():
        print(f"no specification at {SPEC}: nothing to compare")
        return
    carried, chosen = carried_numbers(), set(families)
    by_family: dict[str, list[str]] = {}
    for number in wanted_numbers():
        by_family.setdefault(re.split(r"[-\d]", number)[0], []).append(number)
    for family, numbers in by_family.items():
        if chosen and family not in chosen:
            continue
        missing = [number for number in numbers if number not in carried]
        text = f"; no test carries {_folded(missing)}" if missing else ""
        print(f"{family:>4}  {len(numbers) - len(missing):>3} of {len(numbers)}{text}")


def _folded(numbers: list[str]) -> str:
    """Numbers with runs drawn together: TCA-01..TCA-03."""
    runs: list[list[str]] = []
    for number in numbers:
        if runs and _value(number) == _value(runs[-1][-1]) + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return " ".join(run[0] if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs)


def _value(number: str) -> int:
    return int(re.sub(r"\D", "", number))


if __name__ == "__main__":
    main(sys.argv[1:])
