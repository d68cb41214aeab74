"""A turn of a chat client: run once by its first terminal, read by the later ones."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from contextlib import aclosing
from typing import Any, TypeVar

from vernal.advisors.api import refuse_other
from vernal.advisors.model import OUTPUT_FORMAT
from vernal.advisors.validation import StructuredOutputValidationAdvisor
from vernal.client.assembly import PreparedRequest
from vernal.errors import UsageError
from vernal.models.aggregator import MessageAggregator
from vernal.models.structured import MISSING, StructuredOutput
from vernal.runtime.streams import AsyncStream, Stream
from vernal.values.events import EVENTS, ChatEvent, ReasoningEvent, TextEvent, TurnFinished
from vernal.values.exchange import ChatClientRequest, ChatClientResponse
from vernal.values.messages import Message
from vernal.values.options import as_tool_calling
from vernal.values.responses import ChatResponse

T = TypeVar("T")


class _Calling:
    """What both faces of a called turn share: it runs once."""

    def __init__(self, prepared: PreparedRequest, response: ChatClientResponse | None = None) -> None:
        self._prepared = prepared
        self._response = response
        self._begun = False

    def __repr__(self) -> str:
        state = "answered" if self._response is not None else "begun" if self._begun else "not run yet"
        return f"<{type(self).__name__}, {state}; .content(), .entity(T) or .chat_response() gives its answer>"

    def _begin(self, output: "StructuredOutput[Any] | None" = None, attempts: int = 0) -> PreparedRequest:
        """The request, to be run now; what it has done is not done again where it came to no good end (R10)."""
        if output is not None and self._response is not None:
            raise UsageError(
                f"entity({output.name}) was asked for after the turn had run; it changes the request, so it must be "
                f"the first terminal of the turn"
            )
        if self._begun:
            raise UsageError(
                "this turn has been run and has failed, or was cancelled; its tools would run twice, so it is not run "
                "again: make a new one with .call() or .acall()"
            )
        self._begun = True
        if output is None or not attempts:
            return self._prepared
        return self._prepared.with_advisor(
            StructuredOutputValidationAdvisor(output=output, max_repeat_attempts=attempts)
        )


class CallTurn(_Calling):
    """A blocking turn. The first of its terminals runs it, later ones read the same response.

    Raises:
        UsageError: from a terminal after one that has failed.
    """

    def __init__(self, prepared: PreparedRequest, response: ChatClientResponse | None = None) -> None:
        super().__init__(prepared, response)
        self._running = threading.Lock()

    def content(self) -> str | None:
        """The text of the answer, None where there is none."""
        return self.chat_client_response().text

    def chat_response(self) -> ChatResponse | None:
        """The response of the model, with usage, finish reason and all generations."""
        return self.chat_client_response().chat_response

    def chat_client_response(self) -> ChatClientResponse:
        """The response with the context of the turn."""
        if self._response is None:
            with self._running:  # who asks meanwhile, in another thread, reads the same response
                if self._response is None:
                    prepared = self._begin()
                    self._response = prepared.engine.home.run_blocking(run, prepared)
        return self._response

    def entity(self, kind: type[T], *, repeat_attempts: int = 0) -> T:
        """The answer as an object of type `kind`: a pydantic model, dataclass, TypedDict, list, union or scalar.

        With `repeat_attempts` an answer that is no such object is asked for again so many times, with the reasons.

        Raises:
            UsageError: another terminal has run the turn already; the wanted type is part of the request.
            StructuredOutputError: the answer is no such object.
        """
        output = StructuredOutput(kind)
        with self._running:
            prepared = self._begin(output, repeat_attempts)
            self._response = prepared.engine.home.run_blocking(run, prepared, output)
        return output.convert(self._response.text)


class AsyncCallTurn(_Calling):
    """An asynchronous turn: `await turn.content()`, or `await turn` for the finished turn.

    Raises:
        UsageError: from a terminal after one that has failed or was cancelled.
    """

    def __init__(self, prepared: PreparedRequest) -> None:
        super().__init__(prepared)
        self._running = asyncio.Lock()

    def __await__(self) -> Generator[Any, None, CallTurn]:
        return self._finished().__await__()

    async def content(self) -> str | None:
        """The text of the answer, None where there is none."""
        return (await self.chat_client_response()).text

    async def chat_response(self) -> ChatResponse | None:
        """The response of the model, with usage, finish reason and all generations."""
        return (await self.chat_client_response()).chat_response

    async def chat_client_response(self) -> ChatClientResponse:
        """The response with the context of the turn."""
        if self._response is None:
            async with self._running:  # who asks meanwhile reads the same response
                if self._response is None:
                    prepared = self._begin()
                    self._response = await prepared.engine.home.run(run, prepared)
        return self._response

    async def entity(self, kind: type[T], *, repeat_attempts: int = 0) -> T:
        """The answer as an object of type `kind`: a pydantic model, dataclass, TypedDict, list, union or scalar.

        With `repeat_attempts` an answer that is no such object is asked for again so many times, with the reasons.

        Raises:
            UsageError: another terminal has run the turn already; the wanted type is part of the request.
            StructuredOutputError: the answer is no such object.
        """
        output = StructuredOutput(kind)
        async with self._running:
            prepared = self._begin(output, repeat_attempts)
            self._response = await prepared.engine.home.run(run, prepared, output)
        return output.convert(self._response.text)

    async def _finished(self) -> CallTurn:
        return CallTurn(self._prepared, await self.chat_client_response())


class _Streaming:
    """What both faces of a streamed turn share: one terminal opens the stream."""

    def __init__(self, prepared: PreparedRequest) -> None:
        self._prepared = prepared
        self._opened = False

    def __repr__(self) -> str:
        state = "opened" if self._opened else "not opened yet"
        return f"<{type(self).__name__}, {state}; .content(), .events() or .chat_response() gives its stream>"

    def _source(self, pick: Callable[[PreparedRequest], AsyncIterator[T]]) -> Callable[[], AsyncIterator[T]]:
        if self._opened:
            raise UsageError("this streamed turn has been opened already; make a new one with .stream() or .astream()")
        self._opened = True
        return lambda: pick(self._prepared)

    def _blocking(self, pick: Callable[[PreparedRequest], AsyncIterator[T]]) -> Stream[T]:
        return Stream(self._source(pick), prepare=self._prepared.engine.home.prepare_blocking)

    def _awaited(self, pick: Callable[[PreparedRequest], AsyncIterator[T]]) -> AsyncStream[T]:
        source, home = self._source(pick), self._prepared.engine.home
        return AsyncStream(lambda: home.stream(source))


class StreamTurn(_Streaming):
    """A blocking streamed turn; one of its terminals gives the stream."""

    def content(self) -> Stream[str]:
        """The texts of the answer as they arrive."""
        return self._blocking(_texts)

    def chat_response(self) -> Stream[ChatResponse]:
        """The chunks of the model's response as they arrive."""
        return self._blocking(_responses)

    def chat_client_response(self) -> Stream[ChatClientResponse]:
        """The chunks with the context of the turn."""
        return self._blocking(stream)

    def events(self) -> Stream[ChatEvent]:
        """What happens in the turn, as typed events in order: text, reasoning, tool calls, rounds, and the end."""
        return self._blocking(_events)

    def entities(self, kind: type[T]) -> Stream[T]:
        """The answer as it grows, as objects of type `kind`: each time one can be read that tells more; last the whole.

        Raises:
            StructuredOutputError: at the end, where the whole answer is no such object.
        """
        output = StructuredOutput(kind)
        return self._blocking(lambda prepared: _entities(prepared, output))


class AsyncStreamTurn(_Streaming):
    """An asynchronous streamed turn; one of its terminals gives the stream."""

    def content(self) -> AsyncStream[str]:
        """The texts of the answer as they arrive."""
        return self._awaited(_texts)

    def chat_response(self) -> AsyncStream[ChatResponse]:
        """The chunks of the model's response as they arrive."""
        return self._awaited(_responses)

    def chat_client_response(self) -> AsyncStream[ChatClientResponse]:
        """The chunks with the context of the turn."""
        return self._awaited(stream)

    def events(self) -> AsyncStream[ChatEvent]:
        """What happens in the turn, as typed events in order: text, reasoning, tool calls, rounds, and the end."""
        return self._awaited(_events)

    def entities(self, kind: type[T]) -> AsyncStream[T]:
        """The answer as it grows, as objects of type `kind`: each time one can be read that tells more; last the whole.

        Raises:
            StructuredOutputError: at the end, where the whole answer is no such object.
        """
        output = StructuredOutput(kind)
        return self._awaited(lambda prepared: _entities(prepared, output))


async def run(prepared: PreparedRequest, output: "StructuredOutput[Any] | None" = None) -> ChatClientResponse:
    """Run a prepared request to its end."""
    return await prepared.chain().next_call(await _request(prepared, {}, output))


async def stream(
    prepared: PreparedRequest, *, events: bool = False, output: "StructuredOutput[Any] | None" = None
) -> AsyncGenerator[ChatClientResponse, None]:
    """Run a prepared request as a stream; when it ends, for whatever reason, everything it opened is closed."""
    request = await _request(prepared, {EVENTS: True} if events else {}, output)
    chain = prepared.chain()
    try:
        async for chunk in chain.next_stream(request):
            if type(chunk) is not ChatClientResponse:
                refuse_other("a chunk of the stream", chunk, ChatClientResponse)
            yield chunk
    finally:
        await chain.aclose()


async def _request(
    prepared: PreparedRequest, context: dict[str, Any], output: "StructuredOutput[Any] | None"
) -> ChatClientRequest:
    """The request; the wanted form of the answer goes to the model natively where it can, else in words."""
    if output is None:
        return await prepared.request(context)
    if not prepared.engine.chat_model.native_structured_output:
        return await prepared.request({**context, OUTPUT_FORMAT: output.instruction})
    request = await prepared.request(context)
    options = as_tool_calling(request.prompt.options).copy(output_schema=output.schema)
    return request.with_prompt(request.prompt.with_options(options))


async def _responses(prepared: PreparedRequest) -> AsyncIterator[ChatResponse]:
    async with aclosing(stream(prepared)) as chunks:
        async for chunk in chunks:
            if chunk.chat_response is not None:
                yield chunk.chat_response


async def _events(prepared: PreparedRequest) -> AsyncIterator[ChatEvent]:
    aggregator = MessageAggregator()
    history: tuple[Message, ...] = ()
    async with aclosing(stream(prepared, events=True)) as chunks:
        async for chunk in chunks:
            history = chunk.conversation_history or history
            if chunk.event is not None:
                yield chunk.event
                continue
            aggregator.add(chunk)
            for generation in chunk.chat_response.generations[:1] if chunk.chat_response is not None else ():
                if generation.output.reasoning:
                    yield ReasoningEvent(text=generation.output.reasoning)
                if generation.output.text:
                    yield TextEvent(text=generation.output.text)
    yield TurnFinished(response=aggregator.collected(), context=aggregator.context, conversation_history=history)


async def _texts(prepared: PreparedRequest) -> AsyncIterator[str]:
    async with aclosing(stream(prepared)) as chunks:
        async for chunk in chunks:
            text = chunk.text
            if text:
                yield text


async def _entities(prepared: PreparedRequest, output: StructuredOutput[T]) -> AsyncIterator[T]:
    """Reads the text of the last round, anew whenever it has grown by a hundredth, so that long answers stay cheap."""
    text, read_up_to, last, answering = "", 0, MISSING, True
    async with aclosing(stream(prepared, events=True, output=output)) as chunks:
        async for chunk in chunks:
            if chunk.event is not None:  # of a tool, or the end of a round: what was said before is not the answer
                answering = False
            elif chunk.text:
                if not answering:
                    text, read_up_to, answering = "", 0, True
                text += chunk.text
                if len(text) >= read_up_to * 1.01:
                    read_up_to = len(text)
                    entity = output.partial(text)
                    if entity is not MISSING and entity != last:
                        last = entity
                        yield entity
    entity = output.convert(text)
    if entity != last:
        yield entity
