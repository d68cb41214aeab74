"""R11: what propagates, what is raised, and what the model is told."""

import asyncio
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import ALL_FORMS

from vernal import (
    ChatClient,
    DefaultToolCallingManager,
    DefaultToolExecutionExceptionProcessor,
    ToolCallingAdvisor,
    ToolExecutionException,
    ToolExecutionExceptionProcessor,
    ToolFailure,
    ToolResponse,
    ToolResponseMessage,
)
from vernal.testing import Form, ScriptedChatModel, tool_call


class Stop(BaseException):
    """No `Exception`."""


class Listed(ValueError):
    """What the developer wants raised."""


class Unlisted(Exception):
    """Anything else."""


ERRORS = (Stop, KeyboardInterrupt, SystemExit, asyncio.CancelledError, Listed, Unlisted, ToolFailure, TimeoutError)
MESSAGES = st.sampled_from(["", " ", "told", "x\ny"])


def asked(
    form: Form, error: BaseException, processor: ToolExecutionExceptionProcessor, *, blocking: bool
) -> ToolResponse:
    """The model's answer to a call of a tool that raises `error`."""

    def fail() -> str:
        raise error

    async def afail() -> str:
        raise error

    afail.__name__ = "fail"
    model = ScriptedChatModel([tool_call("fail"), "done"])
    manager = DefaultToolCallingManager(tool_execution_exception_processor=processor)
    client = ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(tool_calling_manager=manager)).build()
    form.ask(client.prompt("Go on.").tools(fail if blocking else afail))
    message = model.requests[-1].messages[-1]
    assert isinstance(message, ToolResponseMessage)
    return message.responses[0]


@given(
    kind=st.sampled_from(ERRORS),
    message=MESSAGES,
    always=st.booleans(),
    text=st.sampled_from(["message", "type", "fixed"]),
    blocking=st.booleans(),
)
def test_the_order_is_propagate_listed_always_text(
    kind: type[BaseException], message: str, always: bool, text: str, blocking: bool
) -> None:
    """R11: and a text for the model is never empty."""
    processor = DefaultToolExecutionExceptionProcessor(
        rethrow_exceptions=[Listed],
        always_throw=always,
        error_text=text,  # type: ignore[arg-type]  # one of the three
        fixed_text="It failed.",
    )
    for form in ALL_FORMS:
        error = kind(message)
        if not issubclass(kind, Exception) or kind is Listed:
            with pytest.raises(kind) as caught:
                asked(form, error, processor, blocking=blocking)
            assert kind is not Listed or caught.value is error
        elif always:
            with pytest.raises(ToolExecutionException) as wrapped:
                asked(form, error, processor, blocking=blocking)
            assert wrapped.value.__cause__ is error
        else:
            response = asked(form, error, processor, blocking=blocking)
            assert response.is_error
            told = {"message": message, "type": "", "fixed": "It failed."}[text]
            told = message if kind is ToolFailure else told
            assert response.data == (told if told.strip() else f"Exception occurred in tool: fail ({kind.__name__})")


@pytest.mark.parametrize(("given_text", "told"), [(None, "The tool fail failed."), ("\t", "The tool fail failed.")])
def test_a_processor_that_tells_nothing_is_spoken_for(form: Form, given_text: str | None, told: str) -> None:
    """R11: an empty message never becomes an empty result."""

    class Silent(ToolExecutionExceptionProcessor):
        def process(self, exception: ToolExecutionException) -> str:
            return given_text  # type: ignore[return-value]  # a careless one

    assert asked(form, ValueError("x"), Silent(), blocking=True).data == told


def test_a_processor_that_gives_an_object_tells_it_as_json(form: Form) -> None:
    """R11, R15: a result has one form, also that of a processor."""

    class Structured(ToolExecutionExceptionProcessor):
        def process(self, exception: ToolExecutionException) -> str:
            return {"error": str(exception)}  # type: ignore[return-value]  # a careless one

    assert asked(form, ValueError("x"), Structured(), blocking=True).data == '{"error":"x"}'


@pytest.mark.parametrize("kind", [StopIteration, GeneratorExit])
def test_what_cannot_pass_through_an_await_is_an_error_like_another(form: Form, kind: type[BaseException]) -> None:
    """R11: out of a blocking tool; the text names the kind and nothing of the engine."""
    response = asked(form, kind("7"), DefaultToolExecutionExceptionProcessor(), blocking=True)
    assert response == ToolResponse("call_1", "fail", f"a blocking function raised {kind.__name__}", is_error=True)


def test_the_original_is_logged_with_its_traceback(form: Form, caplog: pytest.LogCaptureFixture) -> None:
    """R11: what the model is not told is not lost."""
    error = Unlisted("secret place")
    with caplog.at_level(logging.WARNING, "vernal.tools"):
        response = asked(form, error, DefaultToolExecutionExceptionProcessor(error_text="fixed"), blocking=True)
    assert "secret place" not in response.data
    assert [record.exc_info[1] for record in caplog.records if record.exc_info] == [error]
