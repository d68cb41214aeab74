"""Loops that each do one thing wrong, and the checks of the suite that must see it (`fails`)."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

from vernal import (
    EMPTY_USAGE,
    AdvisorChain,
    AssistantMessage,
    CallAdvisorChain,
    ChatClientRequest,
    ChatClientResponse,
    ChatResponse,
    DefaultToolCallingManager,
    DefaultToolExecutionExceptionProcessor,
    Generation,
    Prompt,
    StreamAdvisorChain,
    ToolAdvisor,
    ToolCallingAdvisor,
    ToolCallingManager,
    ToolExecutionResult,
)
from vernal.testing import ToolAdvisorContract


class _Suite(ToolAdvisorContract):
    """The suite around a subclass of the loop."""

    patience = 0.5
    broken: type[ToolCallingAdvisor]

    def create_advisor(self, manager: ToolCallingManager) -> ToolAdvisor:
        return self.broken(tool_calling_manager=manager)


class TestSound(_Suite):
    """Nothing is wrong."""

    fails: frozenset[str] = frozenset()
    broken = ToolCallingAdvisor


class TestNeedsCalls(_Suite):
    """A turn without a call is an error."""

    fails = frozenset({"test_an_answer_without_calls_is_the_answer"})

    class broken(ToolCallingAdvisor):  # noqa: N801  # stands where the attribute stands
        async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
            request.context["rounds"] = request.context.get("rounds", 0) + 1
            return request

        async def do_after_call(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
            if not response.tool_calls and response.context["rounds"] == 1:
                raise LookupError("no tool was called")
            return response


class TestTurnsCallsAround(_Suite):
    """The calls of a round are answered from the last to the first."""

    fails = frozenset(
        {"test_calls_of_one_round_are_answered_in_their_order", "test_a_failing_tool_costs_its_siblings_nothing"}
    )

    class broken(ToolCallingAdvisor):  # noqa: N801
        async def do_after_call(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
            return _changed(response, lambda message: message.copy(tool_calls=message.tool_calls[::-1]))


class TestOwnManager(_Suite):
    """The manager that was given is not used."""

    fails = frozenset({"test_limits_of_the_manager_hold"})

    def create_advisor(self, manager: ToolCallingManager) -> ToolAdvisor:
        return ToolCallingAdvisor()


class TestThrows(_Suite):
    """A failing tool ends the turn."""

    fails = frozenset({"test_a_failing_tool_costs_its_siblings_nothing"})

    def create_advisor(self, manager: ToolCallingManager) -> ToolAdvisor:
        assert isinstance(manager, DefaultToolCallingManager)
        throwing = DefaultToolExecutionExceptionProcessor(always_throw=True)
        manager = replace(manager, tool_execution_exception_processor=throwing)
        return ToolCallingAdvisor(tool_calling_manager=manager)


class TestKnowsItsTools(_Suite):
    """A tool that it does not know ends the turn."""

    fails = frozenset({"test_what_cannot_run_is_told_the_model"})

    class broken(ToolCallingAdvisor):  # noqa: N801
        async def do_after_call(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
            for call in response.tool_calls:
                if call.name not in ("look", "direct", "fail", "stop"):
                    raise KeyError(call.name)
            return response


class TestNothingIsDirect(_Suite):
    """Direct results go to the model like all others."""

    fails = frozenset({"test_a_direct_result_goes_to_the_caller"})

    class Manager(ToolCallingManager):
        def __init__(self, manager: ToolCallingManager) -> None:
            self.manager = manager

        async def aexecute_tool_calls(self, prompt: Prompt, chat_response: ChatResponse) -> ToolExecutionResult:
            result = await self.manager.aexecute_tool_calls(prompt, chat_response)
            return replace(result, return_direct=False)

    def create_advisor(self, manager: ToolCallingManager) -> ToolAdvisor:
        return ToolCallingAdvisor(tool_calling_manager=self.Manager(manager))


class TestAnswersForTheModel(_Suite):
    """An error of the model becomes an answer."""

    fails = frozenset({"test_errors_of_the_model_come_out"})

    class broken(ToolCallingAdvisor):  # noqa: N801
        async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
            try:
                return await super().advise_call(request, chain)
            except Exception:  # noqa: BLE001  # that is what is wrong
                return ChatClientResponse(ChatResponse.of("Sorry."))


class TestAnswersAlways(_Suite):
    """Whatever is raised becomes an answer."""

    fails = frozenset(
        {
            "test_errors_of_the_model_come_out",
            "test_what_is_no_exception_comes_out",
            "test_it_can_be_cancelled_anywhere",
        }
    )

    class broken(ToolCallingAdvisor):  # noqa: N801
        async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
            try:
                return await super().advise_call(request, chain)
            except BaseException:  # noqa: BLE001  # that is what is wrong
                return ChatClientResponse(ChatResponse.of("Sorry."))


class TestWithoutUsage(_Suite):
    """What was used is forgotten."""

    fails = frozenset({"test_usage_is_that_of_all_rounds"})

    class broken(ToolCallingAdvisor):  # noqa: N801
        async def do_finalize_loop(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
            assert response.chat_response is not None
            return response.copy(chat_response=response.chat_response.with_usage(EMPTY_USAGE))


class TestCallsAlone(_Suite):
    """What is said beside a call is not kept."""

    fails = frozenset({"test_text_beside_a_call_is_neither_lost_nor_repeated"})

    class broken(ToolCallingAdvisor):  # noqa: N801
        async def do_after_call(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
            return _changed(response, lambda message: message.copy(text=None) if message.tool_calls else message)


class TestBuffering(_Suite):
    """A stream is read to its end before any of it is given."""

    fails = frozenset({"test_text_passes_as_it_arrives"})

    class broken(ToolCallingAdvisor):  # noqa: N801
        async def advise_stream(
            self, request: ChatClientRequest, chain: StreamAdvisorChain
        ) -> AsyncIterator[ChatClientResponse]:
            given: list[ChatClientResponse] = []
            async for chunk in super().advise_stream(request, chain):
                given.append(chunk)
                if len(given) > 99:  # of what never ends
                    break
            for chunk in given:
                yield chunk


class TestForgetsContext(_Suite):
    """What a round has put into the context is gone after it."""

    fails = frozenset({"test_context_holds_for_the_turn"})

    class broken(ToolCallingAdvisor):  # noqa: N801
        async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
            for key in [key for key in request.context if key.startswith("contract ")]:
                del request.context[key]
            return request


@dataclass(kw_only=True, eq=False)
class _Remembering(ToolCallingAdvisor):
    """Keeps the prompt of its first turn for all others; its copies do too."""

    kept: dict[str, Prompt] = field(default_factory=dict)

    async def do_initialize_loop(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        return request.with_prompt(self.kept.setdefault("first", request.prompt))


class TestRemembersTurns(_Suite):
    """The first request of all is that of every turn."""

    fails = frozenset({"test_one_advisor_serves_many_turns"})
    broken = _Remembering


class TestPumps(_Suite):
    """A task reads the stream, and goes on when nobody listens."""

    fails = frozenset({"test_it_can_be_cancelled_anywhere", "test_a_stream_that_is_left_closes_the_one_below"})

    class broken(ToolCallingAdvisor):  # noqa: N801
        async def advise_stream(
            self, request: ChatClientRequest, chain: StreamAdvisorChain
        ) -> AsyncIterator[ChatClientResponse]:
            queue: asyncio.Queue[Any] = asyncio.Queue()
            stream = super().advise_stream(request, chain)

            async def pump() -> None:
                try:
                    async for chunk in stream:
                        queue.put_nowait(chunk)
                except Exception as error:  # noqa: BLE001  # told below
                    queue.put_nowait(error)
                except SystemExit as error:
                    queue.put_nowait(error)
                queue.put_nowait(None)

            self.task = asyncio.ensure_future(pump())
            while (chunk := await queue.get()) is not None:
                if isinstance(chunk, BaseException):
                    raise chunk
                yield chunk


@dataclass(kw_only=True, eq=False)
class _Copying(ToolCallingAdvisor):
    """Its copies are others."""

    def copy(self, **changes: Any) -> Any:
        return ToolCallingAdvisor(tool_calling_manager=self.tool_calling_manager)


class TestCopiesAreOthers(_Suite):
    """A copy is an advisor of another class."""

    fails = frozenset({"test_hooks_and_copies_work"})
    broken = _Copying


class TestMovesAbout(_Suite):
    """The order is another each time."""

    fails = frozenset({"test_its_order_is_fixed"})

    class broken(ToolCallingAdvisor):  # noqa: N801
        asked = 0

        @property
        def order(self) -> int:
            self.asked += 1
            return self.advisor_order + self.asked % 2


class TestRunsNothing(_Suite):
    """The calls of the model are its answer."""

    fails = frozenset(
        {
            "test_a_direct_result_goes_to_the_caller",
            "test_a_failing_tool_costs_its_siblings_nothing",
            "test_calls_of_one_round_are_answered_in_their_order",
            "test_context_holds_for_the_turn",
            "test_errors_of_the_model_come_out",
            "test_hooks_and_copies_work",
            "test_it_goes_on_until_the_model_answers",
            "test_limits_of_the_manager_hold",
            "test_one_advisor_serves_many_turns",
            "test_text_beside_a_call_is_neither_lost_nor_repeated",
            "test_text_passes_as_it_arrives",
            "test_usage_is_that_of_all_rounds",
            "test_what_cannot_run_is_told_the_model",
            "test_what_is_no_exception_comes_out",
        }
    )

    def create_advisor(self, manager: ToolCallingManager) -> ToolAdvisor:
        return ToolCallingAdvisor(
            tool_calling_manager=manager, tool_execution_eligibility_checker=lambda response: False
        )


def _changed(response: ChatClientResponse, change: Any) -> ChatClientResponse:
    assert response.chat_response is not None
    generations = tuple(Generation(change(each.output), each.metadata) for each in response.chat_response.generations)
    assert all(isinstance(each.output, AssistantMessage) for each in generations)
    return response.copy(chat_response=response.chat_response.copy(generations=generations))
