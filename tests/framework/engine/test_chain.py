"""The advisor chain."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import (
    LOWEST_PRECEDENCE,
    CallAdvisor,
    CallAdvisorChain,
    ChatClient,
    ChatClientRequest,
    ChatClientResponse,
    ChatResponse,
    DefaultAroundAdvisorChain,
    Observation,
    ObservationRegistry,
    Prompt,
    StreamAdvisor,
    StreamAdvisorChain,
    UsageError,
)
from vernal.testing import ScriptedChatModel, chunks

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Form

REQUEST = ChatClientRequest(Prompt("Hello"))


class Named(CallAdvisor, StreamAdvisor):
    """Notes its name on the way in, and passes on; the last one answers."""

    def __init__(self, name: str, order: int = 0, log: list[str] | None = None, *, answers: bool = False) -> None:
        self._name, self._order, self._answers = name, order, answers
        self.log = log if log is not None else []

    @property
    def name(self) -> str:
        return self._name

    @property
    def order(self) -> int:
        return self._order

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        self.log.append(self._name)
        if self._answers:
            return ChatClientResponse(ChatResponse.of(self._name))
        return await chain.next_call(request)

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        self.log.append(self._name)
        if self._answers:
            yield ChatClientResponse(ChatResponse.of(self._name))
            return
        async for chunk in chain.next_stream(request):
            yield chunk


async def drained(stream: AsyncIterator[ChatClientResponse]) -> list[str | None]:
    """The texts of a stream."""
    return [chunk.text async for chunk in stream]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: DefaultAroundAdvisorChain([], observation_registry=None), "observation_registry is None"),  # type: ignore[arg-type]  # what is tried
        (lambda: DefaultAroundAdvisorChain([None]), "an advisor of the chain is None; an Advisor is wanted"),  # type: ignore[list-item]  # what is tried
        (lambda: DefaultAroundAdvisorChain(["x"]), "an advisor of the chain is 'x'; an Advisor is wanted"),  # type: ignore[list-item]  # what is tried
        (lambda: DefaultAroundAdvisorChain([]).copy(None), "The after advisor is None; an Advisor is wanted"),  # type: ignore[arg-type]  # what is tried
        (lambda: DefaultAroundAdvisorChain([]).next_stream(None), "request is None"),  # type: ignore[arg-type]  # what is tried
        (lambda: asyncio.run(DefaultAroundAdvisorChain([]).next_call(None)), "request is None"),  # type: ignore[arg-type]  # what is tried
    ],
)
def test_wrong_arguments_are_refused(make: Any, text: str) -> None:
    """A missing registry, advisor or request is refused with what was wanted (CHN-01, CHN-03)."""
    with pytest.raises(TypeError, match=text):
        make()


def test_the_registry_can_be_read() -> None:
    """The registry is the one that was given; by default nobody listens (CHN-01)."""
    registry = ObservationRegistry()
    assert DefaultAroundAdvisorChain([], observation_registry=registry).observation_registry is registry
    assert DefaultAroundAdvisorChain([]).observation_registry.is_noop


def test_the_listing_is_the_same_before_and_after() -> None:
    """All advisors are listed, whether they have run or not (CHN-02)."""
    advisors = [Named("one", 1), Named("two", 2), Named("three", 3, answers=True)]
    chain = DefaultAroundAdvisorChain(advisors)
    assert [list(chain.call_advisors), list(chain.stream_advisors)] == [advisors, advisors]
    asyncio.run(chain.next_call(REQUEST))
    assert asyncio.run(drained(chain.next_stream(REQUEST))) == ["three"]
    assert [list(chain.call_advisors), list(chain.stream_advisors)] == [advisors, advisors]


def test_a_copy_after_a_stranger_is_refused() -> None:
    """The error names the advisor, and those of the chain with their orders (CHN-04)."""
    chain = DefaultAroundAdvisorChain([Named("one", 1), Named("two", 2)])
    with pytest.raises(UsageError, match=r"advisor is not part of the chain: other; the chain has: one \(1\), two"):
        chain.copy(Named("other"))
    with pytest.raises(UsageError, match="other; the chain has: none"):
        DefaultAroundAdvisorChain([]).copy(Named("other"))


def test_a_copy_has_the_advisors_behind() -> None:
    """`copy` gives the advisors after the given one, and leaves the chain as it is (CHN-05)."""
    advisors = [Named(name, n) for n, name in enumerate("abcd")]
    chain = DefaultAroundAdvisorChain(advisors)
    for index, advisor in enumerate(advisors):
        copy = chain.copy(advisor)
        assert [*copy.call_advisors, *copy.stream_advisors] == advisors[index + 1 :] * 2
        for later in advisors[index + 1 :]:
            assert list(copy.copy(later).call_advisors) == list(chain.copy(later).call_advisors)
    assert list(chain.call_advisors) == advisors


def test_a_copy_keeps_the_registry() -> None:
    """Copies observe as the chain does (CHN-06)."""
    registry, advisor = ObservationRegistry(), Named("one")
    chain = DefaultAroundAdvisorChain([advisor], observation_registry=registry)
    assert chain.copy(advisor).observation_registry is registry


def test_a_longer_chain_is_a_new_one() -> None:
    """A chain made of another's advisors and more leaves the other alone; a chain takes a snapshot (CHN-07)."""
    advisors = [Named("one"), Named("two")]
    chain = DefaultAroundAdvisorChain(advisors)
    longer = DefaultAroundAdvisorChain([*chain.call_advisors, Named("three")])
    advisors.append(Named("late"))
    assert [advisor.name for advisor in longer.call_advisors] == ["one", "two", "three"]
    assert [advisor.name for advisor in chain.call_advisors] == ["one", "two"]


def test_a_chain_is_used_once() -> None:
    """Each step takes an advisor; when none is left, a call and the iteration of a stream raise (CHN-08)."""
    chain = DefaultAroundAdvisorChain([Named("end", answers=True)])
    assert asyncio.run(chain.next_call(REQUEST)).text == "end"
    with pytest.raises(UsageError, match=r"No CallAdvisors available to execute.*chain\.copy\(self\)"):
        asyncio.run(chain.next_call(REQUEST))
    assert asyncio.run(drained(chain.next_stream(REQUEST))) == ["end"]
    exhausted = chain.next_stream(REQUEST)
    with pytest.raises(UsageError, match=r"No StreamAdvisors available to execute.*chain\.copy\(self\)"):
        asyncio.run(drained(exhausted))


class Twice(Named):
    """Asks downstream twice, by way of copies."""

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        await chain.copy(self).next_call(request)
        return await chain.copy(self).next_call(request)

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        for _ in range(2):
            async for chunk in chain.copy(self).next_stream(request):
                yield chunk


def test_copies_ask_more_than_once(form: "Form") -> None:
    """An advisor that uses a copy each time reaches the model each time (CHN-08)."""
    model, inner = ScriptedChatModel(["one", "two"]), Named("inner", 1)
    outcome = form.ask(ChatClient(model).prompt("Hello").advisors(Twice("twice"), inner))
    assert len(model.requests) == len(inner.log) == 2
    assert outcome.chunks[-1].text == "two"


def test_a_stream_takes_its_advisor_when_it_is_iterated() -> None:
    """A stream that was asked for and never read takes nothing from the chain, nor does closing it (CHN-09)."""
    first, last = Named("first", 1), Named("last", 2, answers=True)
    chain = DefaultAroundAdvisorChain([first, last])
    unread, read = chain.next_stream(REQUEST), chain.next_stream(REQUEST)

    async def main() -> list[str | None]:
        await unread.aclose()  # type: ignore[attr-defined]  # streams of the house can be closed
        assert await drained(unread) == []
        return await drained(read)

    assert asyncio.run(main()) == ["last"]
    assert (first.log, last.log) == (["first"], ["last"])


ORDERS = st.lists(st.integers(-3, 3), min_size=1, max_size=8)


@given(orders=ORDERS)
def test_advisors_are_sorted_and_equal_ones_keep_their_order(orders: list[int]) -> None:
    """Lower orders come first; of equal ones the one that was registered first (CHN-10, R27)."""
    advisors = [Named(str(n), order) for n, order in enumerate(orders)]
    expected = [advisor for _, _, advisor in sorted((a.order, n, a) for n, a in enumerate(advisors))]
    assert list(DefaultAroundAdvisorChain(advisors).call_advisors) == expected


def test_the_model_is_always_last(form: "Form") -> None:
    """An advisor at the lowest precedence runs all the same: the model stands behind it (CHN-11)."""
    log: list[str] = []
    advisors = [Named("lowest", LOWEST_PRECEDENCE, log), Named("second", LOWEST_PRECEDENCE, log), Named("a", 0, log)]
    assert form.ask(ChatClient(ScriptedChatModel(["Hi."])).prompt("Hello").advisors(*advisors)).text == "Hi."
    assert log == ["a", "lowest", "second"]


class CallOnly(CallAdvisor):
    """Takes part in calls."""

    def __init__(self) -> None:
        self.count = 0

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        self.count += 1
        return await chain.next_call(request)


class StreamOnly(StreamAdvisor):
    """Takes part in streams."""

    def __init__(self) -> None:
        self.count = 0

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        self.count += 1
        async for chunk in chain.next_stream(request):
            yield chunk


def test_an_advisor_of_one_kind_is_absent_from_the_other(form: "Form") -> None:
    """Call and stream advisors are two lists of one chain (CHN-12)."""
    call, stream = CallOnly(), StreamOnly()
    form.ask(ChatClient(ScriptedChatModel(["Hi."])).prompt("Hello").advisors(call, stream))
    assert (call.count, stream.count) == ((0, 1) if form.is_stream else (1, 0))
    chain = DefaultAroundAdvisorChain([call, stream])
    assert list(chain.call_advisors) == [call]
    assert list(chain.stream_advisors) == [stream]


# observation


@dataclass
class Listening(ObservationRegistry):
    """Keeps which advisors start and stop."""

    started: list[Observation] = field(default_factory=list)
    stopped: list[Observation] = field(default_factory=list)

    def on_start(self, observation: Observation) -> None:
        if observation.name == "vernal.advisor":
            self.started.append(observation)

    def on_stop(self, observation: Observation) -> None:
        if observation.name == "vernal.advisor":
            self.stopped.append(observation)


def observed_client(registry: ObservationRegistry, *script: Any) -> Any:
    """A client whose chain is observed."""
    return ChatClient.builder(ScriptedChatModel(script)).observation_registry(registry).build()


def test_each_advisor_is_observed(form: "Form") -> None:
    """Name, order, request and response are known; of a stream the response is the aggregate (CHN-13)."""
    registry, advisor = Listening(), Named("mine", 7)
    form.ask(observed_client(registry, chunks("Hi ", "there.")).prompt("Hello").advisors(advisor))
    assert [o.contextual_name for o in registry.started] == ["Tool Calling Advisor", "mine", "ChatModelAdvisor"]
    assert [o.contextual_name for o in registry.stopped] == ["ChatModelAdvisor", "mine", "Tool Calling Advisor"]
    mine = registry.started[1]
    assert mine.name == "vernal.advisor"
    assert mine.low_cardinality_keys == {"vernal.advisor.name": "mine"}
    assert mine.high_cardinality_keys == {"vernal.advisor.order": "7"}
    assert isinstance(mine.subject, ChatClientRequest)
    assert mine.subject.prompt.messages[0].text == "Hello"
    assert {o.result.text for o in registry.stopped} == {"Hi there."}
    assert [o.error for o in registry.stopped] == [None] * 3
    assert [o.parent for o in registry.started] == [None, registry.started[0], mine]


def test_an_error_stops_each_observation_once(form: "Form") -> None:
    """What fails downstream is recorded on every advisor that it passes (CHN-13)."""
    registry, error = Listening(), ConnectionResetError("gone")
    with pytest.raises(ConnectionResetError):
        form.ask(observed_client(registry, chunks("Hi ", error)).prompt("Hello").advisors(Named("mine", 7)))
    assert [o.error for o in registry.stopped] == [error] * 3
    assert len({id(o) for o in registry.stopped}) == len(registry.started) == 3


def test_cancelling_stops_each_observation_once() -> None:
    """A turn that is cancelled, or a stream that is left early, leaves no observation running (CHN-13)."""
    registry = Listening()

    class Waiting(Named):
        async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
            reached.set()
            return await asyncio.Future()

    async def cancelled() -> None:
        spec = observed_client(registry, "never").prompt("Hello").advisors(Waiting("waiting", 7))
        task = asyncio.create_task(spec.acall().content())
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def left() -> None:
        spec = observed_client(registry, chunks("Hi ", "there.")).prompt("Hello").advisors(Named("mine", 7))
        async with spec.astream().content() as texts:
            async for _ in texts:
                break

    reached = asyncio.Event()
    asyncio.run(cancelled())
    assert [type(o.error) for o in registry.stopped] == [asyncio.CancelledError] * 2
    asyncio.run(left())
    assert len({id(o) for o in registry.stopped}) == len(registry.stopped) == len(registry.started) == 5
    assert [o.error for o in registry.stopped[2:]] == [None] * 3
