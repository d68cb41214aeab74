"""Locks that hold over all event loops and threads of the process."""

import asyncio
import threading
from collections import deque
from collections.abc import Hashable


class KeyedLock:
    """One holder at a time for each key, first come, first served; whoever waits holds up no event loop.

    `await lock.acquire(key)`, then `lock.release(key)` in a `finally`. Keys that nobody holds cost nothing.
    """

    __slots__ = ("_guard", "_waiting")

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}

    async def acquire(self, key: Hashable) -> None:
        """Wait until nobody else holds `key`, and hold it."""
        with self._guard:
            waiting = self._waiting.get(key)
            if waiting is None:
                self._waiting[key] = deque()
                return
            turn = asyncio.get_running_loop().create_future()
            waiting.append(turn)
        try:
            await turn
        except BaseException:
            with self._guard:
                still_waiting = turn in waiting
                if still_waiting:
                    waiting.remove(turn)
            if not still_waiting:  # it had been handed over already
                self.release(key)
            raise

    def release(self, key: Hashable) -> None:
        """Hand `key` to the next who waits for it."""
        with self._guard:
            waiting = self._waiting[key]
            while waiting:
                turn = waiting.popleft()
                try:
                    turn.get_loop().call_soon_threadsafe(_grant, turn)
                except RuntimeError:
                    continue  # its loop is closed, and whoever waited there is gone
                return
            del self._waiting[key]


def _grant(turn: "asyncio.Future[None]") -> None:
    if not turn.done():
        turn.set_result(None)
