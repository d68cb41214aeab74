"""The ways in which the engine is asked: behaviours with a number are shown in each of them."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from vernal import (
    ChatClient,
    ChatClientRequestSpec,
    ChatClientResponse,
    ChatResponse,
    MessageAggregator,
    Prompt,
    ToolCallingAdvisor,
    ToolCallingManager,
    ToolExecutionResult,
)
from vernal.testing import ScriptedChatModel


@dataclass(frozen=True)
class Outcome:
    """What a turn gave: `chunks` is the response alone where the turn was a call, else all that went out."""

    client_response: ChatClientResponse
    chunks: tuple[ChatClientResponse, ...]

    @property
    def chat_response(self) -> ChatResponse:
        assert self.client_response.chat_response is not None
        return self.client_response.chat_response

    @property
    def text(self) -> str | None:
        return self.client_response.text


@dataclass(frozen=True)
class Form:
    """One of the four forms of a turn: call, acall, stream, astream."""

    name: str
    _run: Callable[[ChatClientRequestSpec], list[ChatClientResponse]]

    @property
    def streams(self) -> bool:
        return self.name.endswith("stream")

    def ask(self, spec: ChatClientRequestSpec) -> Outcome:
        """Run the turn to its end; the chunks of a stream are aggregated."""
        chunks = tuple(self._run(spec))
        if not self.streams:
            return Outcome(chunks[0], chunks)
        aggregator = MessageAggregator()
        for _ in aggregator.over(chunks):
            pass
        return Outcome(ChatClientResponse(aggregator.response, aggregator.context), chunks)


def _call(spec: ChatClientRequestSpec) -> list[ChatClientResponse]:
    return [spec.call().chat_client_response()]


def _acall(spec: ChatClientRequestSpec) -> list[ChatClientResponse]:
    async def run() -> list[ChatClientResponse]:
        return [await spec.acall().chat_client_response()]

    return asyncio.run(run())


def _stream(spec: ChatClientRequestSpec) -> list[ChatClientResponse]:
    with spec.stream().chat_client_response() as chunks:
        return list(chunks)


def _astream(spec: ChatClientRequestSpec) -> list[ChatClientResponse]:
    async def run() -> list[ChatClientResponse]:
        async with spec.astream().chat_client_response() as chunks:
            return [chunk async for chunk in chunks]

    return asyncio.run(run())


FORMS = tuple(
    Form(name, run) for name, run in {"call": _call, "acall": _acall, "stream": _stream, "astream": _astream}.items()
)


@pytest.fixture(scope="session", params=FORMS, ids=lambda form: form.name)
def form(request: pytest.FixtureRequest) -> Form:
    """Each of the four forms of a turn."""
    given: Form = request.param
    return given


Execute = Callable[[ToolCallingManager, Prompt, ChatResponse], ToolExecutionResult]
"""Lets a manager execute the tool calls of a response to a prompt."""


class _Recorder(ToolCallingManager):
    """A manager that remembers what the one behind it did, since the loop keeps it to itself."""

    def __init__(self, manager: ToolCallingManager) -> None:
        self._manager = manager
        self.outcome: ToolExecutionResult | Exception | None = None

    async def aexecute_tool_calls(self, prompt: Prompt, chat_response: ChatResponse) -> ToolExecutionResult:
        try:
            self.outcome = await self._manager.aexecute_tool_calls(prompt, chat_response)
        except Exception as error:
            self.outcome = error
            raise
        return self.outcome


def _by_hand(manager: ToolCallingManager, prompt: Prompt, response: ChatResponse) -> ToolExecutionResult:
    return manager.execute_tool_calls(prompt, response)


def _by_hand_async(manager: ToolCallingManager, prompt: Prompt, response: ChatResponse) -> ToolExecutionResult:
    return asyncio.run(manager.aexecute_tool_calls(prompt, response))


def _in_loop(form: Form) -> Execute:
    def execute(manager: ToolCallingManager, prompt: Prompt, response: ChatResponse) -> ToolExecutionResult:
        recorder = _Recorder(manager)
        advisor = ToolCallingAdvisor(tool_calling_manager=recorder)
        client = ChatClient.builder(ScriptedChatModel([response, "Done."])).tool_advisor(advisor).build()
        form.ask(client.prompt(prompt))
        if isinstance(recorder.outcome, Exception):
            raise recorder.outcome  # a limit that the loop has turned into an answer
        assert recorder.outcome is not None
        return recorder.outcome

    return execute


_BY_HAND = {"by-hand": _by_hand, "by-hand-async": _by_hand_async}
_EXECUTIONS = _BY_HAND | {f"loop-{form.name}": _in_loop(form) for form in FORMS}


@pytest.fixture(scope="session", params=tuple(_EXECUTIONS))
def execute(request: pytest.FixtureRequest) -> Execute:
    """Each way in which a manager comes to execute tool calls: by hand in both faces, in the loop in four forms."""
    return _EXECUTIONS[request.param]


@pytest.fixture(scope="session", params=tuple(_BY_HAND))
def execute_by_hand(request: pytest.FixtureRequest) -> Execute:
    """Both faces of a manager that is called by hand, where the turn is read from the prompt."""
    return _EXECUTIONS[request.param]
