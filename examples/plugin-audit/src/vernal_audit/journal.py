"""The journal: a file with one line of JSON for each tool call."""

import json
import threading
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool call: when (UTC, ISO 8601), which tool, and its arguments as JSON text, where those are written."""

    time: str
    tool: str
    arguments: str | None = None

    def __str__(self) -> str:
        return f"{self.time} {self.tool} {self.arguments or ''}".rstrip()


class Journal:
    """Appends to the file at `path`, and reads from it; any number of threads may."""

    def __init__(self, path: Path, *, arguments: bool = False) -> None:
        self.path = path
        self._arguments = arguments
        self._lock = threading.Lock()

    def record(self, tool: str, arguments: str) -> None:
        """Write one call down.

        Raises:
            OSError: the file cannot be written; no call runs that is not written down.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        line = json.dumps(asdict(Entry(now, tool, arguments if self._arguments else None)), ensure_ascii=False)
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def last(self, count: int) -> list[Entry]:
        """The last `count` calls, the oldest first; none where nothing has been written."""
        if count < 1 or not self.path.exists():
            return []
        lines = self.path.read_text(encoding="utf-8").splitlines()
        return [Entry(**json.loads(line)) for line in lines[-count:]]
