"""What is observed of the tool calls of a round (TCM)."""

from typing import TYPE_CHECKING

import pytest

from vernal import (
    ChatResponse,
    DefaultToolCallingManager,
    DefaultToolExecutionExceptionProcessor,
    FunctionToolCallback,
    Observation,
    ObservationRegistry,
    Prompt,
    ToolCall,
    ToolCallingChatOptions,
    ToolResponse,
)
from vernal.observation import scope
from vernal.tools.observation import ToolCallingObservationContext

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Execute

RESPONSE = ChatResponse.of(tool_calls=[ToolCall("1", "record", '{"secret": 1}')])


def prompt(error: Exception | None = None) -> Prompt:
    """A prompt with one tool, which fails with `error` if one is given."""

    def record(secret: int) -> str:
        if error is not None:
            raise error
        return f"recorded {secret}"

    callback = FunctionToolCallback(record, description="Records.")
    return Prompt("Go on.", ToolCallingChatOptions(tool_callbacks=[callback]))


class Listening(ObservationRegistry):
    def __init__(self) -> None:
        self.started: list[Observation] = []
        self.stopped: list[Observation] = []

    def on_start(self, observation: Observation) -> None:
        self.started.append(observation)

    def on_stop(self, observation: Observation) -> None:
        self.stopped.append(observation)


def test_the_observation_in_scope_is_the_parent_of_a_tool_call(execute: "Execute") -> None:
    """TCM-21: what is observed around the caller is the parent of what its tools do."""
    registry, outer = Listening(), Observation("outer", "outer")
    with scope(outer):
        execute(DefaultToolCallingManager(observation_registry=registry), prompt(), RESPONSE)
    [observation] = registry.started
    assert observation.parent is outer


def test_a_tool_call_is_observed(execute: "Execute") -> None:
    """TCM-37: its names, its keys (those of OpenTelemetry), its subject and result; it is stopped exactly once."""
    registry = Listening()
    execute(DefaultToolCallingManager(observation_registry=registry), prompt(), RESPONSE)
    [observation] = registry.started
    assert registry.stopped == [observation]
    assert (observation.name, observation.contextual_name) == ("vernal.tool", "execute_tool record")
    assert observation.low_cardinality_keys == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.provider.name": "vernal",
        "gen_ai.tool.name": "record",
        "gen_ai.tool.type": "function",
    }
    assert observation.high_cardinality_keys == {"gen_ai.tool.description": "Records.", "gen_ai.tool.call.id": "1"}
    assert isinstance(observation.subject, ToolCallingObservationContext)
    assert observation.subject.tool_definition.name == "record"
    assert (observation.subject.arguments, observation.subject.result) == ('{"secret": 1}', "recorded 1")
    assert observation.result == ToolResponse("1", "record", "recorded 1")
    assert observation.error is None


def test_a_told_failure_is_the_result_of_its_observation_a_raised_one_its_error(execute: "Execute") -> None:
    """TCM-38: told to the model it is no error of the observation; raised to the caller it is."""
    registry, failure = Listening(), OSError("disk full")
    execute(DefaultToolCallingManager(observation_registry=registry), prompt(failure), RESPONSE)
    [told] = registry.stopped
    assert told.error is None
    assert told.result == ToolResponse("1", "record", "disk full", is_error=True)

    registry = Listening()
    processor = DefaultToolExecutionExceptionProcessor(rethrow_exceptions=[OSError])
    raising = DefaultToolCallingManager(observation_registry=registry, tool_execution_exception_processor=processor)
    with pytest.raises(OSError, match="disk full"):
        execute(raising, prompt(failure), RESPONSE)
    [raised] = registry.stopped
    assert raised.error is failure
