"""A bookshop's assistant on FastAPI: the context lives with the application, and answers are streamed to the browser.

Run: VERNAL_CHAT__MODEL=offline uvicorn examples.fastapi_app.main:app
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, Request
from fastapi.responses import FileResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent

from vernal import Application, ChatClient, ChatClientBuilder, bean, configuration, tool

T = TypeVar("T")


class Stock:
    """What is on the shelves; in earnest a pool of connections to a database."""

    def __init__(self) -> None:
        self.open = True
        self._copies = {"emma": 3, "persuasion": 1}

    def copies(self, title: str) -> int:
        return self._copies.get(title.casefold(), 0)


class StockTools:
    def __init__(self, stock: Stock) -> None:
        self._stock = stock

    @tool(effects="read")
    def copies_of_a_book(self, title: str) -> str:
        """How many copies of a book are in the shop.

        Args:
            title: Title of the book, such as "Emma".
        """
        return f"There are {self._stock.copies(title)} copies of {title}."


@configuration
class Shop:
    @bean
    async def stock(self) -> AsyncIterator[Stock]:
        """Opened when the application starts, closed when it ends."""
        stock = Stock()
        yield stock
        stock.open = False

    @bean
    def stock_tools(self, stock: Stock) -> StockTools:
        return StockTools(stock)

    @bean
    def assistant(self, builder: ChatClientBuilder, tools: StockTools) -> ChatClient:
        """The client that handlers get: the default one steps back."""
        return builder.default_system("You help in a bookshop.").default_tools(tools).build()


application = Application(Shop)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with application as context:
        app.state.context = context
        yield


def injected(bean_type: Callable[..., T]) -> Any:
    """A bean as a parameter of a handler: `client: Annotated[ChatClient, injected(ChatClient)]`."""

    async def from_context(request: Request) -> T:
        found: T = request.app.state.context.get(bean_type)
        return found

    return Depends(from_context)


app = FastAPI(lifespan=lifespan)
Client = Annotated[ChatClient, injected(ChatClient)]


@app.get("/")
async def page() -> FileResponse:
    return FileResponse(Path(__file__).parents[1] / "ask.html")


@app.get("/ask")
async def ask(question: str, client: Client) -> dict[str, str | None]:
    return {"answer": await client.prompt(question).acall().content()}


@app.get("/ask/stream", response_class=EventSourceResponse)
async def stream(question: str, client: Client) -> AsyncIterator[ServerSentEvent]:
    """The answer as it arrives; when the client leaves, this is cancelled, and with it the model and the tools."""
    async with client.prompt(question).astream().content() as texts:
        async for text in texts:
            yield ServerSentEvent(data=text)
    yield ServerSentEvent(event="end", data="")
