"""What carries the first requests of a process, where that is left open."""

import subprocess
import sys

import pytest

from vernal.http.transport import processors

PROGRAM = """
import asyncio, os, sys, threading
if sys.argv[2] == "one" and hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
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
        for thread in threading.enumerate():
            if thread.name == "vernal-warm-up":
                thread.join()
        print(response.text, "aiohttp" in sys.modules)
    await clients.aclose()

asyncio.run(main())
"""


def answers(transport: str, processors: str = "one") -> list[str]:
    """For each request of a fresh process its answer, and whether aiohttp was loaded."""
    command = [sys.executable, "-c", PROGRAM, transport, processors]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_the_first_requests_do_without_aiohttp() -> None:
    """A process that asks once or twice does not load aiohttp; with the fifth request it does, and goes on with it."""
    assert answers("auto") == ["ok False"] * 4 + ["ok True"] * 2


@pytest.mark.skipif(processors() < 2, reason="there is one processor")
def test_aiohttp_is_loaded_aside_where_there_is_a_processor_for_it() -> None:
    """Background pre-initialisation: while the fourth answer is waited for, so that the fifth request finds it."""
    assert answers("auto", "all") == ["ok False"] * 3 + ["ok True"] * 3


def test_a_chosen_transport_carries_every_request() -> None:
    """A transport that was chosen by name carries the first request too."""
    assert answers("aiohttp") == ["ok True"] * 6
    assert answers("httpx") == ["ok False"] * 6
