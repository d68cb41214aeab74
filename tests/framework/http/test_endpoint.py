"""One model request: retries, timeouts, and errors that say what happened (R19, R20, R28)."""

import asyncio
import gzip
import json
import logging
import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TypeVar

import pytest

from vernal.http import (
    AuthenticationError,
    BrokenStreamError,
    Endpoint,
    HttpClients,
    ModelConnectionError,
    ModelTimeoutError,
    ProtocolError,
    RateLimitError,
    Refusal,
    RetryPolicy,
    ServiceError,
    Timeouts,
)
from vernal.http.transport import TransportName
from vernal.testing.server import ReplayServer, Reply, replaying

R = TypeVar("R")
OK = Reply.of_json({"ok": True})
SECRET = "sk-very-secret"


def refusal(content: bytes) -> Refusal:
    """Reads `{"message": …}`."""
    return Refusal(message=json.loads(content or b'{"message": "nothing"}')["message"])


def against(
    *replies: Reply,
    ask: Callable[[Endpoint, ReplayServer], Awaitable[R]],
    transport: TransportName = "auto",
    timeouts: Timeouts | None = None,
    attempts: int = 3,
) -> R:
    """What `ask` makes of a server with these replies."""

    async def main() -> R:
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(replaying(*replies))
            clients = HttpClients(transport=transport)
            stack.push_async_callback(clients.aclose)
            endpoint = Endpoint(
                service="test",
                url=server.url,
                headers={"authorization": f"Bearer {SECRET}"},
                clients=clients,
                read_refusal=refusal,
                secrets=(SECRET,),
                key_cure="Set KEY.",
                settings="test",
                retry=RetryPolicy(max_attempts=attempts, initial_delay=0),
                timeouts=timeouts,
            )
            return await ask(endpoint, server)

    return asyncio.run(main())


async def post(endpoint: Endpoint, server: ReplayServer) -> tuple[bytes, int]:
    """The answer, and how many requests it took."""
    answer = await endpoint.post(b"{}")
    return answer.content, len(server.asked)


async def stream(endpoint: Endpoint, server: ReplayServer) -> tuple[bytes, int]:
    """The streamed answer, and how many requests it took."""
    opened = await endpoint.stream(b"{}")
    try:
        return await opened.read_all(), len(server.asked)
    finally:
        await opened.aclose()


@pytest.mark.parametrize("ask", [post, stream])
def test_what_heals_is_retried(ask: Callable[..., Awaitable[tuple[bytes, int]]], transport: TransportName) -> None:
    """A 503, a 429 with Retry-After and a connection that is lost before the first byte cost a retry each (R19)."""
    busy = Reply.of_json({"message": "busy"}, status=503)
    slow = Reply.of_json({"message": "slow"}, status=429, headers={"retry-after": "0"})
    assert against(busy, slow, OK, ask=ask, transport=transport) == (b'{"ok": true}', 3)
    assert against(Reply(cut=True), OK, ask=ask, transport=transport) == (b'{"ok": true}', 2)


@pytest.mark.parametrize("ask", [post, stream])
def test_what_does_not_heal_is_raised_at_once(ask: Callable[..., Awaitable[tuple[bytes, int]]]) -> None:
    """A key that is not accepted is an error at once, with status, request id and cure, and without the key (R28)."""
    reply = Reply.of_json({"message": f"no: {SECRET}"}, status=401, headers={"x-request-id": "req_1"})

    async def asked(endpoint: Endpoint, server: ReplayServer) -> int:
        with pytest.raises(AuthenticationError) as caught:
            await ask(endpoint, server)
        error = caught.value
        assert str(error) == f"test: no: *** (status 401, request id req_1, at {server.url}). Set KEY."
        assert SECRET not in repr(error) + repr(endpoint)
        assert (error.status, error.request_id, error.retryable) == (401, "req_1", False)
        return len(server.asked)

    assert against(reply, ask=asked) == 1


def test_too_long_a_wait_is_an_error_that_names_it() -> None:
    """A Retry-After beyond the policy's limit is not waited for (R19)."""
    reply = Reply.of_json({"message": "slow"}, status=429, headers={"retry-after": "3600"})
    with pytest.raises(RateLimitError, match="to be retried in 3600 s"):
        against(reply, ask=post)


def test_a_stream_is_not_retried_after_its_first_byte(transport: TransportName) -> None:
    """What came is delivered, then the break is raised, and nothing is asked again (R19, R20)."""

    async def asked(endpoint: Endpoint, server: ReplayServer) -> tuple[bytes, int]:
        opened = await endpoint.stream(b"{}")
        first = await opened.read()
        with pytest.raises(BrokenStreamError, match="broke off"):
            await opened.read_all()
        await opened.aclose()
        return first, len(server.asked)

    assert against(Reply([b"first"], cut=True), OK, ask=asked, transport=transport) == (b"first", 1)


def test_a_broken_answer_that_was_not_streamed_is_retried() -> None:
    """Nothing of it was delivered, so it is asked for again (R19)."""
    assert against(Reply([b'{"ok"'], cut=True), OK, ask=post) == (b'{"ok": true}', 2)


def test_closing_early_closes_the_connection(transport: TransportName) -> None:
    """When `aclose` returns, the service learns at once that nobody listens any more (R20)."""

    async def asked(endpoint: Endpoint, server: ReplayServer) -> bool:
        opened = await endpoint.stream(b"{}")
        await opened.read()
        await opened.aclose()
        return await asyncio.wait_for(server.gone.wait(), 5)

    assert against(Reply([b"first"], hold=True), ask=asked, transport=transport)


def test_a_service_that_says_nothing_is_not_waited_for(transport: TransportName) -> None:
    """Without an answer within `first_token` there is an error that says so, and no second request."""

    async def asked(endpoint: Endpoint, server: ReplayServer) -> int:
        with pytest.raises(ModelTimeoutError, match=r"no answer within 0\.05 s.*VERNAL_TEST__FIRST_TOKEN_TIMEOUT"):
            await endpoint.post(b"{}")
        return len(server.asked)

    silent = Reply(before=asyncio.Event(), pieces=[b"late"])
    assert against(silent, ask=asked, transport=transport, timeouts=Timeouts(first_token=0.05)) == 1


@pytest.mark.parametrize(
    ("timeouts", "message"),
    [
        (Timeouts(between_chunks=0.05), r"nothing more came within 0\.05 s"),
        (Timeouts(total=0.05), r"the answer was not whole within 0\.05 s"),
    ],
)
def test_silence_within_an_answer_ends_it(transport: TransportName, timeouts: Timeouts, message: str) -> None:
    """After what came, a silence beyond `between_chunks` or `total` is an error."""

    async def asked(endpoint: Endpoint, server: ReplayServer) -> bytes:
        opened = await endpoint.stream(b"{}")
        first = await opened.read()
        with pytest.raises(ModelTimeoutError, match=message):
            await opened.read()
        await opened.aclose()
        return first

    assert against(Reply([b"first"], hold=True), ask=asked, transport=transport, timeouts=timeouts) == b"first"


def test_a_service_that_is_not_there_is_named() -> None:
    """The error of a refused connection names the address and asks whether the service runs."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"

        async def asked(endpoint: Endpoint, _: ReplayServer) -> None:
            endpoint.url = url
            endpoint.__post_init__()
            await endpoint.post(b"{}")

        with pytest.raises(ModelConnectionError) as caught:
            against(OK, ask=asked, attempts=1)
        assert str(caught.value).endswith(f"(at {url}). Check that the address is right and the service is running.")


def test_the_address_of_an_error_is_the_one_that_was_asked_without_secrets() -> None:
    """It has the path, and neither the user nor the query, in which some services are given a key (R28)."""

    async def asked(endpoint: Endpoint, server: ReplayServer) -> str:
        address = server.url
        endpoint.url = address.replace("http://", f"http://user:{SECRET}@") + f"?key={SECRET}"
        endpoint.headers = {}
        endpoint.__post_init__()
        with pytest.raises(AuthenticationError) as caught:
            await endpoint.post(b"{}")
        assert caught.value.url == address
        return str(caught.value)

    reply = Reply.of_json({"message": "no"}, status=401)
    assert SECRET not in against(reply, ask=asked)


def test_an_error_says_after_how_many_attempts_it_was_given_up() -> None:
    """Who reads it knows that waiting a little was tried, and what to do then."""
    with pytest.raises(ServiceError) as caught:
        against(Reply.of_json({"message": "busy"}, status=503), ask=post)
    assert caught.value.attempts == 3
    assert "test: busy (status 503, 3 attempts, at http://" in str(caught.value)
    assert str(caught.value).endswith("Ask again later; the status page of the service may say more.")


def test_a_compressed_answer_is_read(transport: TransportName) -> None:
    """A service that compresses without being asked is understood."""
    reply = Reply([gzip.compress(b'{"ok": true}')], headers={"content-encoding": "gzip"})
    assert against(reply, ask=post, transport=transport) == (b'{"ok": true}', 1)


def test_a_redirection_is_an_error_that_names_the_place() -> None:
    """A key is not sent where a redirection points; the error says where that is."""
    with pytest.raises(ProtocolError, match="redirection to 'https://elsewhere/'"):
        against(Reply(status=307, headers={"location": "https://elsewhere/"}), ask=post)


def test_retries_are_logged_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    """Each retry is a warning that says why, and no log has the key (R28)."""
    caplog.set_level(logging.DEBUG)
    against(Reply.of_json({"message": f"busy, {SECRET}"}, status=500), OK, ask=post)
    assert "attempt 1 of 3 failed" in caplog.text
    assert "busy, ***" in caplog.text
    assert "Ask again later" not in caplog.text
    assert "attempts" not in caplog.text
    assert SECRET not in caplog.text


def test_bodies_are_logged_on_demand_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    """The logger `vernal.http.bodies` at DEBUG tells what is sent and received, with the secrets masked (R28)."""
    with caplog.at_level(logging.DEBUG, "vernal.http"):
        against(Reply.of_json({"said": SECRET}), ask=lambda endpoint, _: endpoint.post(f"I am {SECRET}".encode()))
    told = [record.getMessage() for record in caplog.records if record.name == "vernal.http.bodies"]
    assert told == ["test: sent I am ***", 'test: received {"said": "***"}']
    assert SECRET not in caplog.text


def test_one_address_has_several_paths() -> None:
    """A request may go to a path under the address, as where the model stands in it."""

    async def ask(endpoint: Endpoint, server: ReplayServer) -> list[str]:
        await endpoint.post(b"{}", "/models/m:generate")
        await (await endpoint.stream(b"{}", "/models/m:stream?alt=sse")).aclose()
        return [asked.path for asked in server.asked]

    assert against(OK, OK, ask=ask) == ["/v1/models/m:generate", "/v1/models/m:stream?alt=sse"]


def test_an_answer_of_another_shape_is_shown_without_secrets() -> None:
    """What is no JSON object is a protocol error that shows how the answer begins; nesting without end is the same."""

    async def ask(endpoint: Endpoint, server: ReplayServer) -> list[str]:
        return [str(caught(endpoint, content)) for content in (f"no {SECRET}".encode(), b"[1]", b"[" * 100_000)]

    def caught(endpoint: Endpoint, content: bytes) -> ProtocolError:
        with pytest.raises(ProtocolError) as error:
            endpoint.read_object(content)
        return error.value

    texts = against(OK, ask=ask)
    assert "begins with 'no ***'" in texts[0]
    assert "begins with '[1]'" in texts[1]
    assert len(texts[2]) < 400


def test_the_last_error_is_raised() -> None:
    """When no attempt succeeds, the service's own words are raised."""
    with pytest.raises(ServiceError, match="oops"):
        against(Reply.of_json({"message": "oops"}, status=500), ask=post)


def test_timeouts_out_of_range_are_refused() -> None:
    """A limit that can never be kept is named when it is given."""
    with pytest.raises(ValueError, match="timeout total is 0"):
        Timeouts(total=0)


def test_a_request_that_cannot_be_made_is_an_error_of_the_protocol() -> None:
    """What the transport refuses before anything is sent, such as two ways to say who asks, names the address."""

    async def main() -> None:
        endpoint = Endpoint(
            service="acme",
            url="http://user:word@127.0.0.1:9/v1",
            headers={"authorization": "Bearer k"},
            clients=HttpClients(transport="aiohttp"),
        )
        await endpoint.post(b"{}")

    with pytest.raises(ProtocolError, match="cannot be asked"):
        asyncio.run(main())
