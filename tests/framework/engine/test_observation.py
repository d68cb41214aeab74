"""What an observation registry hears of advisors and tools."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from vernal import (
    ChatClient,
    DefaultToolCallingManager,
    Observation,
    ObservationRegistry,
    ToolCallingAdvisor,
    ToolCallingObservationContext,
    ToolCallingObservationConvention,
    ToolDefinition,
    tool,
)
from vernal.observation import current_observation, observed, scope
from vernal.testing import ScriptedChatModel, chunks, tool_call


@dataclass(eq=False)
class Recorded(ObservationRegistry):
    """Keeps what starts and what stops."""

    started: list[Observation] = field(default_factory=list)
    stopped: list[Observation] = field(default_factory=list)

    def on_start(self, observation: Observation) -> None:
        self.started.append(observation)

    def on_stop(self, observation: Observation) -> None:
        self.stopped.append(observation)

    def named(self, name: str) -> list[Observation]:
        return [o for o in self.started if name in (o.name, o.contextual_name)]


@tool
def get_weather(city: str) -> str:
    """Weather of a city."""
    return f"sunny in {city}"


@tool
def broken() -> str:
    """Fails."""
    raise ValueError("out of order")


def client(registry: Recorded, script: list[Any], **manager: Any) -> ChatClient:
    advisor = ToolCallingAdvisor(
        tool_calling_manager=DefaultToolCallingManager(observation_registry=registry, **manager)
    )
    builder = ChatClient.builder(ScriptedChatModel(script)).observation_registry(registry).tool_advisor(advisor)
    return builder.default_tools(get_weather, broken).build()


def ask(client: ChatClient, form: str, outer: Observation | None = None) -> None:
    """One turn in one of the four forms, with `outer` current where it is asked."""

    async def asynchronously() -> None:
        if form == "acall":
            await client.prompt("?").acall().content()
            return
        async for _ in client.prompt("?").astream().content():
            pass

    with scope(outer):
        if form == "call":
            client.prompt("?").call().content()
        elif form == "stream":
            list(client.prompt("?").stream().content())
        else:
            asyncio.run(asynchronously())


FORMS = ("call", "stream", "acall", "astream")


@pytest.mark.parametrize("form", FORMS)
def test_spans_hang_together(form: str) -> None:
    """One span for the loop under the outer one, a model span for each round and the tool under the loop
    (TSH-01, TSH-02, TSH-04, TSH-05, TCM-21, CHN-13)."""
    registry, outer = Recorded(), Observation("outer", "outer")
    ask(client(registry, [tool_call("get_weather", city="Oslo"), "Sunny."]), form, outer)
    (loop,) = registry.named("Tool Calling Advisor")
    models, (called,) = registry.named("ChatModelAdvisor"), registry.named("vernal.tool")
    asked = registry.named("vernal.chat_model")
    assert loop.parent is outer
    assert [model.parent for model in models] == [loop, loop]
    assert [request.parent for request in asked] == models
    assert called.parent is loop
    assert len(registry.stopped) == len(registry.started) == 6
    assert set(map(id, registry.stopped)) == set(map(id, registry.started))
    assert current_observation() is None


@pytest.mark.parametrize("form", FORMS)
def test_an_error_is_recorded_and_every_span_stops_once(form: str) -> None:
    """A model that fails is told by the spans it passes through (TSH-03, CHN-13)."""
    registry, error = Recorded(), RuntimeError("down")
    with pytest.raises(RuntimeError):
        ask(client(registry, [error]), form)
    assert [observation.error for observation in registry.started] == [error, error, error]
    assert len(registry.stopped) == 3


def test_a_stream_that_is_left_early_stops_its_spans_once() -> None:
    """Leaving a stream is no error, and stops every span (TSH-03)."""
    registry = Recorded()
    texts = client(registry, [chunks("a", "b", "c")]).prompt("?").stream().content()
    assert next(texts) == "a"
    texts.close()
    assert len(registry.stopped) == len(registry.started) == 3
    assert all(observation.error is None for observation in registry.stopped)


@pytest.mark.parametrize("form", FORMS)
def test_a_tool_that_fails_softly_is_no_error_of_its_span(form: str) -> None:
    """A failure that the model is told is the result of the span, not its error (TCM-38)."""
    registry = Recorded()
    ask(client(registry, [tool_call("broken"), "Sorry."]), form)
    (called,) = registry.named("vernal.tool")
    assert called.error is None
    assert called.result.data == "out of order"


def test_keys_follow_the_conventions_for_genai() -> None:
    """Names and keys are OpenTelemetry's; arguments and result are not among them (TCM-37, TOB-01..03)."""
    registry = Recorded()
    ask(client(registry, [tool_call("get_weather", call_id="c1", city="Oslo"), "Sunny."]), "call")
    (called,) = registry.named("vernal.tool")
    assert called.contextual_name == "execute_tool get_weather"
    assert called.low_cardinality_keys == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.provider.name": "vernal",
        "gen_ai.tool.name": "get_weather",
        "gen_ai.tool.type": "function",
    }
    assert called.high_cardinality_keys == {
        "gen_ai.tool.description": "Weather of a city.",
        "gen_ai.tool.call.id": "c1",
    }
    assert ToolCallingObservationConvention().supports(called.subject)
    assert not ToolCallingObservationConvention().supports(None)


def test_content_is_among_the_keys_where_it_is_asked_for() -> None:
    """With content the arguments and the result are keys, each once (TOB-04)."""
    registry, convention = Recorded(), ToolCallingObservationConvention(include_content=True)
    script = [tool_call("get_weather", city="Oslo"), "Sunny."]
    ask(client(registry, script, observation_convention=convention), "call")
    (called,) = registry.named("vernal.tool")
    assert called.high_cardinality_keys["gen_ai.tool.call.arguments"] == '{"city": "Oslo"}'
    assert called.high_cardinality_keys["gen_ai.tool.call.result"] == "sunny in Oslo"


def test_the_subject_of_a_tool_observation_has_defaults() -> None:
    """Empty arguments are {}, an empty type is function, no id is an empty one; a result may be absent (TOB-05)."""
    definition = ToolDefinition("x", "x", {"type": "object"})
    subject = ToolCallingObservationContext(tool_definition=definition, arguments="", tool_type="", call_id="")
    assert (subject.arguments, subject.tool_type, subject.call_id, subject.result) == ("{}", "function", "", None)
    mcp = ToolCallingObservationContext(tool_definition=definition, tool_type="mcp", result="")
    assert (mcp.tool_type, mcp.result) == ("mcp", "")
    with pytest.raises(TypeError, match="tool_definition"):
        ToolCallingObservationContext(tool_definition=None)  # type: ignore[arg-type]  # what the test is about
    with pytest.raises(TypeError, match="tool_metadata"):
        ToolCallingObservationContext(tool_definition=definition, tool_metadata=None)  # type: ignore[arg-type]


def test_nothing_is_made_where_nobody_listens() -> None:
    """Without a registry no observation is even made."""
    from vernal import NOOP_REGISTRY

    def never() -> Observation:
        raise AssertionError("an observation was made")

    with observed(NOOP_REGISTRY, never) as observation:
        assert observation is None


def test_siblings_do_not_see_each_others_spans() -> None:
    """Tools that run at the same time each have their own span, under the same parent (R16)."""
    registry = Recorded()
    seen: list[Observation | None] = []

    @tool
    async def look() -> str:
        """Look at the current span."""
        seen.append(current_observation())
        await asyncio.sleep(0)
        seen.append(current_observation())
        return "ok"

    asker = client(registry, [(tool_call("look"), tool_call("look", x=1)), "Done."])
    asker.prompt("?").tools(look).call().content()
    spans = registry.named("vernal.tool")
    assert len(spans) == 2
    assert {id(span) for span in spans} == {id(span) for span in seen if span is not None}
    assert spans[0].parent is spans[1].parent
