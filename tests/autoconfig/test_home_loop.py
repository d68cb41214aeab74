"""A context with asynchronous beans hands turns from elsewhere to the loop that started them, one hop a turn."""

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator

import pytest

from vernal import Application, ApplicationContext, ChatClient, ChatModel, UsageError, bean, configuration, tool
from vernal.testing import ApplicationContextRunner, ScriptedChatModel, chunks, tool_call

TENANT: contextvars.ContextVar[str] = contextvars.ContextVar("TENANT", default="nobody")


class Connection:
    """Belongs to the loop that it was made on."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.tenants: list[str] = []

    @tool
    async def look_up(self, key: str) -> str:
        """Look a key up."""
        assert asyncio.get_running_loop() is self.loop, "the connection is used on a loop that is not its own"
        self.tenants.append(TENANT.get())
        return f"value of {key}"


def script() -> ScriptedChatModel:
    """A model that looks something up and answers, as often as a test asks."""
    return ScriptedChatModel([tool_call("look_up", key="a"), "Found it."] * 10, fragments=3)


@configuration
class Beans:
    @bean
    async def connection(self) -> AsyncIterator[Connection]:
        yield Connection()

    @bean
    def chat_model(self) -> ChatModel:
        return script()


@pytest.fixture
def application(runner: ApplicationContextRunner) -> Application:
    """An application with an asynchronous bean."""
    return runner.with_sources(Beans).application()


async def asked(context: ApplicationContext) -> list[str]:
    """The answers of both asynchronous forms."""
    request = context.get(ChatClient).prompt("Look it up.").tools(context.get(Connection))
    called = await request.acall().content()
    async with request.astream().content() as texts:
        streamed = "".join([text async for text in texts])
    return [called or "", streamed]


def asked_blocking(context: ApplicationContext) -> list[str]:
    """The answers of both blocking forms."""
    request = context.get(ChatClient).prompt("Look it up.").tools(context.get(Connection))
    return [request.call().content() or "", "".join(request.stream().content())]


def test_turns_of_a_blocking_start_run_on_its_loop(application: Application) -> None:
    """Asked by blocking code and on another loop, a turn runs where the beans were started, context variables too."""
    with application as context:
        TENANT.set("acme")
        assert asked_blocking(context) == ["Found it."] * 2
        assert asyncio.run(asked(context)) == ["Found it."] * 2
        assert context.get(Connection).tenants == ["acme"] * 4


def test_turns_of_an_asynchronous_start_run_on_its_loop(application: Application) -> None:
    """Asked on the loop itself, from a thread, and from a loop there, a turn runs where the beans were started."""

    async def main() -> list[str]:
        async with application as context:
            answers = await asked(context)
            answers += await asyncio.to_thread(asked_blocking, context)
            answers += await asyncio.to_thread(asyncio.run, asked(context))
            return answers

    assert asyncio.run(main()) == ["Found it."] * 6


def test_a_blocking_turn_on_the_home_loop_is_refused(application: Application) -> None:
    """R30: the loop would have to wait for itself; the error names the asynchronous face."""

    async def main() -> None:
        async with application as context:
            request = context.get(ChatClient).prompt("Look it up.").tools(context.get(Connection))
            with pytest.raises(UsageError, match="await the asynchronous face"):
                request.call().content()
            with pytest.raises(UsageError, match="await the asynchronous face"):
                next(request.stream().content())

    asyncio.run(main())


def test_a_turn_after_the_loop_has_ended_is_refused(application: Application) -> None:
    """Where the loop of the beans is gone, a turn says so instead of waiting for ever."""
    clients: list[ChatClient] = []

    async def main() -> None:
        async with application as context:
            clients.append(context.get(ChatClient))

    asyncio.run(main())
    with pytest.raises(UsageError, match="no longer runs"):
        clients[0].prompt("Look it up.").call().content()
    with pytest.raises(UsageError, match="no longer runs"):
        asyncio.run(clients[0].prompt("Look it up.").acall().content())


class Waiting:
    """A tool that waits until it is cancelled."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended = threading.Event()

    @tool
    async def wait(self) -> str:
        """Wait."""
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        return "never"


def test_a_cancelled_turn_has_ended_at_home(application: Application) -> None:
    """R20: when a cancelled caller goes on, the work on the other loop is over."""
    waiting = Waiting()

    async def main(context: ApplicationContext) -> None:
        turn = context.get(ChatClient).prompt("Wait.").tools(waiting).acall()
        asking = asyncio.ensure_future(turn.content())
        await asyncio.to_thread(waiting.begun.wait)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert waiting.ended.is_set()

    with application as context, context.override(ChatModel, ScriptedChatModel([tool_call("wait")])):
        asyncio.run(main(context))


def test_a_stream_that_is_left_has_ended_at_home(application: Application) -> None:
    """R20: closing a stream early ends its work on the other loop, tools included."""
    waiting = Waiting()
    model = ScriptedChatModel([chunks("One ", "moment.", tool_call("wait"))])

    async def main(context: ApplicationContext) -> None:
        request = context.get(ChatClient).prompt("Wait.").tools(waiting)
        async with request.astream().content() as texts:
            async for _ in texts:
                break
            await asyncio.to_thread(waiting.begun.wait)
        assert waiting.ended.is_set()

    with application as context, context.override(ChatModel, model):
        asyncio.run(main(context))


def test_a_failing_stream_fails_across_loops(application: Application) -> None:
    """What breaks a stream reaches its reader on the other loop, after the chunks before it."""
    model = ScriptedChatModel([chunks("Half", OSError("the line is dead"))])
    seen: list[str] = []

    async def main(context: ApplicationContext) -> None:
        async with context.get(ChatClient).prompt("Tell me.").astream().content() as texts:
            seen.append(await anext(texts))
            with pytest.raises(OSError, match="the line is dead"):
                await anext(texts)

    with application as context, context.override(ChatModel, model):
        asyncio.run(main(context))
    assert seen == ["Half"]


def test_a_long_stream_crosses_in_order_and_bounded(application: Application) -> None:
    """All chunks of a stream that outruns its reader arrive, in order; the producer waits for room."""
    words = [f"{number} " for number in range(500)]

    async def main(context: ApplicationContext) -> str:
        text = ""
        async for word in context.get(ChatClient).prompt("Count.").astream().content():
            text += word
            await asyncio.sleep(0)
        return text

    with application as context, context.override(ChatModel, ScriptedChatModel([chunks(*words)])):
        assert asyncio.run(main(context)) == "".join(words)


def test_without_asynchronous_beans_turns_stay_where_they_are(runner: ApplicationContextRunner) -> None:
    """A context that started nothing on a loop hands nothing over."""

    @tool
    async def where() -> str:
        """Where the turn runs."""
        return str(id(asyncio.get_running_loop()))

    async def main(context: ApplicationContext) -> bool:
        await context.get(ChatClient).prompt("Where?").tools(where).acall().content()
        return str(id(asyncio.get_running_loop())) in str(model.requests[-1].messages)

    model = ScriptedChatModel([tool_call("where"), "There."])
    with runner.with_bean(ChatModel, model).run() as run:
        assert run.context.loop is None
        assert asyncio.run(main(run.context))


def test_the_builder_wants_a_function_for_its_loop() -> None:
    """`event_loop` is asked at each turn, so it is a function."""
    with pytest.raises(TypeError, match="a function that gives an event loop"):
        ChatClient.builder(ScriptedChatModel()).event_loop(None)  # type: ignore[arg-type]  # what is refused
