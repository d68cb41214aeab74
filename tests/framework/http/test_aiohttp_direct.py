"""Requests on aiohttp's connections: what the session would send, and nothing of a connection lost or left open."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal.http import HttpClients, request_id
from vernal.http.aiohttp_direct import is_known
from vernal.http.transport import Response

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """The address of a server that has each connection served by `handler`."""
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def request_of(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """The head of the next request and its body."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    assert length is not None
    return head, await reader.readexactly(int(length[1]))


async def post(
    clients: HttpClients, url: str, content: bytes = b"{}", headers: dict[str, str] | None = None
) -> Response:
    """What has arrived of the answer when its head has."""
    response = await clients.post(
        httpx.URL(url), httpx.Headers(headers or {}, encoding="utf-8"), content, connect_timeout=5
    )
    assert isinstance(response, Response)
    return response


async def whole(response: Response) -> bytes:
    """The body of the answer, whose connection is given back."""
    try:
        return b"".join([chunk async for chunk in response.stream])
    finally:
        await response.aclose()


def answering(answer: bytes, *, closing: bool = False, seen: list[tuple[bytes, bytes]] | None = None) -> Handler:
    """Answers each request of a connection, and closes it after the first where it is `closing`."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await request_of(reader)
                if seen is not None:
                    seen.append(request)
                writer.write(answer)
                if closing:
                    break
        except asyncio.IncompleteReadError:
            pass  # the client has closed it
        writer.close()

    return handler


@given(
    path=st.text(st.sampled_from("abc/ é%?&=+;"), max_size=12),
    headers=st.dictionaries(
        st.sampled_from(["accept", "accept-encoding", "authorization", "host", "x-a", "X-B"]),
        st.text(st.characters(min_codepoint=33, max_codepoint=255, exclude_characters="\x7f"), min_size=1, max_size=8),
    ),
    content=st.binary(max_size=40),
)
def test_it_sends_what_the_session_would(path: str, headers: dict[str, str], content: bytes) -> None:
    """Request line, headers and body of every request are those of aiohttp's session."""
    seen: list[tuple[bytes, bytes]] = []
    headers = {"content-type": "application/json", "user-agent": "a test", **headers}

    async def main() -> None:
        async with serving(answering(ANSWER, seen=seen)) as url:
            clients = HttpClients(transport="aiohttp")
            address = f"{url}/{path}"
            assert await whole(await post(clients, address, content, headers)) == b"ok"
            # This header has it sent by the session.
            assert await whole(await post(clients, address, content, {**headers, "connection": "keep-alive"})) == b"ok"
            await clients.aclose()

    asyncio.run(main())
    (head, body), (session_head, session_body) = seen
    lines = session_head.split(b"\r\n")
    assert sorted(head.split(b"\r\n")) == sorted(line for line in lines if line.lower() != b"connection: keep-alive")
    assert head.split(b"\r\n")[0] == lines[0]
    assert body == session_body == content


@pytest.mark.parametrize("name", ["x-name", "authorization"])
@pytest.mark.parametrize("end", ["\r\nx-more: 1", "\n", "\0"])
def test_no_header_can_end_early(name: str, end: str) -> None:
    """A header that would end before its end is refused; nothing is sent, and the next request is."""
    seen: list[tuple[bytes, bytes]] = []

    async def main() -> None:
        async with serving(answering(ANSWER, seen=seen)) as url:
            clients = HttpClients(transport="aiohttp")
            with pytest.raises(httpx.UnsupportedProtocol, match=f"the header '{name}' holds a line break or a NUL"):
                await post(clients, url, b"refused", headers={name: f"value{end}"})
            await whole(await post(clients, url, b"sent"))
            await clients.aclose()

    asyncio.run(main())
    assert [body for _, body in seen] == [b"sent"]


def test_answers_that_come_before_the_answer_are_skipped() -> None:
    """`100 Continue` and `103 Early Hints` are not the answer."""
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"

    async def main() -> tuple[int, bytes]:
        async with serving(answering(early + ANSWER)) as url:
            clients = HttpClients(transport="aiohttp")
            response = await post(clients, url)
            body = await whole(response)
            await clients.aclose()
            return response.status_code, body

    assert asyncio.run(main()) == (200, b"ok")


@pytest.mark.parametrize(
    ("answer", "body", "closing"),
    [
        (b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok", b"ok", True),
        (b"HTTP/1.0 200 OK\r\n\r\nto the end", b"to the end", True),
        (b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nto the end", b"to the end", True),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", b"ok", False),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"", False),
    ],
    ids=["closed", "1.0", "to-the-end", "chunked", "empty"],
)
def test_a_connection_serves_as_long_as_it_can(answer: bytes, body: bytes, closing: bool) -> None:
    """Whatever ends an answer, it is whole; the next request takes the same connection, or a new one where it must."""
    connections: list[object] = []
    answers = answering(answer, closing=closing)

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        await answers(reader, writer)

    async def main() -> list[bytes]:
        async with serving(handler) as url:
            clients = HttpClients(transport="aiohttp")
            bodies = [await whole(await post(clients, url)) for _ in range(2)]
            await clients.aclose()
            return bodies

    assert asyncio.run(main()) == [body, body]
    assert len(connections) == (2 if closing else 1)


@pytest.mark.parametrize("answer", [b"HELLO\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n", b""])
def test_an_answer_that_is_none_is_an_error_of_the_protocol(answer: bytes) -> None:
    """What is no HTTP is told as such, and the connection is closed."""

    async def main() -> None:
        async with serving(answering(answer, closing=True)) as url:
            clients = HttpClients(transport="aiohttp")
            with pytest.raises(httpx.RemoteProtocolError):
                await post(clients, url)
            await clients.aclose()

    asyncio.run(main())


def test_a_request_that_is_given_up_closes_its_connection() -> None:
    """Cancelled while the answer is waited for, it leaves no connection open, and the next request is answered."""
    left = asyncio.Event()

    async def main() -> bytes:
        asked = asyncio.Event()

        async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await request_of(reader)
            if not asked.is_set():
                asked.set()
                assert await reader.read() == b""
                left.set()
            else:
                writer.write(ANSWER)
            writer.close()

        async with serving(handler) as url:
            clients = HttpClients(transport="aiohttp", max_connections=1)
            task = asyncio.create_task(post(clients, url))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(left.wait(), 5)
            answer = await whole(await post(clients, url))
            await clients.aclose()
            return answer

    assert asyncio.run(main()) == b"ok"


def test_whoever_reads_on_after_the_end_is_told() -> None:
    """A body that is closed in its middle gives an error to whoever waits for more of it, never silence."""

    async def main() -> None:
        async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await request_of(reader)
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok")
            await reader.read()
            writer.close()

        async with serving(handler) as url:
            clients = HttpClients(transport="aiohttp")
            response = await post(clients, url)
            chunks = aiter(response.stream)
            assert await anext(chunks) == b"ok"
            waiting = asyncio.ensure_future(anext(chunks))
            await asyncio.sleep(0)
            await response.aclose()
            with pytest.raises(httpx.TransportError):
                await asyncio.wait_for(waiting, 5)
            await clients.aclose()

    asyncio.run(main())


def test_an_id_that_is_no_text_can_be_shown() -> None:
    """Bytes that are no UTF-8 in the id of a request leave nothing in it that no output takes."""

    async def main() -> str | None:
        answer = ANSWER.replace(b"content-length", b"x-request-id: req_\xe9\r\ncontent-length")
        async with serving(answering(answer)) as url:
            clients = HttpClients(transport="aiohttp")
            response = await post(clients, url)
            await whole(response)
            await clients.aclose()
            return request_id(response.headers)

    assert asyncio.run(main()) == "req_?"


def test_headers_of_each_request_are_forgotten_with_it() -> None:
    """Headers that change with each request, such as a token, leave nothing behind."""

    async def main() -> int:
        async with serving(answering(ANSWER)) as url:
            clients = HttpClients(transport="aiohttp")
            for number in range(5):
                await whole(await post(clients, url, headers={"authorization": f"Bearer {number}"}))
            (connections,) = clients._loop_transport()._loops.values()
            (carrier,) = connections.transports.values()
            await clients.aclose()
            return len(carrier._direct._routes)  # type: ignore[attr-defined]  # it is aiohttp's

    assert asyncio.run(main()) == 0


@pytest.mark.parametrize(
    ("version", "known"),
    [("3.10.11", False), ("3.11.0", True), ("3.14.99", True), ("3.15.0", False), ("4.0.0a2", False), ("odd", False)],
)
def test_an_aiohttp_that_was_not_tried_goes_by_its_session(
    version: str, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer aiohttp may have other insides; with it a request costs more and nothing breaks."""
    monkeypatch.setattr(aiohttp, "__version__", version)
    assert is_known.__wrapped__() is known


def test_the_installed_aiohttp_is_known() -> None:
    """When a newer one is taken, try it, and move the bound."""
    assert is_known()
