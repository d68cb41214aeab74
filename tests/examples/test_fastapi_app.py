"""The FastAPI example: one context for the application, beans in handlers, streams that end with their reader."""

import asyncio
import contextlib
import importlib
import json
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from vernal import ChatModel, ChatResponse, Prompt
from vernal.testing import ScriptedChatModel, tool_call

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 20
"""Seconds after which a test gives up."""


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """The example's module, loaded anew, with the offline model."""
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VERNAL_CHAT__MODEL", "offline")
    yield importlib.import_module("examples.fastapi_app.main")
    for name in [name for name in sys.modules if name.partition(".")[0] == "examples"]:
        del sys.modules[name]


def streamed(body: str) -> list[tuple[str, Any]]:
    """The events of a response, each with its name and its data."""
    events = []
    for block in body.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "data" in fields:
            events.append((fields.get("event", "message"), json.loads(fields["data"])))
    return events


@contextlib.asynccontextmanager
async def browsing(main: Any) -> AsyncIterator[httpx.AsyncClient]:
    """The started application, asked without a server."""
    transport = httpx.ASGITransport(app=main.app)
    async with main.lifespan(main.app), httpx.AsyncClient(transport=transport, base_url="http://shop") as browser:
        yield browser


def test_the_context_lives_with_the_application(main: Any) -> None:
    """It starts with the lifespan, its asynchronous beans with it, and is closed at the end."""

    async def scenario() -> None:
        async with browsing(main) as browser:
            stock = main.app.state.context.get(main.Stock)
            assert stock.open
            answer = await browser.get("/ask", params={"question": "How many copies of Emma are there?"})
            assert answer.json() == {"answer": "There are 3 copies of Emma."}
        assert not stock.open

    asyncio.run(scenario())


def test_an_override_works_in_tests(main: Any) -> None:
    """Another model answers inside the block; handlers get what depends on it built anew."""
    model = ScriptedChatModel([tool_call("copies_of_a_book", title="Persuasion"), "One copy is left."])

    async def scenario() -> None:
        async with browsing(main) as browser:
            async with main.app.state.context.override(ChatModel, model):
                answer = await browser.get("/ask", params={"question": "Is Persuasion there?"})
            assert answer.json() == {"answer": "One copy is left."}
            assert "There are 1 copies of Persuasion." in str(model.requests[-1].messages[-1])
            answer = await browser.get("/ask", params={"question": "How many copies of Emma are there?"})
            assert answer.json() == {"answer": "There are 3 copies of Emma."}

    asyncio.run(scenario())


def test_an_answer_is_streamed_as_server_sent_events(main: Any) -> None:
    """Each text is an event, line breaks included; a last event says that the answer is whole."""
    model = ScriptedChatModel(["One\nTwo"], fragments=4)

    async def scenario() -> None:
        async with browsing(main) as browser, main.app.state.context.override(ChatModel, model):
            response = await browser.get("/ask/stream", params={"question": "Count"})
        assert response.headers["content-type"].startswith("text/event-stream")
        assert streamed(response.text) == [("message", "One\n"), ("message", "Two"), ("end", "")]

    asyncio.run(scenario())


def test_the_page_reads_what_the_server_sends(main: Any) -> None:
    """The page asks the streaming route and listens to the last event."""

    async def scenario() -> None:
        async with browsing(main) as browser:
            page = (await browser.get("/")).text
        assert 'new EventSource("/ask/stream?"' in page
        assert 'addEventListener("end"' in page

    asyncio.run(scenario())


class WaitingChatModel(ChatModel):
    """Says one word, then nothing until its stream is closed."""

    def __init__(self) -> None:
        self.closed = threading.Event()

    async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        try:
            yield ChatResponse.of("Once")
            await asyncio.Event().wait()
        finally:
            self.closed.set()


@contextlib.contextmanager
def served(app: Any) -> Iterator[str]:
    """The application behind a real server on loopback; gives its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=PATIENCE))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
    assert not thread.is_alive()


def test_the_stream_stops_when_the_client_leaves(main: Any) -> None:
    """On a real server: the client reads the first event and leaves; the model, which is silent, sees its stream
    closed (R20)."""
    model = WaitingChatModel()
    with served(main.app) as address:
        assert httpx.get(address).status_code == 200  # the application has started
        with (
            main.app.state.context.override(ChatModel, model),
            httpx.stream("GET", f"{address}/ask/stream", params={"question": "Tell"}, timeout=PATIENCE) as response,
        ):
            lines = (line for line in response.iter_lines() if line)  # forgotten, it would end the connection
            assert next(lines) == 'data: "Once"'
            assert not model.closed.is_set()
            response.close()
            assert model.closed.wait(PATIENCE)
