"""The chain: the advisors of a request in their order, each asked in turn."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractContextManager

from vernal.advisors.api import (
    Advisor,
    CallAdvisor,
    CallAdvisorChain,
    StreamAdvisor,
    StreamAdvisorChain,
    given,
    refuse_other,
)
from vernal.errors import UsageError
from vernal.models.aggregator import MessageAggregator
from vernal.observation import NOOP_REGISTRY, Observation, ObservationRegistry, current_observation, observed, scope
from vernal.runtime.streams import AsyncStream, aclose
from vernal.values.exchange import ChatClientRequest, ChatClientResponse
from vernal.values.prompt import Prompt
from vernal.values.turn import Turn

ADVISOR_OBSERVATION = "vernal.advisor"


class Lineup:
    """Advisors in their order, prepared once and shared by the chains that run through them.

    Sorted by `order`; equal orders keep the order of registration (CHN-10). One that is registered twice, such as by a
    client and again by a request, takes part once. `last` stands behind all, whatever its order (CHN-11).
    """

    __slots__ = ("_after", "calls", "everyone", "streams")

    def __init__(self, advisors: Iterable[Advisor], last: Advisor | None = None) -> None:
        once = {id(advisor): advisor for advisor in advisors}
        ordered = sorted(once.values(), key=lambda advisor: advisor.order)
        self._set((*ordered, last) if last is not None else tuple(ordered))

    def _set(self, everyone: tuple[Advisor, ...]) -> None:
        self.everyone = everyone
        self.calls = tuple(advisor for advisor in everyone if isinstance(advisor, CallAdvisor))
        self.streams = tuple(advisor for advisor in everyone if isinstance(advisor, StreamAdvisor))
        self._after: dict[int, Lineup] = {}

    def after(self, advisor: Advisor) -> "Lineup":
        """The advisors behind `advisor`."""
        lineup = self._after.get(id(advisor))
        if lineup is None:
            lineup = Lineup(())
            lineup._set(self.everyone[self._index(advisor) + 1 :])
            self._after[id(advisor)] = lineup
        return lineup

    def _index(self, advisor: Advisor) -> int:
        for index, other in enumerate(self.everyone):
            if other is advisor:
                return index
        names = ", ".join(f"{other.name} ({other.order})" for other in self.everyone) or "none"
        raise UsageError(f"The specified advisor is not part of the chain: {advisor.name}; the chain has: {names}")


class DefaultAroundAdvisorChain(CallAdvisorChain, StreamAdvisorChain):
    """A chain over advisors given in any order.

    An advisor that implements one kind only is silently absent from the other (CHN-12). Each step is observed where
    the registry listens (CHN-13).
    """

    def __init__(
        self,
        advisors: Iterable[Advisor] | Lineup,
        *,
        observation_registry: ObservationRegistry = NOOP_REGISTRY,
        parent: Observation | None = None,
    ) -> None:
        refuse_other("observation_registry", observation_registry, ObservationRegistry)
        if not isinstance(advisors, Lineup):
            advisors = tuple(advisors)
            for advisor in advisors:
                refuse_other("an advisor of the chain", advisor, Advisor)
            advisors = Lineup(advisors)
        self._lineup = advisors
        self.observation_registry = observation_registry
        self._parent = parent
        self._calls_taken = self._streams_taken = 0
        self._turn: Turn | None = None
        self._opened: list[AsyncIterator[ChatClientResponse] | DefaultAroundAdvisorChain] = []
        self._owner: DefaultAroundAdvisorChain | None = None
        self._observations: dict[int, Observation] = {}

    @property
    def call_advisors(self) -> Sequence[CallAdvisor]:
        """All call advisors of this chain, whether they have run or not (CHN-02)."""
        return self._lineup.calls

    @property
    def stream_advisors(self) -> Sequence[StreamAdvisor]:
        """All stream advisors of this chain, whether they have run or not (CHN-02)."""
        return self._lineup.streams

    def copy(self, after: Advisor) -> "DefaultAroundAdvisorChain":
        """A fresh chain of the advisors after `after`, with the same registry (CHN-05, CHN-06).

        Raises:
            UsageError: `after` is not part of this chain (CHN-04).
        """
        refuse_other("The after advisor", after, Advisor)
        parent = self._observations.get(id(after), self._parent)
        chain = DefaultAroundAdvisorChain(
            self._lineup.after(after), observation_registry=self.observation_registry, parent=parent
        )
        chain._owner, chain._turn = self, self._turn
        return chain

    async def next_call(self, request: ChatClientRequest) -> ChatClientResponse:
        """Let the next advisor answer `request`.

        Raises:
            UsageError: no advisor is left (CHN-08).
        """
        refuse_other("request", request, ChatClientRequest)
        advisors, index = self._lineup.calls, self._calls_taken
        if index == len(advisors):
            raise UsageError("No CallAdvisors available to execute; an advisor that asks twice uses chain.copy(self)")
        self._calls_taken = index + 1
        request = self._in_turn(request)
        advisor = advisors[index]
        if self.observation_registry.is_noop:
            response = await advisor.advise_call(request, self)
            return given(advisor, "advise_call", response, ChatClientResponse)
        with observed(self.observation_registry, lambda: self._observation(advisor, request)) as observation:
            response = given(advisor, "advise_call", await advisor.advise_call(request, self), ChatClientResponse)
            if observation is not None:
                observation.result = response
            return response

    def next_stream(self, request: ChatClientRequest) -> AsyncIterator[ChatClientResponse]:
        """Let the next advisor answer `request` in chunks; nothing runs, nor is taken, before it is iterated (CHN-09).

        Raises:
            UsageError: from iterating, where no advisor is left (CHN-08).
        """
        refuse_other("request", request, ChatClientRequest)
        return AsyncStream(lambda: self._open(request))

    def _open(self, request: ChatClientRequest) -> AsyncIterator[ChatClientResponse]:
        advisors, index = self._lineup.streams, self._streams_taken
        if index == len(advisors):
            raise UsageError("No StreamAdvisors available to execute; an advisor that asks twice uses chain.copy(self)")
        self._streams_taken = index + 1
        request = self._in_turn(request)
        advisor = advisors[index]
        if self.observation_registry.is_noop:
            chunks = advisor.advise_stream(request, self)
        else:
            chunks = self._observed_stream(advisor, request)
        if not self._opened and self._owner is not None:
            self._owner._opened.append(self)
        self._opened.append(chunks)
        return chunks

    def _in_turn(self, request: ChatClientRequest) -> ChatClientRequest:
        """The request as one of the turn that runs through this chain, also where an advisor made a new `Prompt`, which
        knows of none (R23)."""
        prompt = request.prompt
        if prompt.turn is None and self._turn is not None:
            return request.with_prompt(Prompt(prompt.messages, prompt.options, self._turn))
        self._turn = prompt.turn
        return request

    async def aclose(self) -> None:
        """Close every iterator that this chain and its copies have opened, outermost first, even if one raises."""
        if self._owner is not None and self in self._owner._opened:
            self._owner._opened.remove(self)
        if self._opened:
            try:
                await aclose(self._opened.pop(0))
            finally:
                await self.aclose()

    def scope(self, advisor: Advisor) -> AbstractContextManager[None]:
        """Makes the observation of `advisor` current, for work that it does between chunks (TSH-05)."""
        return scope(self._observations.get(id(advisor)) or self._parent or current_observation())

    def _observation(self, advisor: Advisor, request: ChatClientRequest) -> Observation:
        observation = Observation(
            ADVISOR_OBSERVATION,
            advisor.name,
            low_cardinality_keys={"vernal.advisor.name": advisor.name},
            high_cardinality_keys={"vernal.advisor.order": str(advisor.order)},
            parent=self._parent if self._parent is not None else current_observation(),
            subject=request,
        )
        self._observations[id(advisor)] = self._parent = observation
        return observation

    def _observed_stream(self, advisor: StreamAdvisor, request: ChatClientRequest) -> AsyncIterator[ChatClientResponse]:
        from vernal.models.observation import observed_stream  # only where somebody listens

        observation = self._observation(advisor, request)

        def finished(aggregator: MessageAggregator) -> None:
            observation.result = ChatClientResponse(aggregator.collected(), aggregator.context)

        chunks = advisor.advise_stream(request, self)
        return observed_stream(self.observation_registry, observation, chunks, finished)
