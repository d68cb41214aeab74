"""The events of a streamed turn."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from vernal import (
    AssistantMessage,
    ChatClient,
    ChatClientRequest,
    ChatEvent,
    ChatResponse,
    ChatResponseMetadata,
    Generation,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    ReasoningEvent,
    RoundFinished,
    TextEvent,
    ToolCallFinished,
    ToolCallProgress,
    ToolCallStarted,
    ToolContext,
    TurnFinished,
    Usage,
    tool,
)
from vernal.advisors.api import AdvisorChain, BaseAdvisor
from vernal.testing import ScriptedChatModel, chunks, tool_call

Events = Callable[..., list[ChatEvent]]


@tool
def get_weather(city: str, context: ToolContext) -> str:
    """Weather of a city."""
    context.report_progress("asking the station", fraction=0.5)
    return f"sunny in {city}"


@tool
def broken() -> str:
    """Fails."""
    raise ValueError("out of order")


@pytest.fixture(params=["stream", "astream"])
def events(request: pytest.FixtureRequest) -> Events:
    """All events of one turn, in the blocking and in the asynchronous form."""

    def told(
        model: ScriptedChatModel, *advisors: Any, tools: tuple[Any, ...] = (get_weather, broken)
    ) -> list[ChatEvent]:
        spec = ChatClient(model).prompt("?").tools(*tools).advisors(*advisors, conversation_id="1")

        async def asynchronously() -> list[ChatEvent]:
            async with spec.astream().events() as stream:
                return [event async for event in stream]

        return list(spec.stream().events()) if request.param == "stream" else asyncio.run(asynchronously())

    return told


def kinds(events: list[ChatEvent]) -> list[str]:
    return [type(event).__name__ for event in events]


def test_a_turn_tells_what_happens_in_order(events: Events) -> None:
    """Text, tool call with arguments, progress, result, rounds and the end, each with its id."""
    model = ScriptedChatModel(
        [("Let me see. ", tool_call("get_weather", call_id="c1", city="Oslo")), chunks("Su", "nny.")]
    )
    told = events(model)
    assert kinds(told) == [
        "TextEvent",
        "ToolCallStarted",
        "ToolCallProgress",
        "ToolCallFinished",
        "RoundFinished",
        "TextEvent",
        "TextEvent",
        "RoundFinished",
        "TurnFinished",
    ]
    assert told[1] == ToolCallStarted(call_id="c1", name="get_weather", arguments={"city": "Oslo"})
    assert told[2] == ToolCallProgress(call_id="c1", name="get_weather", message="asking the station", fraction=0.5)
    finished, last = told[3], told[-1]
    assert isinstance(finished, ToolCallFinished)
    assert (finished.call_id, finished.response.data, finished.response.is_error) == ("c1", "sunny in Oslo", False)
    assert finished.duration >= 0
    assert [event.number for event in told if isinstance(event, RoundFinished)] == [1, 2]
    assert isinstance(last, TurnFinished)
    assert last.response.text == "Let me see. Sunny."


def test_failures_and_refusals_are_told(events: Events) -> None:
    """A failing tool, an unknown one and unparsable arguments are finished calls that are errors (R13)."""
    bad = tool_call("get_weather", call_id="c3")
    script = [(tool_call("broken", call_id="c1"), tool_call("nobody", call_id="c2"), bad), "Sorry."]
    told = events(ScriptedChatModel(script))
    finished = {event.call_id: event.response for event in told if isinstance(event, ToolCallFinished)}
    assert {name: response.is_error for name, response in finished.items()} == {"c1": True, "c2": True, "c3": True}
    assert finished["c1"].data == "out of order"
    started = [event.call_id for event in told if isinstance(event, ToolCallStarted)]
    assert sorted(started) == ["c1", "c2", "c3"]


def test_reasoning_and_usage_are_told(events: Events) -> None:
    """Reasoning comes as its own event; each round has its usage, the end has the sum (R22)."""

    def answer(text: str | None, reasoning: str, prompt: int, *calls: Any) -> ChatResponse:
        message = AssistantMessage(text, calls, reasoning=reasoning)
        return ChatResponse((Generation(message),), ChatResponseMetadata(usage=Usage(prompt, 1)))

    call = tool_call("get_weather", call_id="c1", city="Oslo")
    told = events(ScriptedChatModel([answer(None, "Hm.", 10, call), answer("Sunny.", "Ah.", 20)]))
    assert [event.text for event in told if isinstance(event, ReasoningEvent)] == ["Hm.", "Ah."]
    assert [event.usage.prompt_tokens for event in told if isinstance(event, RoundFinished)] == [10, 20]
    last = told[-1]
    assert isinstance(last, TurnFinished)
    assert last.response.usage.prompt_tokens == 30


def test_events_pass_through_advisors_around_and_inside_the_loop(events: Events) -> None:
    """Memory and other advisors see no harm in events, and the events no harm in them."""

    class Passing(BaseAdvisor):
        order = 5

        async def before(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
            return request

    memory = MessageWindowChatMemory()
    for order in (-2147483648 + 200, -2147483648 + 400):
        advisor = MessageChatMemoryAdvisor(chat_memory=memory, memory_order=order)
        told = events(ScriptedChatModel([tool_call("get_weather", city="Oslo"), "Sunny."]), advisor, Passing())
        assert kinds(told)[-3:] == ["TextEvent", "RoundFinished", "TurnFinished"]
        assert kinds(told).count("ToolCallFinished") == 1


def test_without_a_tool_advisor_there_are_still_text_and_end(events: Events) -> None:
    """A turn that executes no tools tells its text and its end."""
    model = ScriptedChatModel([tool_call("get_weather", city="Oslo")])
    spec = ChatClient(model).prompt("?").tools(get_weather)
    told = list(spec.advisors(tool_calling_advisor_auto_register=False).stream().events())
    assert kinds(told) == ["TurnFinished"]
    assert kinds(events(ScriptedChatModel(["Hi."]))) == ["TextEvent", "RoundFinished", "TurnFinished"]


def test_content_stays_plain_text() -> None:
    """Who asks for content or responses gets no events."""
    model = ScriptedChatModel([tool_call("get_weather", city="Oslo"), "Sunny."] * 2)
    client = ChatClient.builder(model).default_tools(get_weather).build()
    assert list(client.prompt("?").stream().content()) == ["Sunny."]
    assert all(chunk.event is None for chunk in client.prompt("?").stream().chat_client_response())


def test_progress_goes_nowhere_where_nobody_listens() -> None:
    """A tool may report progress in every form."""
    model = ScriptedChatModel([tool_call("get_weather", city="Oslo"), "Sunny."])
    assert ChatClient(model).prompt("?").tools(get_weather).call().content() == "Sunny."


def test_leaving_the_events_early_cancels_the_tool() -> None:
    """When `aclose` returns, the tool's task has ended (R20)."""
    ended = asyncio.Event()

    @tool
    async def endless() -> str:
        """Waits for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "never"

    async def leave() -> None:
        spec = ChatClient(ScriptedChatModel([tool_call("endless"), "never"])).prompt("?").tools(endless)
        async with spec.astream().events() as stream:
            async for event in stream:
                if isinstance(event, ToolCallStarted):
                    await asyncio.sleep(0)
                    break
        assert ended.is_set()
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(leave())


def test_parallel_tools_tell_their_own_progress() -> None:
    """Progress from two threads at once carries the id of its own call, and precedes its end."""
    barrier = threading.Barrier(2)

    @tool
    def step(name: str, context: ToolContext) -> str:
        """One step."""
        barrier.wait(timeout=10)
        context.report_progress(name)
        return name

    model = ScriptedChatModel(
        [(tool_call("step", call_id="a", name="a"), tool_call("step", call_id="b", name="b")), "Done."]
    )
    told = list(ChatClient(model).prompt("?").tools(step).stream().events())
    progress = {event.call_id: event.message for event in told if isinstance(event, ToolCallProgress)}
    assert progress == {"a": "a", "b": "b"}
    for call_id in "ab":
        own = [type(event) for event in told if getattr(event, "call_id", None) == call_id]
        assert own == [ToolCallStarted, ToolCallProgress, ToolCallFinished]


def test_an_error_of_the_turn_ends_the_events_after_what_came_before(events: Events) -> None:
    """What was told stays told, then the error is raised (R20)."""
    with pytest.raises(OSError, match="broken"):
        events(ScriptedChatModel([chunks("Su", OSError("broken"))]))
    model = ScriptedChatModel([chunks("Su", OSError("broken"))])
    stream = ChatClient(model).prompt("?").stream().events()
    assert next(stream) == TextEvent(text="Su")
    with pytest.raises(OSError, match="broken"):
        next(stream)
