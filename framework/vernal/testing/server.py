"""A small HTTP server for tests of providers: it answers as it is told, byte for byte, and keeps what it was asked.

async with replaying(Reply.of_json({…})) as server:
    model = OpenAiChatModel(base_url=server.url)
    …
assert server.asked[0].json["model"] == …
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal


@dataclass
class Reply:
    """What to answer to one request.

    `pieces` are sent one by one as chunks of a chunked body; `hold` keeps the connection open after them until the
    client goes away, `cut` closes it there without the end of the body, and nothing is sent `before` an event is set.
    """

    pieces: Sequence[bytes] = ()
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    hold: bool = False
    cut: bool = False
    before: asyncio.Event | None = None

    @classmethod
    def of_json(cls, body: Any, **more: Any) -> "Reply":
        """An answer with a JSON body."""
        return cls([json.dumps(body).encode()], **more)

    @classmethod
    def of_events(cls, *chunks: Any, done: bool = True, **more: Any) -> "Reply":
        """An answer with Server-Sent Events, one piece for each."""
        pieces = [b"data: " + (c if isinstance(c, bytes) else json.dumps(c).encode()) + b"\n\n" for c in chunks]
        return cls(pieces + [b"data: [DONE]\n\n"] * done, content_type="text/event-stream", **more)


@dataclass
class ReceivedRequest:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, read."""
        return json.loads(self.body)


class ReplayServer:
    """Answers requests with the replies in turn; the last one is repeated.

    `asked` has the requests, `connections` counts how many were opened. `reached` is set when a request has come,
    `gone` when a client has closed its connection in the middle of an answer, `left` when one has closed one at all.
    `url` is the base URL, with the path `/v1`.
    """

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.asked: list[ReceivedRequest] = []
        self.connections = 0
        self.gone = asyncio.Event()
        self.left = asyncio.Event()
        self.reached = asyncio.Event()
        self.url = ""
        self._serving: set[asyncio.Task[Any]] = set()
        self._portal: BlockingPortal | None = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until the client closes it."""
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            while asked := await _read(reader):
                self.asked.append(asked)
                self.reached.set()
                reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
                if not await self._answer(reply, reader, writer):
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
        except asyncio.CancelledError:
            return  # by `aclose`, which is all that ends a task of this server
        finally:
            self.left.set()
            writer.close()

    async def aclose(self) -> None:
        """Hang up on all clients."""
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving)

    def is_set(self, event: asyncio.Event, timeout: float = 10) -> bool:
        """Whether an event of this server, one of `serving`, is set within so many seconds; waits in this thread."""
        assert self._portal is not None, "this server is not one of `serving`: wait for its events on its own loop"

        async def wait() -> bool:
            try:
                async with asyncio.timeout(timeout):
                    return await event.wait()
            except TimeoutError:
                return False

        return self._portal.call(wait)

    def hang_up(self) -> None:
        """Hang up on all clients; for servers of `serving`."""
        assert self._portal is not None, "this server is not one of `serving`: await server.aclose()"
        self._portal.call(self.aclose)

    async def _answer(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if reply.before is not None:
            await reply.before.wait()
        headers = {"content-type": reply.content_type, "transfer-encoding": "chunked", **reply.headers}
        if reply.status == 204:  # has no body
            del headers["transfer-encoding"]
        lines = [f"HTTP/1.1 {reply.status} X", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
        if reply.status == 204:
            await writer.drain()
            return True
        for piece in reply.pieces:
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0)  # a client on this loop gets each piece by itself
        if reply.cut:
            return False
        if reply.hold:
            await reader.read()
            self.gone.set()
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


async def _read(reader: asyncio.StreamReader) -> ReceivedRequest | None:
    head = await reader.readline()
    if not head:
        return None
    method, path, _ = head.decode().split()
    headers = {}
    while line := (await reader.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    return ReceivedRequest(method, path, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


@asynccontextmanager
async def replaying(*replies: Reply) -> AsyncIterator[ReplayServer]:
    """A server on a free port of this machine."""
    replay = ReplayServer(*replies)
    server = await asyncio.start_server(replay._serve, "127.0.0.1", 0)
    replay.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield replay
    finally:
        server.close()
        await replay.aclose()


@contextmanager
def serving(*replies: Reply) -> Iterator[ReplayServer]:
    """The same for plain code: the server runs on an event loop of its own, in another thread."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(replaying(*replies)) as server:
        server._portal = portal
        yield server
