"""What every advisor that runs the tool-calling loop must hold."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from vernal.advisors.api import HIGHEST_PRECEDENCE, LOWEST_PRECEDENCE, AdvisorChain, BaseAdvisor, ToolAdvisor
from vernal.advisors.tool_calling import ToolCallingAdvisor
from vernal.client.client import ChatClient
from vernal.client.spec import ChatClientRequestSpec
from vernal.models.chat import ChatModel
from vernal.testing.cancellation import every_cancellation
from vernal.testing.forms import Form, Outcome
from vernal.testing.gate import Gate
from vernal.testing.scripted import ScriptedChatModel, chunks, tool_call, tool_calls
from vernal.tools.definition import ToolMetadata
from vernal.tools.function import FunctionToolCallback
from vernal.tools.limits import ToolCallLimits
from vernal.tools.manager import DefaultToolCallingManager, ToolCallingManager
from vernal.values.exchange import ChatClientRequest, ChatClientResponse
from vernal.values.messages import AssistantMessage, ToolCall, ToolResponse, ToolResponseMessage
from vernal.values.prompt import Prompt
from vernal.values.responses import ChatResponse, FinishReason
from vernal.values.usage import Usage

STREAMS = (Form.STREAM, Form.ASTREAM)
ASYNCHRONOUS = (Form.ACALL, Form.ASTREAM)
FORMS = pytest.mark.parametrize("form", Form)


class ToolAdvisorContract:
    """Tests for a `ToolAdvisor`, such as a subclass of `ToolCallingAdvisor`; a subclass defines `create_advisor`.

    Each turn has the conversation id "contract". `opening` are calls that the model makes in a round of its own before
    all others, for an advisor that offers the tools `look`, `direct`, `fail` and `stop` only after something was asked.
    """

    opening: Sequence[ToolCall] = ()
    patience: float = 10
    """Seconds after which a text that should be there counts as held back."""

    def create_advisor(self, manager: ToolCallingManager) -> ToolAdvisor:
        """A new advisor that executes tool calls with `manager`."""
        raise NotImplementedError(f"{type(self).__name__} has no create_advisor")

    @FORMS
    def test_it_goes_on_until_the_model_answers(self, form: Form) -> None:
        """Each call runs once, and its result goes back to the model, which is asked until it has no more calls."""
        turn = _Turn(self, form, [_look("Oslo"), _look("Lima"), "Done."])
        assert turn.outcome.text == "Done."
        assert turn.seen == ["Oslo", "Lima"]
        assert [response.data for response in turn.responses] == ["seen Oslo", "seen Lima"]
        assert len(turn.requests) == 3, f"the model was asked {len(turn.requests)} times; 3 are wanted"

    @FORMS
    def test_calls_of_one_round_are_answered_in_their_order(self, form: Form) -> None:
        """R9: in one message, each by its id."""
        calls = [tool_call("look", call_id=city, city=city) for city in ("Oslo", "Lima", "Rome")]
        turn = _Turn(self, form, [tool_calls(*calls), "Done."])
        assert [(response.id, response.data) for response in turn.responses] == [
            (city, f"seen {city}") for city in ("Oslo", "Lima", "Rome")
        ]

    @FORMS
    def test_an_answer_without_calls_is_the_answer(self, form: Form) -> None:
        """The model is asked once."""
        turn = _Turn(self, form, ["Done."])
        assert (turn.outcome.text, len(turn.requests)) == ("Done.", 1)

    @FORMS
    def test_a_failing_tool_costs_its_siblings_nothing(self, form: Form) -> None:
        """R9, R13: the model is told, and goes on."""
        turn = _Turn(self, form, [tool_calls(tool_call("fail"), _look("Oslo")), "Done."])
        assert [(response.is_error, response.data) for response in turn.responses] == [
            (True, "it failed"),
            (False, "seen Oslo"),
        ]
        assert turn.outcome.text == "Done."

    @FORMS
    @pytest.mark.parametrize("call", [("ghost", "{}"), ("look", "{oops"), ("look", '{"city": 7, "more": {}}')])
    def test_what_cannot_run_is_told_the_model(self, form: Form, call: tuple[str, str]) -> None:
        """R5, R7: unknown tools, and arguments that do not fit; nothing runs, and the turn goes on."""
        turn = _Turn(self, form, [ChatResponse.of(tool_calls=[ToolCall("1", *call)]), "Done."])
        assert (turn.outcome.text, turn.seen) == ("Done.", [])
        assert [response.is_error for response in turn.responses] == [True]

    @FORMS
    def test_limits_of_the_manager_hold(self, form: Form) -> None:
        """LIM: no more calls run than are allowed, and the answer says why the turn ended."""
        limits = ToolCallLimits(max_total_tool_calls=2 + len(self.opening))
        turn = _Turn(self, form, [_look(f"{n}") for n in range(9)], DefaultToolCallingManager(limits=limits))
        assert turn.seen == ["0", "1"]
        assert turn.outcome.chat_response.finish_reason == FinishReason.TOOL_CALL_LIMIT_EXCEEDED

    @FORMS
    def test_a_direct_result_goes_to_the_caller(self, form: Form) -> None:
        """R14: and the model is not asked again."""
        turn = _Turn(self, form, [tool_call("direct")])
        assert (turn.outcome.text, len(turn.requests)) == ("directly", 1)
        assert turn.outcome.chat_response.finish_reason == FinishReason.RETURN_DIRECT

    @FORMS
    def test_errors_of_the_model_come_out(self, form: Form) -> None:
        """In the first round and after a tool."""
        for script in ([_Refused()], [_look("Oslo"), _Refused()]):
            with pytest.raises(_Refused):
                _Turn(self, form, script)

    @FORMS
    def test_what_is_no_exception_comes_out(self, form: Form) -> None:
        """R11: a tool that stops the program stops it."""
        with pytest.raises(SystemExit):
            _Turn(self, form, [tool_call("stop")])

    @FORMS
    def test_usage_is_that_of_all_rounds(self, form: Form) -> None:
        """R22: summed, and round by round."""
        rounds = [Usage(3, 1, cache_read_tokens=1), Usage(5, 2)]
        call = ToolCall("1", "look", '{"city": "Oslo"}')
        script = [ChatResponse.of(tool_calls=[call], usage=rounds[0]), ChatResponse.of("Done.", usage=rounds[1])]
        metadata = _Turn(self, form, script).outcome.chat_response.metadata
        assert metadata.usage == Usage(8, 3, cache_read_tokens=1)
        assert list(metadata.round_usages)[-2:] == rounds

    @FORMS
    def test_text_beside_a_call_is_neither_lost_nor_repeated(self, form: Form) -> None:
        """R21: the reader of a stream sees it once, and the model sees it again in its history."""
        turn = _Turn(self, form, [tool_calls(_look("Oslo"), text="Let me see. "), "Done."])
        assert turn.outcome.text == ("Let me see. Done." if form.is_stream else "Done.")
        said = [each.text for each in turn.requests[-1].messages if isinstance(each, AssistantMessage)]
        assert said[-1:] == ["Let me see. "]

    @pytest.mark.parametrize("form", STREAMS)
    def test_text_passes_as_it_arrives(self, form: Form) -> None:
        """R21: while the model still speaks, in the round of a call and in the last one."""
        gates = [Gate(), Gate()]
        model = self._model([chunks("a", gates[0], _look("Oslo")), chunks("b", gates[1], "c")])
        spec, waiting = self._client(model).prompt("Go on.").tools(*_Tools().callbacks), list(gates)
        impatience = threading.Timer(self.patience, _open, [gates])
        impatience.start()

        def seen(text: str) -> None:
            if text in ("a", "b"):
                gate = waiting.pop(0)
                assert not gate.is_open, f"the text {text!r} was held back while the model spoke on"
                gate.open()

        async def read() -> None:
            async with spec.astream().content() as texts:
                async for text in texts:
                    seen(text)

        try:
            if form.is_async:
                asyncio.run(read())
            else:
                with spec.stream().content() as texts:
                    for text in texts:
                        seen(text)
        finally:
            impatience.cancel()
            _open(gates)
        assert waiting == [], "a text did not come by itself"

    @FORMS
    def test_context_holds_for_the_turn(self, form: Form) -> None:
        """R23, TCA-21: advisors inside see every round and what those outside have set; what they set comes out."""
        outside, inside = _Noting(HIGHEST_PRECEDENCE + 1), _Noting(LOWEST_PRECEDENCE - 1)
        turn = _Turn(self, form, [_look("Oslo"), "Done."], advisors=(outside, inside))
        rounds = 2 + bool(self.opening)
        assert (len(outside.seen), len(inside.seen)) == (1, rounds)
        assert all(outside.key in context for context in inside.seen), "what was set outside is lost"
        assert all(inside.key in context for context in inside.seen[1:]), "what a round set is lost in the next"
        assert turn.outcome.client_response.context.get(inside.key) == rounds

    @FORMS
    def test_one_advisor_serves_many_turns(self, form: Form) -> None:
        """R23: at once, from several threads, each with its own tools and results; then it is as good as new."""
        advisor = self.create_advisor(DefaultToolCallingManager())
        answers: dict[str, object] = {}

        def ask(city: str) -> None:
            try:
                turn = _Turn(self, form, [_look(city), lambda prompt: prompt.messages[-1].responses[0].data], advisor)
                answers[city] = (turn.outcome.text, turn.seen)
            except BaseException as error:  # noqa: BLE001  # shown below, in the thread of the test
                answers[city] = error

        cities = ["Oslo", "Lima", "Rome", "Bonn"]
        threads = [threading.Thread(target=ask, args=(city,)) for city in cities]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == {city: (f"seen {city}", [city]) for city in cities}

    @pytest.mark.parametrize("form", ASYNCHRONOUS)
    def test_it_can_be_cancelled_anywhere(self, form: Form) -> None:
        """R11, R20: the cancellation comes out, and neither tools nor tasks are left running."""
        tools = _Tools()

        async def turn() -> None:
            spec = self._client(self._model([tool_calls(_look("Oslo"), _look("Lima")), "Done."])).prompt("Go on.")
            if form.is_stream:
                async with spec.tools(*tools.callbacks).astream().content() as texts:
                    _ = [text async for text in texts]
            else:
                await spec.tools(*tools.callbacks).acall().content()

        for run in every_cancellation(turn):
            assert tools.running == 0, f"cancelled at suspension {run.at}, a tool is still running"

    @pytest.mark.parametrize("form", STREAMS)
    def test_a_stream_that_is_left_closes_the_one_below(self, form: Form) -> None:
        """R20: before closing returns."""
        model = _Endless()
        spec = self._client(model).prompt("Go on.").tools(*_Tools().callbacks)

        async def leave() -> None:
            async with spec.astream().content() as texts:
                async for _ in texts:
                    break
            assert model.open == 0, "the stream was closed, and the model's is still open"

        if form.is_async:
            asyncio.run(leave())
        else:
            with spec.stream().content() as texts:
                next(iter(texts))
            assert model.open == 0, "the stream was closed, and the model's is still open"

    @FORMS
    def test_hooks_and_copies_work(self, form: Form) -> None:
        """R23, R26: of a `ToolCallingAdvisor`: what hooks change holds for the turn, and a copy is the same advisor."""
        original = self.create_advisor(DefaultToolCallingManager())
        if not isinstance(original, ToolCallingAdvisor):
            pytest.skip("no ToolCallingAdvisor, so that it has no hooks")
        advisor = original.copy()
        assert (type(advisor), vars(advisor).keys()) == (type(original), vars(original).keys())
        advisor.__class__ = _hooked(type(advisor))
        turn = _Turn(self, form, [_look("Oslo"), "Done."], advisor)
        rounds = 2 + bool(self.opening)
        context = turn.outcome.client_response.context
        assert {name: context.get(name) for name in _HOOKS} == dict(zip(_HOOKS, (1, rounds, rounds, 1), strict=True))
        assert turn.seen == ["Oslo"]

    def test_its_order_is_fixed(self) -> None:
        """TCA-02, TCA-03: an integer between the bounds, the same each time; and it has a name."""
        advisor = self.create_advisor(DefaultToolCallingManager())
        assert advisor.order == advisor.order
        assert HIGHEST_PRECEDENCE < advisor.order < LOWEST_PRECEDENCE
        assert advisor.name.strip()

    def _model(self, script: Sequence[Any]) -> ScriptedChatModel:
        return ScriptedChatModel([*([tool_calls(*self.opening)] if self.opening else []), *script])

    def _client(
        self, model: ChatModel, advisor: ToolAdvisor | None = None, advisors: Sequence[BaseAdvisor] = ()
    ) -> ChatClient:
        advisor = advisor or self.create_advisor(DefaultToolCallingManager())
        builder = ChatClient.builder(model).tool_advisor(advisor)
        return builder.default_advisors(*advisors, conversation_id="contract").build()


class _Turn:
    """A turn that was run in one form, and what came of it."""

    def __init__(
        self,
        suite: ToolAdvisorContract,
        form: Form,
        script: Sequence[Any],
        by: ToolCallingManager | ToolAdvisor | None = None,
        advisors: Sequence[BaseAdvisor] = (),
    ) -> None:
        tools, model = _Tools(), suite._model(script)
        advisor = by if isinstance(by, ToolAdvisor) else suite.create_advisor(by or DefaultToolCallingManager())
        spec: ChatClientRequestSpec = suite._client(model, advisor, advisors).prompt("Go on.").tools(*tools.callbacks)
        self.outcome: Outcome = form.ask(spec)
        self.seen = tools.seen
        self.requests = model.requests[1 if suite.opening else 0 :]

    @property
    def responses(self) -> list[ToolResponse]:
        """The responses of the tools that the last request has, without those before the first."""
        messages = self.requests[-1].messages[len(self.requests[0].messages) :]
        return [each for message in messages if isinstance(message, ToolResponseMessage) for each in message.responses]


class _Tools:
    """The tools of a turn."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.running = 0

    async def look(self, city: str) -> str:
        self.running += 1
        try:
            await asyncio.sleep(0)
            self.seen.append(city)
            return f"seen {city}"
        finally:
            self.running -= 1

    def direct(self) -> str:
        return "directly"

    def fail(self) -> str:
        raise ValueError("it failed")

    def stop(self) -> str:
        raise SystemExit

    @property
    def callbacks(self) -> list[FunctionToolCallback]:
        described: list[tuple[Callable[..., Any], str]] = [
            (self.look, "Looks at a city."),
            (self.direct, "Answers the caller."),
            (self.fail, "Fails."),
            (self.stop, "Stops."),
        ]
        return [
            FunctionToolCallback(
                function, description=text, metadata=ToolMetadata(return_direct=function == self.direct)
            )
            for function, text in described
        ]


class _Noting(BaseAdvisor):
    """Keeps the contexts that it sees, and counts in them under its key."""

    def __init__(self, order: int) -> None:
        self._order = order
        self.key = f"contract {order}"
        self.seen: list[dict[str, Any]] = []

    @property
    def order(self) -> int:
        return self._order

    async def before(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        self.seen.append(dict(request.context))
        request.context[self.key] = len(self.seen)
        return request


class _Endless(ChatModel):
    """Speaks for ever."""

    def __init__(self) -> None:
        self.open = 0

    async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        self.open += 1
        try:
            while True:
                yield ChatResponse.of("again")
                await asyncio.sleep(0)
        finally:
            self.open -= 1


class _Refused(Exception):
    """What the model raises."""


_HOOKS = ("contract_initialize", "contract_before", "contract_after", "contract_finalize")


def _hooked(kind: type[ToolCallingAdvisor]) -> type[ToolCallingAdvisor]:
    """A subclass whose hooks count themselves in the context, on top of what the hooks of `kind` do."""

    class Hooked(kind):  # type: ignore[misc, valid-type]  # mypy takes no class from a variable
        async def do_initialize_loop(self, request: ChatClientRequest, chain: AdvisorChain) -> Any:
            return _noted(await super().do_initialize_loop(request, chain), _HOOKS[0])

        async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> Any:
            return _noted(await super().do_before_call(request, chain), _HOOKS[1])

        async def do_after_call(self, response: ChatClientResponse, chain: AdvisorChain) -> Any:
            return _noted(await super().do_after_call(response, chain), _HOOKS[2])

        async def do_finalize_loop(self, response: ChatClientResponse, chain: AdvisorChain) -> Any:
            return _noted(await super().do_finalize_loop(response, chain), _HOOKS[3])

    return Hooked


def _noted(exchange: Any, name: str) -> Any:
    return exchange.copy(context={name: exchange.context.get(name, 0) + 1})


def _open(gates: Sequence[Gate]) -> None:
    for gate in gates:
        gate.open()


def _look(city: str) -> ToolCall:
    return tool_call("look", city=city)
