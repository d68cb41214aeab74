"""The four forms as fixtures, and every way in which a manager comes to execute tool calls."""

import asyncio
from collections.abc import Callable

import pytest

from vernal import (
    ChatClient,
    ChatResponse,
    Prompt,
    ToolCallingAdvisor,
    ToolCallingManager,
    ToolExecutionResult,
)
from vernal.testing import Form, Outcome, ScriptedChatModel

__all__ = ["Execute", "Form", "Outcome"]


@pytest.fixture(params=Form)
def form(request: pytest.FixtureRequest) -> Form:
    """Each of the four forms in turn."""
    return Form(request.param)


@pytest.fixture(params=("stream", "astream"))
def stream_form(request: pytest.FixtureRequest) -> Form:
    """Both forms of a stream."""
    return Form(request.param)


@pytest.fixture(params=("call", "acall"))
def call_form(request: pytest.FixtureRequest) -> Form:
    """Both forms of a call."""
    return Form(request.param)


@pytest.fixture(scope="session")
def forms() -> tuple[Form, ...]:
    """All four forms, for property tests, which go through them within each example."""
    return tuple(Form)


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
_EXECUTIONS = _BY_HAND | {f"loop-{form}": _in_loop(form) for form in Form}


@pytest.fixture(params=tuple(_EXECUTIONS))
def execute(request: pytest.FixtureRequest) -> Execute:
    """Each way in which a manager comes to execute tool calls: by hand in both faces, in the loop in four forms."""
    return _EXECUTIONS[request.param]


@pytest.fixture(params=tuple(_BY_HAND))
def execute_by_hand(request: pytest.FixtureRequest) -> Execute:
    """Both faces of a manager that is called by hand, where the turn is read from the prompt."""
    return _EXECUTIONS[request.param]
