"""Incremental readers of streamed answers: Server-Sent Events, and JSON lines.

Both take the bytes as the network cuts them and give the bytes of whole events: lines are cut at the bytes of their
ends, never decoded, so that a character cut in two, or U+2028 inside a text, is no matter. The kept packages for SSE
decode line by line into objects, which costs as much as the rest of reading a stream.
"""

BOM = b"\xef\xbb\xbf"

ServerSentEvent = tuple[bytes, bytes]
"""The name of an event (empty where it has none) and its data."""


class SseReader:
    """Reads Server-Sent Events: LF, CRLF and CR, comments, `data:` without a space, data of several lines.

    Ids and reconnection times are passed over. What some servers send in place of an event is given as one: a line
    `error: …` as an event of the name `error`, an object without `data:` as an event without a name.
    """

    __slots__ = ("_after_cr", "_data", "_lines", "_name", "_started")

    def __init__(self) -> None:
        self._lines = _LineReader()
        self._after_cr = False
        self._started = False
        self._name = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """The events that `chunk` completes."""
        if self._after_cr and chunk:
            self._after_cr = False
            if chunk.startswith(b"\n"):
                chunk = chunk[1:]
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        events: list[ServerSentEvent] = []
        for line in self._lines.feed(chunk):
            self._read(line, events)
        return events

    def close(self) -> list[ServerSentEvent]:
        """What is left when the bytes end without the blank line that should have been there."""
        events: list[ServerSentEvent] = []
        for line in (*self._lines.close(), b""):
            self._read(line, events)
        return events

    def _read(self, line: bytes, events: list[ServerSentEvent]) -> None:
        if not self._started:
            self._started = True
            line = line.removeprefix(BOM)
        if line.startswith(b"data:"):
            self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
        elif not line:
            if self._data:
                events.append((self._name, self._data[0] if len(self._data) == 1 else b"\n".join(self._data)))
                self._data = []
            self._name = b""
        elif line.startswith(b"event:"):
            self._name = line[6:].removeprefix(b" ")
        elif line.startswith(b"error:"):
            self._name = b"error"
            self._data.append(line[6:].removeprefix(b" "))
        elif line == b"data":
            self._data.append(b"")
        elif line.startswith(b"{") and line.endswith(b"}"):
            events.append((b"", line))


class NdjsonReader:
    """Reads JSON lines: one document a line, given as an event without a name; blank lines are passed over."""

    __slots__ = ("_lines",)

    def __init__(self) -> None:
        self._lines = _LineReader()

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """The documents that `chunk` completes."""
        return [(b"", line) for line in map(bytes.strip, self._lines.feed(chunk)) if line]

    def close(self) -> list[ServerSentEvent]:
        """What is left when the bytes end without a line end."""
        return [(b"", line) for line in map(bytes.strip, self._lines.close()) if line]


class _LineReader:
    """Cuts bytes at LF; a line that arrives in many pieces is joined once."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        lines = chunk.split(b"\n")
        last = lines.pop()
        if lines and self._rest:
            lines[0] = b"".join((*self._rest, lines[0]))
            self._rest.clear()
        if last:
            self._rest.append(last)
        return lines

    def close(self) -> list[bytes]:
        rest = b"".join(self._rest)
        self._rest.clear()
        return [rest] if rest else []
