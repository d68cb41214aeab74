"""When the sessions of a tool search are forgotten."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable


class ToolIndexEvictionStrategy:
    """Says, whenever a session is used, which sessions are forgotten. Subclass it and define `on_access`.

    One strategy may be asked from several threads.
    """

    def on_access(self, session_id: str) -> Iterable[str]:
        """The sessions to forget now that this one is used."""
        raise NotImplementedError(f"{type(self).__qualname__} has no method 'on_access'")

    def on_removed(self, session_id: str) -> None:
        """Take note that the session has been forgotten, for whatever reason."""


class AlwaysEvict(ToolIndexEvictionStrategy):
    """Every turn starts anew."""

    def on_access(self, session_id: str) -> Iterable[str]:
        """The session itself."""
        return (session_id,)


class NeverEvict(ToolIndexEvictionStrategy):
    """Sessions stay until `evict_session` is called."""

    def on_access(self, session_id: str) -> Iterable[str]:
        """None."""
        return ()


class LruEviction(ToolIndexEvictionStrategy):
    """Keeps the `capacity` sessions that were used last.

    Raises:
        ValueError: the capacity is less than 1.
    """

    def __init__(self, capacity: int = 1000) -> None:
        if capacity < 1:
            raise ValueError(f"capacity is {capacity!r}; an integer of at least 1 is wanted")
        self._capacity = capacity
        self._used: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def on_access(self, session_id: str) -> Iterable[str]:
        """Those that were not used for longest, down to the capacity."""
        with self._lock:
            self._used[session_id] = None
            self._used.move_to_end(session_id)
            return [self._used.popitem(last=False)[0] for _ in range(len(self._used) - self._capacity)]

    def on_removed(self, session_id: str) -> None:
        """Its place is free."""
        with self._lock:
            self._used.pop(session_id, None)


class TtlEviction(ToolIndexEvictionStrategy):
    """Forgets sessions that nobody has used for `ttl` seconds, when another one is used.

    `clock` gives the present time in seconds.

    Raises:
        ValueError: the time is not greater than 0.
    """

    def __init__(self, ttl: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        if not ttl > 0:
            raise ValueError(f"ttl is {ttl!r}; seconds greater than 0 are wanted")
        self._ttl = ttl
        self._clock = clock
        self._used: OrderedDict[str, float] = OrderedDict()  # by the time of their last use
        self._lock = threading.Lock()

    def on_access(self, session_id: str) -> Iterable[str]:
        """Those whose time is over; never this one."""
        now = self._clock()
        with self._lock:
            self._used[session_id] = now
            self._used.move_to_end(session_id)
            expired = []
            while now - next(iter(self._used.values())) >= self._ttl:
                expired.append(self._used.popitem(last=False)[0])
            return expired

    def on_removed(self, session_id: str) -> None:
        """Its time no longer runs."""
        with self._lock:
            self._used.pop(session_id, None)


class CompositeEviction(ToolIndexEvictionStrategy):
    """Forgets what any of several strategies would.

    Raises:
        ValueError: no strategy is given.
    """

    def __init__(self, *strategies: ToolIndexEvictionStrategy) -> None:
        if not strategies:
            raise ValueError("a CompositeEviction was given no strategy; at least one is wanted")
        self._strategies = strategies

    def on_access(self, session_id: str) -> Iterable[str]:
        """What any strategy says, each session once."""
        return list(dict.fromkeys(one for strategy in self._strategies for one in strategy.on_access(session_id)))

    def on_removed(self, session_id: str) -> None:
        """All strategies take note."""
        for strategy in self._strategies:
            strategy.on_removed(session_id)
