"""A place where what is tested waits until the test lets it go on: delays without sleeping."""

import asyncio
from concurrent.futures import Future


class Gate:
    """What comes to a gate waits there until the test opens it; open gates are passed at once.

    It works between threads and event loops: `wait_reached` and `open` are the test's, `pass_through` and
    `apass_through` belong to what waits.

        gate = Gate()
        model = ScriptedChatModel([chunks("Hel", gate, "lo")])
    """

    def __init__(self) -> None:
        self._reached: Future[None] = Future()
        self._opened: Future[None] = Future()
        for future in (self._reached, self._opened):
            future.set_running_or_notify_cancel()  # who waits may be cancelled, and the gate stays

    @property
    def is_reached(self) -> bool:
        """Whether something has come to the gate."""
        return self._reached.done()

    @property
    def is_open(self) -> bool:
        """Whether it has been opened."""
        return self._opened.done()

    def open(self) -> None:
        """Let everything through from now on."""
        _done(self._opened)

    def wait_reached(self, timeout: float = 30) -> None:
        """Wait until something has come to the gate.

        Raises:
            TimeoutError: nothing came within `timeout` seconds.
        """
        self._reached.result(timeout)

    async def await_reached(self) -> None:
        """The same on an event loop, without a limit of its own."""
        await asyncio.wrap_future(self._reached)

    def pass_through(self) -> None:
        """Wait in this thread until the gate is open."""
        _done(self._reached)
        self._opened.result()

    async def apass_through(self) -> None:
        """Wait on this event loop until the gate is open."""
        _done(self._reached)
        if not self._opened.done():
            await asyncio.wrap_future(self._opened)


def _done(future: "Future[None]") -> None:
    if not future.done():
        future.set_result(None)
