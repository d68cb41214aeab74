"""Streamed answers are cut into events, however the network cuts their bytes."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from vernal.http import NdjsonReader, ServerSentEvent, SseReader

ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
TEXTS = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=12)
CUTS = st.lists(st.integers(0, 400), max_size=12)


def pieces(body: bytes, cuts: list[int]) -> list[bytes]:
    """`body` cut at the given places."""
    places = [0, *sorted(cut for cut in cuts if cut < len(body)), len(body)]
    return [body[start:end] for start, end in pairwise(places)]


def read(parts: list[bytes]) -> list[ServerSentEvent]:
    """The events of a stream in these parts."""
    reader = SseReader()
    return [event for part in parts for event in reader.feed(part)] + reader.close()


def read_lines(parts: list[bytes]) -> list[bytes]:
    """The documents of a stream of JSON lines in these parts."""
    reader = NdjsonReader()
    events = [event for part in parts for event in reader.feed(part)] + reader.close()
    assert {name for name, _ in events} <= {b""}
    return [line for _, line in events]


@given(st.lists(st.lists(TEXTS, min_size=1, max_size=3), max_size=5), ENDS, st.booleans(), CUTS)
def test_every_cut_gives_the_same_events(events: list[list[str]], end: bytes, space: bool, cuts: list[int]) -> None:
    """Whatever the line ends and wherever the bytes are cut, each event comes once and whole."""
    head = b"data: " if space else b"data:"
    texts = [[text if space else text.lstrip(" ") for text in event] for event in events]
    body = b"".join(b"".join(head + text.encode() + end for text in event) + end for event in texts)
    assert read(pieces(body, cuts)) == [(b"", "\n".join(event).encode()) for event in texts]


@given(st.lists(TEXTS.filter(lambda text: text.strip()), max_size=6), st.booleans(), CUTS)
def test_every_cut_gives_the_same_json_lines(lines: list[str], ended: bool, cuts: list[int]) -> None:
    """JSON lines are cut at line feeds alone, and the last one needs none."""
    body = b"\n".join(line.encode() for line in lines) + (b"\n" if ended else b"")
    assert read_lines(pieces(body, cuts)) == [line.encode().strip() for line in lines if line.encode().strip()]


def test_comments_and_other_fields_are_passed_over() -> None:
    """Comments, ids, reconnection times and unknown fields are no data, and an event without data is none."""
    body = b": hello\n\nid: 7\nretry: 10\nwhat: ever\ndata: a\n\nevent: ping\n\ndata: b\n\n"
    assert read([body]) == [(b"", b"a"), (b"", b"b")]


def test_an_event_keeps_its_name() -> None:
    """A name belongs to its own event only."""
    assert read([b"event: error\ndata: a\n\ndata: b\n\n"]) == [(b"error", b"a"), (b"", b"b")]


def test_an_error_line_is_an_event_of_that_name() -> None:
    """Servers that write `error: …` in place of an event are understood."""
    assert read([b'error: {"code":500}\n\n']) == [(b"error", b'{"code":500}')]


def test_an_object_without_its_field_is_an_event() -> None:
    """Servers that write an error into the stream as it is are understood; other lines without a field are not read."""
    assert read([b'data: a\n\n{"error": "no"}\n']) == [(b"", b"a"), (b"", b'{"error": "no"}')]
    assert read([b"{\nhello\n\n"]) == []


def test_what_is_left_without_its_end_mark_is_given_on_close() -> None:
    """A last event without its blank line, or without any line end, is not lost."""
    assert read([b"data: a\n\ndata: b\n"]) == [(b"", b"a"), (b"", b"b")]
    assert read([b"data: a\n\ndata: b"]) == [(b"", b"a"), (b"", b"b")]


def test_separators_of_unicode_do_not_end_lines() -> None:
    """U+2028, U+2029 and U+0085 inside a text end nothing."""
    text = "a\u2028b\u2029c\u0085d"
    assert read([b"data: " + text.encode() + b"\n\n"]) == [(b"", text.encode())]


def test_a_byte_order_mark_is_passed_over() -> None:
    """A byte order mark at the head of the stream is no part of the first field."""
    assert read([b"\xef\xbb", b"\xbfdata: a\n\n"]) == [(b"", b"a")]
