"""Streams in both faces: cold, bounded, closed deterministically (DESIGN, Streams; R20)."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from vernal import AsyncStream, Stream
from vernal.runtime.portal import run_blocking
from vernal.runtime.streams import BUFFERED_ITEMS, aclose, iterate_in_thread


class Source:
    """Counts to `end`, for ever without one, and notes what happens."""

    def __init__(self, end: int | None = None, error: BaseException | None = None) -> None:
        self.end, self.error = end, error
        self.opened = self.made = 0
        self.closed = threading.Event()

    async def __call__(self) -> AsyncIterator[int]:
        self.opened += 1
        try:
            while self.made != self.end:
                self.made += 1
                yield self.made
                await asyncio.sleep(0)
            if self.error is not None:
                raise self.error
        finally:
            await asyncio.sleep(0)
            self.closed.set()


Read = Callable[[Source, int | None], list[int]]


def _blocking(source: Source, most: int | None = None) -> list[int]:
    items = []
    with Stream(source) as stream:
        for item in stream:
            items.append(item)
            if len(items) == most:
                break
    return items


def _asynchronous(source: Source, most: int | None = None) -> list[int]:
    async def run() -> list[int]:
        items = []
        async with AsyncStream(source) as stream:
            async for item in stream:
                items.append(item)
                if len(items) == most:
                    break
        return items

    return asyncio.run(run())


@pytest.fixture(params=[_blocking, _asynchronous], ids=["blocking", "asynchronous"])
def read(request: pytest.FixtureRequest) -> Read:
    """Both faces: reads a stream to its end, or the first so many items of it."""
    given: Read = request.param
    return given


@pytest.mark.parametrize("size", [0, 1, BUFFERED_ITEMS - 1, BUFFERED_ITEMS, BUFFERED_ITEMS + 1, 10 * BUFFERED_ITEMS])
def test_every_item_arrives_once_and_in_order(read: Read, size: int) -> None:
    """Whatever their number is to the size of the buffer."""
    source = Source(size)
    assert read(source, None) == list(range(1, size + 1))
    assert source.closed.is_set()


def test_what_came_before_an_error_is_delivered_first(read: Read) -> None:
    """R20: then the very error, and the source is closed."""
    error, source, seen = LookupError("gone"), Source(3), []
    source.error = error

    async def noting() -> AsyncIterator[int]:
        async for item in source():
            seen.append(item)
            yield item

    source_of: Any = noting
    with pytest.raises(LookupError, match="gone") as caught:
        read(source_of, None)
    assert caught.value is error
    assert seen == [1, 2, 3]
    assert source.closed.is_set()


def test_a_blocking_reader_gets_all_items_before_the_error() -> None:
    """R20: also where the producer has been ahead of its reader."""
    stream = Stream(Source(10, LookupError("gone")))
    assert [next(stream) for _ in range(10)] == list(range(1, 11))
    with pytest.raises(LookupError, match="gone"):
        next(stream)
    assert list(stream) == []


def test_a_stream_is_cold(read: Read) -> None:
    """Nothing runs before it is read; one that is closed unread opens nothing."""
    source = Source(3)
    Stream(source)
    AsyncStream(source)
    with Stream(source):
        pass

    async def close_unread() -> None:
        async with AsyncStream(source) as stream:
            await stream.aclose()

    asyncio.run(close_unread())
    assert source.opened == 0
    assert read(source, None) == [1, 2, 3]


def test_leaving_early_closes_before_the_block_ends(read: Read) -> None:
    """R20: when `with` or `async with` returns, the source has run its `finally` to its end."""
    source = Source()
    assert read(source, 3) == [1, 2, 3]
    assert source.closed.is_set()


def test_the_producer_of_a_blocking_stream_runs_ahead_no_further_than_the_buffer() -> None:
    """A slow reader holds up the producer; reading on lets it go on."""
    source = Source()

    async def settle() -> None:
        made = -1
        while made != source.made:
            made = source.made
            for _ in range(5):
                await asyncio.sleep(0)

    with Stream(source) as stream:
        for expected in range(1, 5 * BUFFERED_ITEMS):
            assert next(stream) == expected
            if expected % 50 == 0:
                run_blocking(settle)
                assert expected <= source.made <= expected + 2 * BUFFERED_ITEMS + 1
    assert source.closed.is_set()


def test_a_closed_stream_is_at_its_end() -> None:
    """Also with items in its buffer; closing again is no error."""
    stream = Stream(Source())
    assert next(stream) == 1
    stream.close()
    stream.close()
    assert list(stream) == []

    async def run() -> list[int]:
        asynchronous = AsyncStream(Source())
        assert await anext(asynchronous) == 1
        await asynchronous.aclose()
        await asynchronous.aclose()
        return [item async for item in asynchronous]

    assert asyncio.run(run()) == []


def test_an_error_of_the_reader_comes_out_and_closes() -> None:
    """R20: the reader's own error is not hidden by the closing."""
    source = Source()

    def read() -> None:
        with Stream(source) as stream:
            raise LookupError(next(stream))

    with pytest.raises(LookupError, match="1"):
        read()
    assert source.closed.is_set()


def test_an_error_in_closing_comes_out(read: Read) -> None:
    """Nothing is swallowed: a source that cannot close says so, to whoever leaves it early."""

    async def stubborn() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
                await asyncio.sleep(0)
        finally:
            raise OSError("cannot close")

    source: Any = stubborn
    with pytest.raises(OSError, match="cannot close"):
        read(source, 1)


def test_a_forgotten_blocking_stream_is_closed() -> None:
    """R20: after a bare `break`, when nobody holds the stream any more."""
    source = Source()
    for _ in Stream(source):
        break
    gc.collect()
    assert source.closed.wait(20)


def test_streams_from_several_threads_do_not_mix() -> None:
    """Each reader has a pump of its own."""
    results: dict[int, list[int]] = {}
    together = threading.Barrier(5)

    def read(n: int) -> None:
        together.wait(20)
        results[n] = list(Stream(Source(n * 100)))

    readers = [threading.Thread(target=read, args=(n,)) for n in range(5)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(20)
    assert results == {n: list(range(1, n * 100 + 1)) for n in range(5)}


def test_a_blocking_iterator_is_read_in_threads_and_closed() -> None:
    """The event loop goes on meanwhile; the iterator is closed with the stream, and its errors come out."""
    closed: list[str] = []

    def numbers(end: int) -> Iterator[tuple[int, str]]:
        try:
            for n in range(end):
                yield n, threading.current_thread().name
            if end == 3:
                raise LookupError("gone")
        finally:
            closed.append("closed")

    async def run(end: int, most: int) -> list[int]:
        items: list[int] = []
        iterator = iterate_in_thread(lambda: numbers(end))
        try:
            async for n, thread in iterator:
                assert thread == "vernal-worker"
                items.append(n)
                if len(items) == most:
                    break
        finally:
            await aclose(iterator)
        return items

    assert asyncio.run(run(2, 9)) == [0, 1]
    assert asyncio.run(run(9, 2)) == [0, 1]
    with pytest.raises(LookupError, match="gone"):
        asyncio.run(run(3, 9))
    assert closed == ["closed"] * 3


def test_a_blocking_iterator_without_close_will_do() -> None:
    """Any iterable is a stream: a list has nothing to be closed."""

    async def run() -> list[int]:
        return [item async for item in AsyncStream(lambda: iterate_in_thread(lambda: iter([1, 2])))]

    assert asyncio.run(run()) == [1, 2]


def test_an_iterator_without_aclose_will_do() -> None:
    """A hand-written asynchronous iterator has nothing to be closed."""

    class Once:
        def __init__(self) -> None:
            self.left = 2

        def __aiter__(self) -> "Once":
            return self

        async def __anext__(self) -> int:
            if not self.left:
                raise StopAsyncIteration
            self.left -= 1
            return self.left

    assert list(Stream(Once)) == [1, 0]

    async def run() -> list[int]:
        async with AsyncStream(Once) as stream:
            return [item async for item in stream]

    assert asyncio.run(run()) == [1, 0]
