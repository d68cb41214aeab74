"""What carries the first requests of a process, where that is left open."""

import subprocess
import sys

PROGRAM = """
import asyncio, sys
import httpx
from vernal.http import HttpClients
from vernal.http.transport import FIRST_REQUESTS

async def serve(reader, writer):
    while await reader.readline():
        while (await reader.readline()).strip():
            pass
        writer.write(b"HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok")
    writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    clients = HttpClients(transport=sys.argv[1])
    for number in range(FIRST_REQUESTS + 2):
        response = await clients.async_client.get(url)
        print(response.text, "aiohttp" in sys.modules)
    await clients.aclose()

asyncio.run(main())
"""


def answers(transport: str) -> list[str]:
    """For each request of a fresh process its answer, and whether aiohttp was loaded."""
    command = [sys.executable, "-c", PROGRAM, transport]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_the_first_requests_do_without_aiohttp() -> None:
    """A process that asks once or twice does not load aiohttp; with the fifth request it does, and goes on with it."""
    assert answers("auto") == ["ok False"] * 4 + ["ok True"] * 2


def test_a_chosen_transport_carries_every_request() -> None:
    """A transport that was chosen by name carries the first request too."""
    assert answers("aiohttp") == ["ok True"] * 6
    assert answers("httpx") == ["ok False"] * 6
