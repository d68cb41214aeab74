"""The Flask example: one context for the process, beans in handlers, streams that end with their reader."""

import asyncio
import contextlib
import importlib
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask import Flask
from werkzeug.serving import make_server

from vernal import ApplicationContext, ChatModel, ChatResponse, Prompt, UsageError
from vernal.testing import ScriptedChatModel, tool_call

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 20
"""Seconds after which a test gives up."""

QUESTION = {"question": "When does Emma come back, on which due date?"}


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """The example's module, loaded anew, with the offline model."""
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VERNAL_CHAT__MODEL", "offline")
    yield importlib.import_module("examples.flask_app.main")
    for name in [name for name in sys.modules if name.partition(".")[0] == "examples"]:
        del sys.modules[name]


@pytest.fixture
def app(main: Any) -> Iterator[Flask]:
    """The application, closed after the test."""
    app: Flask = main.create_app()
    with context_of(app):
        yield app


def context_of(app: Flask) -> ApplicationContext:
    context: ApplicationContext = app.extensions["vernal"]
    return context


def test_handlers_get_beans(app: Flask) -> None:
    """The client and the tools come from the context, the one by name, the other by the user's container."""
    assert app.test_client().get("/ask", query_string=QUESTION).json == {"answer": "Emma comes back on 2027-03-14."}


def test_the_context_lives_with_the_application(main: Any) -> None:
    """It starts with `create_app`; once it is closed, it gives no beans."""
    app = main.create_app()
    context = context_of(app)
    assert context.get(main.LoanTools) is context.get(main.LoanTools)
    context.close()
    with pytest.raises(UsageError, match="closed"):
        context.get(main.LoanTools)


def test_the_context_is_closed_when_the_process_ends() -> None:
    """A process that has answered ends by itself, with nothing on its error stream."""
    program = (
        "import atexit\n"
        "from examples.flask_app.main import create_app\n"
        "apps = []\n"
        "atexit.register(lambda: print(apps[0].extensions['vernal']))\n"
        "apps.append(create_app())\n"
        f"print(apps[0].test_client().get('/ask', query_string={QUESTION!r}).json)\n"
        "print(apps[0].extensions['vernal'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"VERNAL_CHAT__MODEL": "offline", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    answer, before, after = done.stdout.splitlines()
    assert "Emma comes back" in answer
    assert "closed" not in before
    assert "closed" in after


def test_an_override_works_in_tests(app: Flask, main: Any) -> None:
    """Another model answers inside the block; handlers get the client that was built with it."""
    model = ScriptedChatModel([tool_call("due_date_of_a_book", title="Emma"), "In March."])
    browser = app.test_client()
    with context_of(app).override(ChatModel, model):
        assert browser.get("/ask", query_string=QUESTION).json == {"answer": "In March."}
    assert "2027-03-14" in str(model.requests[-1].messages[-1])
    assert browser.get("/ask", query_string=QUESTION).json == {"answer": "Emma comes back on 2027-03-14."}


def test_an_answer_is_streamed_as_server_sent_events(app: Flask) -> None:
    """Each text is an event, line breaks included; a last event says that the answer is whole."""
    with context_of(app).override(ChatModel, ScriptedChatModel(["One\nTwo"], fragments=4)):
        response = app.test_client().get("/ask/stream", query_string=QUESTION)
        body = response.text
    assert response.mimetype == "text/event-stream"
    assert body == 'data: "One\\n"\n\ndata: "Two"\n\nevent: end\ndata: ""\n\n'


def test_the_page_reads_what_the_server_sends(app: Flask) -> None:
    """The page asks the streaming route."""
    with app.test_client().get("/") as response:
        assert 'new EventSource("/ask/stream?"' in response.get_data(as_text=True)


class TalkingChatModel(ChatModel):
    """Says one word, and once its reader has left, goes on until its stream is closed."""

    def __init__(self) -> None:
        self.left = threading.Event()
        self.closed = threading.Event()

    async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        try:
            yield ChatResponse.of("Once")
            await asyncio.get_running_loop().run_in_executor(None, self.left.wait, PATIENCE)
            while True:
                yield ChatResponse.of(" more")
                await asyncio.sleep(0)
        finally:
            self.closed.set()


@contextlib.contextmanager
def served(app: Flask) -> Iterator[str]:
    """The application behind a real server on loopback; gives its address."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(PATIENCE)
        server.server_close()
    assert not thread.is_alive()


def test_the_stream_stops_when_the_client_leaves(app: Flask) -> None:
    """On a real server: the client reads the first event and leaves; the model goes on, the server cannot write, and
    the model's stream is closed (R20)."""
    model = TalkingChatModel()
    with (
        served(app) as address,
        context_of(app).override(ChatModel, model),
        httpx.stream("GET", f"{address}/ask/stream", params=QUESTION, timeout=PATIENCE) as response,
    ):
        lines = (line for line in response.iter_lines() if line)  # forgotten, it would end the connection
        first = next(lines)
        assert json.loads(first.removeprefix("data: ")) == "Once"
        assert not model.closed.is_set()
        response.close()
        model.left.set()
        assert model.closed.wait(PATIENCE)
