"""A library's assistant on Flask: one context for each process, beans in handlers, answers streamed to the browser.

Run: VERNAL_CHAT__MODEL=offline flask --app examples.flask_app.main run
"""

import atexit
import json
from collections.abc import Iterator
from pathlib import Path

from dependency_injector import containers, providers
from dependency_injector.wiring import Provide, inject
from flask import Blueprint, Flask, Response, request, send_file

from vernal import Application, ChatClient, tool

pages = Blueprint("pages", __name__)


class Loans:
    """Who has borrowed what; in earnest a database."""

    def __init__(self) -> None:
        self._borrowed = {"emma": "2027-03-14"}

    def due(self, title: str) -> str | None:
        return self._borrowed.get(title.casefold())


class LoanTools:
    def __init__(self, loans: Loans) -> None:
        self._loans = loans

    @tool(effects="read")
    def due_date_of_a_book(self, title: str) -> str:
        """When a borrowed book comes back.

        Args:
            title: Title of the book, such as "Emma".
        """
        due = self._loans.due(title)
        return f"{title} comes back on {due}." if due else f"{title} is in."


class Beans(containers.DeclarativeContainer):
    loans = providers.Singleton(Loans)
    loan_tools = providers.Singleton(LoanTools, loans)


@pages.get("/")
def page() -> Response:
    return send_file(Path(__file__).parents[1] / "ask.html")


@pages.get("/ask")
@inject
def ask(
    client: ChatClient = Provide["chat_client"],  # a bean of the context, by its name
    tools: LoanTools = Provide[Beans.loan_tools],  # a bean of our own container
) -> dict[str, str | None]:
    return {"answer": client.prompt(request.args["question"]).tools(tools).call().content()}


@pages.get("/ask/stream")
@inject
def stream(
    client: ChatClient = Provide["chat_client"],
    tools: LoanTools = Provide[Beans.loan_tools],
) -> Response:
    """The answer as it arrives.

    A server of WSGI sees that its client has left when it writes: with the next text this generator is closed, and with
    it the model and the tools.
    """
    turn = client.prompt(request.args["question"]).tools(tools).stream()

    def events() -> Iterator[str]:
        with turn.content() as texts:
            for text in texts:
                yield f"data: {json.dumps(text)}\n\n"
        yield 'event: end\ndata: ""\n\n'

    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return Response(events(), mimetype="text/event-stream", headers=headers)


def create_app(application: Application | None = None) -> Flask:
    """The application; its context starts here and ends with the process, or when a test closes it."""
    context = (application or Application(Beans)).start()
    atexit.register(context.close)
    context.wire([__name__])
    app = Flask(__name__)
    app.extensions["vernal"] = context
    app.register_blueprint(pages)
    return app
