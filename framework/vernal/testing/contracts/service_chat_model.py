"""What every chat model behind an HTTP service must hold."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from vernal.client.client import ChatClient
from vernal.http.errors import (
    AuthenticationError,
    BadRequestError,
    BrokenStreamError,
    ModelError,
    RateLimitError,
    ServiceError,
)
from vernal.http.retry import RetryPolicy
from vernal.models.chat import ChatModel
from vernal.testing.contracts.chat_model import ASYNCHRONOUS, aggregate, plain
from vernal.testing.contracts.histories import assert_survives_json, through_json
from vernal.testing.forms import Form
from vernal.testing.server import ReplayServer, Reply, serving
from vernal.tools.function import FunctionToolCallback
from vernal.values.messages import Message, ToolCall, ToolResponse, ToolResponseMessage, UserMessage
from vernal.values.options import ToolCallingChatOptions
from vernal.values.prompt import Prompt
from vernal.values.responses import ChatResponse, FinishReason
from vernal.values.serialization import dump_messages
from vernal.values.usage import Usage

USAGE = Usage(11, 7)


@dataclass(frozen=True)
class StandardAnswer:
    """An answer of the service, to be written in its wire format.

    `texts` are the pieces in which a stream brings the text, one event each; a whole answer has them as one. `calls`
    follow the text, with these ids where the format has ids. `usage` counts all input and all output.
    """

    texts: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    finish_reason: FinishReason = FinishReason.STOP
    usage: Usage = USAGE

    @property
    def text(self) -> str:
        """The text as a whole."""
        return "".join(self.texts)


TEXT = StandardAnswer(("Bonjour ", "le ", "monde."))
OSLO = ToolCall("call_0", "look", '{"city": "Oslo", "n": 0}')
LIMA = ToolCall("call_1", "look", '{"city": "Lima", "n": 1}')
ONE_CALL = StandardAnswer((), (OSLO,), FinishReason.TOOL_CALLS)
TWO_CALLS = StandardAnswer((), (OSLO, LIMA), FinishReason.TOOL_CALLS)
TEXT_AND_CALLS = StandardAnswer(TEXT.texts, (OSLO, LIMA), FinishReason.TOOL_CALLS)
CUT_OFF = StandardAnswer(("Bonjour ",), (), FinishReason.LENGTH)
ANSWERS = {
    "text": TEXT,
    "one call": ONE_CALL,
    "two calls": TWO_CALLS,
    "text and calls": TEXT_AND_CALLS,
    "cut off": CUT_OFF,
}
REFUSALS = {400: BadRequestError, 401: AuthenticationError, 429: RateLimitError, 500: ServiceError}
STREAMS = (Form.STREAM, Form.ASTREAM)
PROMPT = Prompt("Hello")
RETRY = RetryPolicy(max_attempts=2, initial_delay=0)


def _look(city: str, n: int) -> str:
    return f"seen {city}"


def _smell(city: str) -> str:
    return f"smelt {city}"


LOOK = FunctionToolCallback(_look, name="look", description="Looks at a city.")
SMELL = FunctionToolCallback(_smell, name="smell", description="Smells a city.")
WITH_TOOLS = Prompt("Hello", ToolCallingChatOptions(tool_callbacks=[LOOK, SMELL]))


class ServiceChatModelContract:
    """Tests for a `ChatModel` behind an HTTP service, against a server of this machine.

    A subclass makes the model and writes answers in the service's own wire format: `whole`, `streamed`, `refusal`.
    """

    api_key = "sk-contract-0123456789"
    patience: float = 10
    """Seconds after which a connection counts as left open; a server that holds an answer back waits three times it."""

    def create_model(self, base_url: str, retry: RetryPolicy) -> ChatModel:
        """A new model that asks the service at `base_url`, with `self.api_key` and this policy of retries."""
        raise NotImplementedError(f"{type(self).__name__} has no create_model")

    def whole(self, answer: StandardAnswer) -> Reply:
        """The answer as the service gives it to a call."""
        raise NotImplementedError(f"{type(self).__name__} has no whole")

    def streamed(self, answer: StandardAnswer) -> Reply:
        """The answer as the service streams it, with an entry of `Reply.pieces` for each event."""
        raise NotImplementedError(f"{type(self).__name__} has no streamed")

    def refusal(self, status: int, message: str) -> Reply:
        """An error of this status, with the message in the service's own form."""
        raise NotImplementedError(f"{type(self).__name__} has no refusal")

    @pytest.mark.parametrize("form", Form)
    @pytest.mark.parametrize("name", ANSWERS)
    def test_an_answer_is_read_whole(self, form: Form, name: str) -> None:
        """Text, calls with their arguments, finish reason and usage are those of the service, in each form (R22)."""
        answer = ANSWERS[name]
        response = aggregate(self._ask(form, PROMPT, self._reply(form, answer))[0])
        assert (response.text or "") == answer.text
        assert [(call.name, json.loads(call.arguments)) for call in response.tool_calls] == [
            (call.name, json.loads(call.arguments)) for call in answer.calls
        ]
        assert response.finish_reason == answer.finish_reason
        assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (
            USAGE.prompt_tokens,
            USAGE.completion_tokens,
        )

    @pytest.mark.parametrize("name", ANSWERS)
    def test_the_four_forms_agree(self, name: str) -> None:
        """A stream aggregates to the call, asked for from plain code and on an event loop."""
        answer = ANSWERS[name]
        told = {form: plain(aggregate(self._ask(form, PROMPT, self._reply(form, answer))[0])) for form in Form}
        for form in Form:
            assert told[form] == told[Form.CALL], f"{form.value!r} gives another answer than 'call'"

    @pytest.mark.parametrize("form", STREAMS)
    def test_a_stream_gives_text_in_pieces_and_calls_whole(self, form: Form) -> None:
        """R21, AGG-04: a chunk for each piece of text; each call once, complete."""
        chunks, _ = self._ask(form, PROMPT, self.streamed(TEXT_AND_CALLS))
        assert [chunk.text for chunk in chunks if chunk.text] == list(TEXT_AND_CALLS.texts)
        calls = [json.loads(call.arguments) for chunk in chunks for call in chunk.tool_calls]
        assert calls == [json.loads(OSLO.arguments), json.loads(LIMA.arguments)]

    @pytest.mark.parametrize("form", STREAMS)
    def test_text_is_there_while_the_service_still_writes(self, form: Form) -> None:
        """R21, R20: the first piece arrives before the next is sent; closing the stream closes the connection."""
        reply = _until(self.streamed(TEXT), "Bonjour", hold=True)
        with self._service(reply) as (model, server):
            if form.is_async:
                asyncio.run(self._afirst_text(model, server))
            else:
                with model.stream(PROMPT) as stream:
                    assert next(chunk.text for chunk in stream if chunk.text) == "Bonjour "
                self._assert_left(server)

    @pytest.mark.parametrize("form", ASYNCHRONOUS)
    def test_a_cancelled_request_closes_its_connection(self, form: Form) -> None:
        """R20: while the service is silent; the cancellation comes out, and no task is left."""
        reply = replace(self._reply(form, TEXT), pieces=(), hold=True)
        with self._service(reply) as (model, server):

            async def main() -> None:
                asking = asyncio.ensure_future(form.aask_model(model, PROMPT))
                await asyncio.to_thread(server.is_set, server.reached, self.patience)
                asking.cancel()
                (outcome,) = await asyncio.gather(asking, return_exceptions=True)
                assert isinstance(outcome, asyncio.CancelledError), f"the request was cancelled, and gave {outcome!r}"
                await asyncio.to_thread(self._assert_left, server)

            asyncio.run(main())

    @pytest.mark.parametrize("form", STREAMS)
    @pytest.mark.parametrize("cut", [True, False], ids=["cut", "ended"])
    def test_a_broken_stream_is_an_error_after_what_came(self, form: Form, cut: bool) -> None:
        """R20: the connection breaks, or the body ends before the answer does."""
        seen: list[str] = []
        with self._service(_until(self.streamed(TEXT), "Bonjour", cut=cut)) as (model, _):

            def read() -> None:
                seen.extend(chunk.text or "" for chunk in model.stream(PROMPT))

            async def aread() -> None:
                async for chunk in model.astream(PROMPT):
                    seen.append(chunk.text or "")  # noqa: PERF401  # what came before the break is kept

            with pytest.raises(BrokenStreamError):
                asyncio.run(aread()) if form.is_async else read()
        assert "".join(seen) == "Bonjour "

    @pytest.mark.parametrize("form", Form)
    @pytest.mark.parametrize("status", REFUSALS)
    def test_a_refusal_has_its_class(self, form: Form, status: int) -> None:
        """R19: with the status, what the service said, and how often it was asked: again only where that may help."""
        with self._service(self.refusal(status, "the service says no")) as (model, server):
            with pytest.raises(ModelError) as caught:
                form.ask_model(model, PROMPT)
            asked = len(server.asked)
        assert isinstance(caught.value, REFUSALS[status]), f"status {status} became {caught.value!r}"
        assert caught.value.status == status
        assert "the service says no" in str(caught.value)
        assert asked == (2 if status in (429, 500) else 1), f"the service was asked {asked} times"

    @pytest.mark.parametrize("form", Form)
    def test_a_failed_request_is_sent_again(self, form: Form) -> None:
        """R19: the second attempt is the very same request, and its answer is the answer."""
        replies = self.refusal(500, "busy"), self._reply(form, TEXT)
        chunks, server = self._ask(form, PROMPT, *replies)
        assert aggregate(chunks).text == TEXT.text
        assert server.asked[0].body == server.asked[1].body

    def test_no_key_is_told(self) -> None:
        """R28: neither in what the model is printed as, nor in errors, even where the service repeats it."""
        with self._service(self.refusal(401, f"the key {self.api_key} is wrong")) as (model, _):
            assert self.api_key not in repr(model)
            with pytest.raises(ModelError) as caught:
                model.call(PROMPT)
        assert self.api_key not in f"{caught.value} {caught.value!r} {vars(caught.value)}"

    def test_nothing_is_asked_before_the_first_request(self) -> None:
        """R25: making a model reaches no service, nor does a stream that nobody reads."""
        with self._service(self.whole(TEXT)) as (model, server):
            model.astream(PROMPT)
            model.stream(PROMPT)
            assert server.connections == 0

    @pytest.mark.parametrize("form", Form)
    def test_equal_requests_are_equal_bytes(self, form: Form) -> None:
        """R24: services cache by prefix; the tools stand in their order, each with its description."""
        bodies = set()
        for _ in range(2):
            _, server = self._ask(form, WITH_TOOLS, self._reply(form, TEXT))
            bodies.add(server.asked[0].body)
        assert len(bodies) == 1, f"two equal requests were sent as {bodies}"
        (body,) = bodies
        places = [body.find(text) for text in (b'"look"', b'"smell"')]
        assert 0 <= places[0] < places[1], "look and smell must be offered, in this order"
        for tool in (LOOK, SMELL):
            assert tool.definition.description.encode() in body

    @pytest.mark.parametrize("form", Form)
    def test_the_prompt_is_not_touched(self, form: Form) -> None:
        """R26: messages and options are what they were."""
        before = dump_messages(WITH_TOOLS.messages), repr(WITH_TOOLS.options)
        self._ask(form, WITH_TOOLS, self._reply(form, TEXT))
        assert (dump_messages(WITH_TOOLS.messages), repr(WITH_TOOLS.options)) == before

    def test_the_request_names_another_model(self) -> None:
        """R26: the options of a request stand above those of the model."""
        prompt = Prompt("Hello", ToolCallingChatOptions(model="another-model"))
        _, server = self._ask(Form.CALL, prompt, self.whole(TEXT))
        (asked,) = server.asked
        assert "another-model" in f"{asked.path} {asked.body.decode()}"

    @pytest.mark.parametrize("form", Form)
    def test_results_of_tools_are_accepted_back(self, form: Form) -> None:
        """R1: the next request has the calls and their results, in order, and what was said beside them."""
        replies = self._reply(form, TEXT_AND_CALLS), self._reply(form, StandardAnswer(("Done.",)))
        with self._service(*replies) as (model, server):
            outcome = form.ask(ChatClient(model).prompt("Look.").tools(LOOK))
            assert outcome.text.endswith("Done.")
            assert len(server.asked) == 2
            body = server.asked[1].body
        places = [body.find(text) for text in (b"Bonjour le monde.", b"Oslo", b"seen Oslo", b"seen Lima")]
        assert places == sorted(places), "text, calls and results are not in their order"
        assert places[0] > 0, "what was said beside the calls is lost"

    @pytest.mark.parametrize("form", Form)
    def test_a_suspended_turn_goes_on(self, form: Form) -> None:
        """R1, R3: an answer that was written down as JSON is sent back by another model as the same bytes."""
        response = aggregate(self._ask(form, PROMPT, self._reply(form, TEXT_AND_CALLS))[0])
        assert_survives_json(response)
        bodies = []
        for messages in (_answered(response), through_json(_answered(response))):
            _, server = self._ask(form, Prompt(messages), self._reply(form, TEXT))
            bodies.append(server.asked[0].body)
        assert bodies[0] == bodies[1]

    def test_one_model_answers_many_at_once(self) -> None:
        """Streams that are read in turns keep apart, and so do requests of several event loops."""
        answers = [StandardAnswer((f"first {n} ", f"second {n}")) for n in range(4)]
        with self._service(*map(self.streamed, answers)) as (model, _):

            async def read_in_turns() -> list[str]:
                streams = [model.astream(PROMPT) for _ in answers]
                texts = [""] * len(streams)
                open_ones = dict(enumerate(streams))
                while open_ones:
                    for number, stream in list(open_ones.items()):
                        chunk = await anext(stream, None)
                        if chunk is None:
                            del open_ones[number]
                        else:
                            texts[number] += chunk.text or ""
                return texts

            assert sorted(asyncio.run(read_in_turns())) == [answer.text for answer in answers]
        with self._service(self.whole(TEXT)) as (model, _):

            async def several() -> list[ChatResponse]:
                here = [model.acall(PROMPT) for _ in range(3)]
                elsewhere = [asyncio.to_thread(model.call, PROMPT), asyncio.to_thread(_call_on_new_loop, model)]
                return await asyncio.gather(*here, *elsewhere)

            for _ in range(2):
                assert [response.text for response in asyncio.run(several())] == [TEXT.text] * 5

    async def _afirst_text(self, model: ChatModel, server: ReplayServer) -> None:
        stream = model.astream(PROMPT)
        async for chunk in stream:
            if chunk.text:
                assert chunk.text == "Bonjour "
                break
        assert hasattr(stream, "aclose"), f"{stream!r} cannot be closed; give an asynchronous generator"
        await stream.aclose()
        await asyncio.to_thread(self._assert_left, server)

    def _assert_left(self, server: ReplayServer) -> None:
        assert server.is_set(server.gone, self.patience), "the answer was left, and its connection is still open"

    def _reply(self, form: Form, answer: StandardAnswer) -> Reply:
        return self.streamed(answer) if form.is_stream else self.whole(answer)

    @contextmanager
    def _service(self, *replies: Reply) -> Iterator[tuple[ChatModel, ReplayServer]]:
        with serving(*replies) as server:
            impatience = threading.Timer(3 * self.patience, server.hang_up)  # who waits for ever gets an error
            impatience.start()
            try:
                yield self.create_model(server.url, RETRY), server
            finally:
                impatience.cancel()

    def _ask(self, form: Form, prompt: Prompt, *replies: Reply) -> tuple[tuple[ChatResponse, ...], ReplayServer]:
        with self._service(*replies) as (model, server):
            return form.ask_model(model, prompt), server


def _until(reply: Reply, text: str, **changes: Any) -> Reply:
    """The reply up to the piece that has `text`."""
    pieces = list(reply.pieces)
    last = next((number for number, piece in enumerate(pieces) if text.encode() in piece), None)
    assert last is not None, f"no piece of the streamed reply has the text {text!r}: {pieces}"
    assert last < len(pieces) - 1, "the streamed reply is one piece; give one for each event"
    return replace(reply, pieces=pieces[: last + 1], **changes)


def _call_on_new_loop(model: ChatModel) -> ChatResponse:
    return asyncio.run(model.acall(PROMPT))


def _answered(response: ChatResponse) -> list[Message]:
    """The conversation with the answer, and results for its calls."""
    assert response.result is not None
    results = [ToolResponse(call.id, call.name, "seen") for call in response.tool_calls]
    return [UserMessage("Look."), response.result.output, ToolResponseMessage(results)]
