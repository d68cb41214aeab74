"""The tool-calling advisor as an object: its fields, its copies, what it refuses, and what it lets through."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from vernal import (
    HIGHEST_PRECEDENCE,
    LOWEST_PRECEDENCE,
    CallAdvisor,
    CallAdvisorChain,
    ChatClientRequest,
    ChatClientResponse,
    ChatOptions,
    ChatResponse,
    DefaultAroundAdvisorChain,
    DefaultToolCallingManager,
    Prompt,
    StreamAdvisor,
    StreamAdvisorChain,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
)


class Ending(CallAdvisor, StreamAdvisor):
    """Stands last and answers each request with "done"; keeps the requests and its responses."""

    def __init__(self) -> None:
        self.requests: list[ChatClientRequest] = []
        self.responses: list[ChatClientResponse] = []

    order = LOWEST_PRECEDENCE

    def answer(self, request: ChatClientRequest) -> ChatClientResponse:
        """The one answer."""
        self.requests.append(request)
        self.responses.append(ChatClientResponse(ChatResponse.of("done"), request.context))
        return self.responses[-1]

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        return self.answer(request)

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        yield self.answer(request)


class NumberedChain(DefaultAroundAdvisorChain):
    """Counts its copies, and keeps the streams that it gave out."""

    def __init__(self, *advisors: CallAdvisor | StreamAdvisor) -> None:
        super().__init__(advisors)
        self.copies = 0
        self.streams: list[AsyncIterator[ChatClientResponse]] = []

    def copy(self, after: Any) -> DefaultAroundAdvisorChain:
        self.copies += 1
        return super().copy(after)

    def next_stream(self, request: ChatClientRequest) -> AsyncIterator[ChatClientResponse]:
        self.streams.append(super().next_stream(request))
        return self.streams[-1]


def a_request(options: ChatOptions | None = None) -> ChatClientRequest:
    """A request as an advisor gets it."""
    return ChatClientRequest(Prompt("Hello", options), {"tenant": "acme"})


# fields


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"tool_calling_manager": None}, TypeError, "tool_calling_manager is None"),
        ({"tool_execution_eligibility_checker": None}, TypeError, "tool_execution_eligibility_checker is None"),
        ({"advisor_order": HIGHEST_PRECEDENCE}, ValueError, "advisor_order must be between HIGHEST_PRECEDENCE and"),
        ({"advisor_order": LOWEST_PRECEDENCE}, ValueError, "advisor_order must be between HIGHEST_PRECEDENCE and"),
    ],
)
@pytest.mark.parametrize("make", [ToolCallingAdvisor, ToolCallingAdvisor().copy])
def test_wrong_fields_are_refused(make: Any, changes: dict[str, Any], error: type[Exception], text: str) -> None:
    """A missing manager or checker, and an order at either bound, are refused (TCA-01, TCA-02, TCA-03, TCA-06)."""
    with pytest.raises(error, match=text):
        make(**changes)


@pytest.mark.parametrize("order", [HIGHEST_PRECEDENCE + 1, 0, LOWEST_PRECEDENCE - 1])
def test_an_order_within_the_bounds_is_taken(order: int) -> None:
    """The advisor has the order and the manager that were given, and its name (TCA-04, TCA-07)."""
    manager = DefaultToolCallingManager()
    advisor = ToolCallingAdvisor(tool_calling_manager=manager, advisor_order=order)
    assert (advisor.order, advisor.name) == (order, "Tool Calling Advisor")
    assert advisor.tool_calling_manager is manager


def test_an_advisor_has_defaults() -> None:
    """Nothing need be given: order +300, a manager of its own, the history enabled (TCA-05)."""
    advisor = ToolCallingAdvisor()
    assert (advisor.order, advisor.name) == (HIGHEST_PRECEDENCE + 300, "Tool Calling Advisor")
    assert isinstance(advisor.tool_calling_manager, DefaultToolCallingManager)
    assert advisor.tool_calling_manager is not ToolCallingAdvisor().tool_calling_manager
    assert advisor.conversation_history_enabled


# copies


@dataclass(kw_only=True, eq=False)
class Audited(ToolCallingAdvisor):
    """A subclass that is a dataclass, with fields of its own."""

    audit: str
    seen: list[str] = field(default_factory=list)


class Plain(ToolCallingAdvisor):
    """A subclass with an `__init__` of its own, and its order as a class attribute."""

    order = 42

    def __init__(self, label: str) -> None:
        super().__init__()
        self.label = label


def always(response: ChatResponse) -> bool:
    """A checker."""
    return True


def test_a_copy_has_every_field() -> None:
    """A copy is of the same type with all fields; a change of it leaves the original alone (TCA-08, TCA-09, R26)."""
    manager = DefaultToolCallingManager()
    original = Audited(
        tool_calling_manager=manager,
        tool_execution_eligibility_checker=always,
        advisor_order=7,
        conversation_history_enabled=False,
        audit="a.log",
    )
    twin = original.copy()
    assert type(twin) is Audited
    assert vars(twin) == vars(original)
    changed = original.copy(advisor_order=8, conversation_history_enabled=True, audit="b.log")
    assert (changed.order, changed.conversation_history_enabled, changed.audit) == (8, True, "b.log")
    assert (original.order, original.conversation_history_enabled, original.audit) == (7, False, "a.log")
    twin.advisor_order = 9
    assert original.advisor_order == 7


def test_a_plain_subclass_is_copied_too() -> None:
    """`copy` needs no override where a subclass has its own `__init__` (TCA-08, TCA-09)."""
    twin = Plain("x").copy(conversation_history_enabled=False)
    assert (type(twin), twin.label, twin.conversation_history_enabled) == (Plain, "x", False)
    assert (twin.order, twin.name) == (42, "Plain")


def test_advisors_are_compared_by_identity() -> None:
    """Two advisors with equal fields are two advisors, and both may stand in a set (TCA-09)."""
    advisor = ToolCallingAdvisor()
    assert len({advisor, advisor.copy()}) == 2


def test_a_copy_refuses_unknown_fields() -> None:
    """A misspelt field of a copy is an error that names it (TCA-09)."""
    with pytest.raises(TypeError, match="ToolCallingAdvisor has no field 'advisor_ordr'"):
        ToolCallingAdvisor().copy(advisor_ordr=1)


# arguments


def test_wrong_arguments_are_refused() -> None:
    """A missing request or chain is refused, of a stream at the call itself (TCA-10, TCA-11, TCA-12, TCA-13)."""
    advisor, nothing = ToolCallingAdvisor(), None
    chain = DefaultAroundAdvisorChain([advisor])
    with pytest.raises(TypeError, match="request is None; a ChatClientRequest is wanted"):
        asyncio.run(advisor.advise_call(nothing, chain))  # type: ignore[arg-type]  # it is what the test is about
    with pytest.raises(TypeError, match="chain is None; a CallAdvisorChain is wanted"):
        asyncio.run(advisor.advise_call(a_request(), nothing))  # type: ignore[arg-type]  # the same
    with pytest.raises(TypeError, match="chain is None; a StreamAdvisorChain is wanted"):
        advisor.advise_stream(a_request(), nothing)  # type: ignore[arg-type]  # the same
    with pytest.raises(TypeError, match="request is None; a ChatClientRequest is wanted"):
        advisor.advise_stream(nothing, chain)  # type: ignore[arg-type]  # the same


@pytest.mark.parametrize("options", [None, ChatOptions(temperature=0.5)])
def test_a_request_without_tool_options_passes_through_a_call(options: ChatOptions | None) -> None:
    """The very request goes on once, its response comes back, and the chain is not copied (TCA-14, TCA-15)."""
    advisor, ending, request = ToolCallingAdvisor(), Ending(), a_request(options)
    chain = NumberedChain(advisor, ending)
    response = asyncio.run(chain.next_call(request))
    [sent] = ending.requests
    assert sent is request
    assert response is ending.responses[0]
    assert chain.copies == 0


@pytest.mark.parametrize("options", [None, ChatOptions(temperature=0.5)])
def test_a_request_without_tool_options_passes_through_a_stream(options: ChatOptions | None) -> None:
    """What `chain.next_stream` gives for the very request is what `advise_stream` gives (TCA-16)."""
    advisor, ending, request = ToolCallingAdvisor(), Ending(), a_request(options)
    chain = NumberedChain(ending)
    stream = advisor.advise_stream(request, chain)
    assert [stream] == chain.streams

    async def drained() -> list[ChatClientResponse]:
        return [chunk async for chunk in stream]

    assert asyncio.run(drained()) == ending.responses
    assert ending.requests[0] is request
    assert chain.copies == 0


def test_a_request_with_tool_options_goes_through_the_loop() -> None:
    """Tool-calling options, even empty ones, start the loop, which hands on a chain of its own (TCA-14, TCA-21)."""
    advisor, ending = ToolCallingAdvisor(), Ending()
    chain = NumberedChain(advisor, ending)
    assert asyncio.run(chain.next_call(a_request(ToolCallingChatOptions()))).text == "done"
    assert chain.copies == 1
