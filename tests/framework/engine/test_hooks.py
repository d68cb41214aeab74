"""The hooks of the loop: when each runs, which definition counts, and what is refused."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    AdvisorChain,
    ChatClient,
    ChatClientRequest,
    ChatClientRequestSpec,
    ChatClientResponse,
    ChatResponse,
    DefaultToolCallingManager,
    DefaultToolExecutionExceptionProcessor,
    FunctionToolCallback,
    Message,
    Prompt,
    ToolCallingAdvisor,
    ToolCallLimits,
    ToolExecutionException,
    ToolExecutionResult,
    ToolMetadata,
    Usage,
)
from vernal.testing import ScriptedChatModel, chunks, tool_call

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form


def weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


@dataclass(kw_only=True, eq=False)
class Counting(ToolCallingAdvisor):
    """Writes down which hooks run, and the response that the last one gets."""

    log: list[str] = field(default_factory=list)
    ended: list[ChatClientResponse] = field(default_factory=list)

    async def do_initialize_loop(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        self.log.append("initialize")
        return request

    async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        self.log.append("before")
        return request

    async def do_after_call(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        self.log.append("after")
        return response

    async def do_get_next_instructions_for_tool_call(
        self, request: ChatClientRequest, response: ChatClientResponse, tool_execution_result: ToolExecutionResult
    ) -> tuple[Message, ...]:
        self.log.append("next")
        return await super().do_get_next_instructions_for_tool_call(request, response, tool_execution_result)

    async def do_finalize_loop(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        self.log.append("finalize")
        self.ended.append(response)
        return response


def spec_of(advisor: ToolCallingAdvisor, *script: Any) -> ChatClientRequestSpec:
    """A request about the weather, through `advisor`."""
    return ChatClient(ScriptedChatModel(script)).prompt("Hello").tools(weather).advisors(advisor)


def test_hooks_run_once_without_tools(form: "Form") -> None:
    """A turn of one round runs each hook once (TCA-52, TCA-58)."""
    advisor = Counting()
    form.ask(spec_of(advisor, "Fine."))
    assert advisor.log == ["initialize", "before", "after", "finalize"]


def test_hooks_of_a_round_run_once_per_round(form: "Form") -> None:
    """With one tool round `before` and `after` run twice, the start and the end once (TCA-53, TCA-58)."""
    advisor = Counting()
    form.ask(spec_of(advisor, tool_call("weather", city="Oslo"), "Fine."))
    assert advisor.log == ["initialize", "before", "after", "next", "before", "after", "finalize"]


WAYS_OUT: dict[str, tuple[list[Any], str]] = {
    "normal": ([ChatResponse.of("Fine.").with_usage(Usage(1, 2, 3))], "Fine."),
    "direct": ([ChatResponse.of(tool_calls=[tool_call("direct", call_id="2")]).with_usage(Usage(1, 2, 3))], "data"),
    "limit": (
        [ChatResponse.of(tool_calls=[tool_call("weather", call_id="2", city="Rome")]).with_usage(Usage(1, 2, 3))],
        "Tool call limit (1) exceeded for tool 'weather'. No further calls to this tool are allowed in this turn.",
    ),
    "no tools": ([ChatResponse.of(tool_calls=[]).with_usage(Usage(1, 2, 3))], ""),
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_the_loop_is_finalized_on_every_way_out(form: "Form", way: str) -> None:
    """`do_finalize_loop` runs once, in streams as well, and sees text and usage of the whole turn (TCA-58)."""
    script, text = WAYS_OUT[way]
    asked = ChatResponse.of(tool_calls=[tool_call("weather", call_id="1", city="Oslo")]).with_usage(Usage(10, 20, 30))
    manager = DefaultToolCallingManager(limits=ToolCallLimits(max_calls_per_tool={"weather": 1}))
    advisor = Counting(tool_calling_manager=manager)
    direct = FunctionToolCallback(
        lambda: "data", name="direct", description="Data.", metadata=ToolMetadata(return_direct=True)
    )
    outcome = form.ask(spec_of(advisor, asked, *script).tools(direct))
    assert advisor.log.count("finalize") == 1
    assert advisor.log[-1] == "finalize"
    [ended] = advisor.ended
    assert (ended.text or "") == outcome.text == text
    assert ended.usage == outcome.chat_response.usage == Usage(11, 22, 33)


def test_what_finalizing_changes_reaches_the_caller(form: "Form") -> None:
    """Metadata and context of `do_finalize_loop` come back, in a stream in one last chunk; texts stay (TCA-58)."""

    class Stamping(ToolCallingAdvisor):
        async def do_finalize_loop(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
            assert response.chat_response is not None
            metadata = response.chat_response.metadata.copy(model="stamped")
            return response.copy(
                chat_response=response.chat_response.copy(metadata=metadata), context={"stamp": response.text}
            )

    outcome = form.ask(spec_of(Stamping(), chunks("It is ", "fine.")))
    assert outcome.text == "It is fine."
    assert outcome.chat_response.metadata.model == "stamped"
    assert outcome.client_response.context["stamp"] == "It is fine."
    if form.is_stream:
        assert [chunk.text for chunk in outcome.chunks] == ["It is ", "fine.", None]


def test_chunks_pass_through_the_stream_finalizer(stream_form: "Form") -> None:
    """`do_finalize_loop_stream` may change the chunks; `do_finalize_loop` gets what it made of them (TCA-58)."""

    class Shouting(Counting):
        def do_finalize_loop_stream(
            self, chunks: AsyncIterator[ChatClientResponse], chain: AdvisorChain
        ) -> AsyncIterator[ChatClientResponse]:
            return self._shout(chunks)

        async def _shout(self, chunks: AsyncIterator[ChatClientResponse]) -> AsyncIterator[ChatClientResponse]:
            async for chunk in chunks:
                yield chunk.with_chat_response(ChatResponse.of((chunk.text or "").upper()))

    advisor = Shouting()
    outcome = stream_form.ask(spec_of(advisor, chunks("It is ", "fine.")))
    assert [chunk.text for chunk in outcome.chunks] == ["IT IS ", "FINE."]
    assert advisor.ended[0].text == "IT IS FINE."


def test_a_tool_error_that_is_raised_leaves_the_loop_as_it_is(form: "Form") -> None:
    """Where the policy is to raise, the exception comes out of a call and of a stream unchanged (TCA-59)."""

    def failing() -> str:
        """Fails."""
        raise KeyError("gone")

    processor = DefaultToolExecutionExceptionProcessor(always_throw=True)
    advisor = Counting(tool_calling_manager=DefaultToolCallingManager(tool_execution_exception_processor=processor))
    with pytest.raises(ToolExecutionException) as caught:
        form.ask(spec_of(advisor, tool_call("failing")).tools(failing))
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.tool_definition.name == "failing"
    assert advisor.log == ["initialize", "before", "after"]


@pytest.mark.parametrize("hook", ["do_initialize_loop", "do_before_call", "do_after_call", "do_finalize_loop"])
def test_what_a_hook_raises_comes_out(form: "Form", hook: str) -> None:
    """Nothing that a hook raises is swallowed, in any form (TCA-59)."""

    async def failing(self: ToolCallingAdvisor, given: Any, chain: AdvisorChain) -> Any:
        raise LookupError(hook)

    advisor = type("Failing", (ToolCallingAdvisor,), {hook: failing})()
    with pytest.raises(LookupError, match=hook):
        form.ask(spec_of(advisor, "Fine."))


# twins


class Marking(ToolCallingAdvisor):
    """A hook that leaves its mark in the context."""

    async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        return request.copy(context={"mark": "call"})


class MarkingStream(Marking):
    """Defines the twin only."""

    async def do_before_stream(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        return request.copy(context={"mark": "stream"})


class MarkingBoth(MarkingStream):
    """Defines both, by way of the ones above."""

    async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        request = await super().do_before_call(request, chain)
        return request.copy(context={"mark": f"{request.context['mark']}, then call"})

    async def do_before_stream(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        request = await super().do_before_stream(request, chain)
        return request.copy(context={"mark": f"{request.context['mark']}, then stream"})


class MarkingMixin:
    """A mixin knows nothing of advisors; its hook counts all the same."""

    async def do_before_stream(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        return request.copy(context={"mark": "mixin"})


class Mixed(MarkingMixin, Marking):
    """The mixin comes first."""


class Inheriting(Mixed):
    """Defines nothing."""


class Called(Mixed):
    """Defines the call again."""

    async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        return request.copy(context={"mark": "called"})


@pytest.mark.parametrize(
    ("kind", "in_call", "in_stream"),
    [
        (Marking, "call", "call"),
        (MarkingStream, "stream", "stream"),
        (MarkingBoth, "stream, then call", "stream, then stream"),
        (Mixed, "mixin", "mixin"),
        (Inheriting, "mixin", "mixin"),
        (Called, "called", "called"),
    ],
)
def test_of_a_hook_and_its_twin_the_most_derived_counts(
    form: "Form", kind: type[ToolCallingAdvisor], in_call: str, in_stream: str
) -> None:
    """The definition nearest to the class counts for call and stream alike; both may differ (TCA-54, TCA-55)."""
    outcome = form.ask(spec_of(kind(), "Fine."))
    assert outcome.client_response.context["mark"] == (in_stream if form.is_stream else in_call)


TWINS = [
    ("do_initialize_loop", "do_initialize_loop_stream"),
    ("do_before_call", "do_before_stream"),
    ("do_after_call", "do_after_stream"),
    ("do_get_next_instructions_for_tool_call", "do_get_next_instructions_for_tool_call_stream"),
]


@pytest.mark.parametrize(("call", "stream"), [*TWINS, *((stream, call) for call, stream in TWINS)])
def test_each_hook_has_a_twin(form: "Form", call: str, stream: str) -> None:
    """Each of the four pairs works from either side (TCA-52, TCA-53)."""
    ran: list[str] = []

    async def hook(self: ToolCallingAdvisor, *given: Any) -> Any:
        ran.append(call)
        return await getattr(ToolCallingAdvisor, call)(self, *given)

    advisor = type("One", (ToolCallingAdvisor,), {call: hook})()
    outcome = form.ask(spec_of(advisor, tool_call("weather", city="Oslo"), "Fine."))
    rounds = 1 if "initialize" in call or "instructions" in call else 2
    assert ran == [call] * rounds
    assert outcome.text == "Fine."


@pytest.mark.parametrize(("call", "stream"), TWINS)
def test_where_both_are_defined_each_form_runs_its_own(form: "Form", call: str, stream: str) -> None:
    """Of a hook and its twin in one class a call runs the one, a stream the other (TCA-52, TCA-53)."""
    ran: list[str] = []

    def noting(name: str) -> Any:
        async def hook(self: ToolCallingAdvisor, *given: Any) -> Any:
            ran.append(name)
            return await getattr(ToolCallingAdvisor, name)(self, *given)

        return hook

    advisor = type("Both", (ToolCallingAdvisor,), {name: noting(name) for name in (call, stream)})()
    form.ask(spec_of(advisor, tool_call("weather", city="Oslo"), "Fine."))
    assert set(ran) == {stream if form.is_stream else call}


# refusals

HOOKS = [name for twins in TWINS for name in twins] + ["do_finalize_loop", "advise_call"]


@pytest.mark.parametrize("hook", HOOKS)
def test_a_plain_hook_is_refused(hook: str) -> None:
    """A hook that is a plain `def` is refused when its class is created, with the cure (TCA-52)."""

    def plain(self: Any, *given: Any) -> Any:
        return given[0]

    with pytest.raises(TypeError, match=rf"Wrong\.{hook} is a plain function; make it 'async def'"):
        type("Wrong", (ToolCallingAdvisor,), {"__qualname__": "Wrong", hook: plain})


def test_a_plain_hook_of_a_mixin_is_refused() -> None:
    """A mixin hides nothing: its plain hook is refused where it meets the loop (TCA-52)."""

    class Plain:
        def do_after_stream(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
            return response

    with pytest.raises(TypeError, match=r"Plain\.do_after_stream is a plain function; make it 'async def'"):
        type("Wrong", (Plain, ToolCallingAdvisor), {})


def test_a_stream_finalizer_that_yields_nothing_is_refused() -> None:
    """`do_finalize_loop_stream` gives an iterator; an `async def` without `yield` gives none (TCA-58)."""

    async def coroutine(self: Any, chunks: Any, chain: Any) -> Any:
        return chunks

    with pytest.raises(TypeError, match=r"do_finalize_loop_stream is a coroutine function without a 'yield'"):
        type("Wrong", (ToolCallingAdvisor,), {"do_finalize_loop_stream": coroutine})


def test_hooks_can_be_called_by_themselves() -> None:
    """The hooks of the base class change nothing, so that `super()` may always be asked (TCA-52)."""
    advisor, request, response = ToolCallingAdvisor(), ChatClientRequest(Prompt("Hello")), ChatClientResponse()
    chain = AdvisorChain()

    async def main() -> None:
        for hook in (advisor.do_initialize_loop, advisor.do_initialize_loop_stream):
            assert await hook(request, chain) is request
        for hook in (advisor.do_before_call, advisor.do_before_stream):
            assert await hook(request, chain) is request
        for after in (advisor.do_after_call, advisor.do_after_stream, advisor.do_finalize_loop):
            assert await after(response, chain) is response

    asyncio.run(main())
