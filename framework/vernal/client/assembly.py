"""From the state of a request to what runs: the prompt, the tools, and the chain of advisors."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from vernal.advisors.api import Advisor, MemoryAdvisor, ToolAdvisor
from vernal.advisors.chain import DefaultAroundAdvisorChain, Lineup
from vernal.advisors.model import ChatModelAdvisor
from vernal.advisors.tool_calling import ToolCallingAdvisor
from vernal.client.state import RequestState
from vernal.errors import ConfigurationError
from vernal.models.chat import ChatModel
from vernal.observation import NOOP_REGISTRY, ObservationRegistry
from vernal.runtime.home import ANYWHERE, Home
from vernal.tools.callback import ToolCallback, ToolCallbackProvider
from vernal.tools.customization import ToolCustomizer, customized
from vernal.values.exchange import ChatClientRequest
from vernal.values.latest import Latest
from vernal.values.messages import Message
from vernal.values.options import ChatOptions, ToolCallingChatOptions, as_tool_calling, merge_options
from vernal.values.prompt import Prompt

if TYPE_CHECKING:
    from vernal.models.observation import ChatModelObservationConvention

TOOL_CALLING_ADVISOR_AUTO_REGISTER = "tool_calling_advisor_auto_register"
"""The advisor parameter that, when it is False, leaves the tool advisor out (TCR-17)."""


@dataclass(slots=True, eq=False)
class Engine:
    """What a chat client runs on: the model, and what its builder has collected apart from the defaults of requests."""

    chat_model: ChatModel
    tool_advisor: Advisor = field(default_factory=ToolCallingAdvisor)
    observation_registry: ObservationRegistry = NOOP_REGISTRY
    observation_convention: "ChatModelObservationConvention | None" = None
    home: Home = ANYWHERE
    tool_customizers: tuple[ToolCustomizer, ...] = ()
    _model_advisor: ChatModelAdvisor = field(init=False)
    _lineups: Latest[Lineup] = field(init=False, default_factory=Latest)
    _merged: Latest[ToolCallingChatOptions] = field(init=False, default_factory=Latest)
    _offering: Latest[ToolCallingChatOptions] = field(init=False, default_factory=Latest)

    def __post_init__(self) -> None:
        self._model_advisor = ChatModelAdvisor(self._observed_model())

    def lineup(self, state: RequestState) -> Lineup:
        """The advisors of a request in order."""
        advisors = tuple(state.advisors)
        register = state.parameters.get(TOOL_CALLING_ADVISOR_AUTO_REGISTER) is not False
        return self._lineups.of(
            (register, *advisors),
            lambda: Lineup(self._with_tool_advisor(advisors, register), last=self._model_advisor),
        )

    def options(self, given: ChatOptions | None) -> ToolCallingChatOptions:
        """The model's own options with those of a request on top."""
        own = self.chat_model.default_options
        return self._merged.of((own, given), lambda: as_tool_calling(merge_options(own, given)))

    def offering(self, options: ToolCallingChatOptions, tools: tuple[ToolCallback, ...]) -> ToolCallingChatOptions:
        """The options with these tools after all customizers; two of one name are refused by name (R29)."""
        if tools and self.tool_customizers:
            tools = customized(tools, self.tool_customizers)
        return self._offering.of((options, *tools), lambda: _with_tools(options, tools))

    def _observed_model(self) -> ChatModel:
        if self.observation_registry.is_noop:
            return self.chat_model
        from vernal.models.observation import ObservedChatModel

        return ObservedChatModel(self.chat_model, self.observation_registry, self.observation_convention)

    def _with_tool_advisor(self, advisors: tuple[Advisor, ...], register: bool) -> tuple[Advisor, ...]:
        present = [advisor for advisor in advisors if isinstance(advisor, ToolAdvisor)]
        if len(present) > 1:
            names = ", ".join(f"{advisor.name} (order {advisor.order})" for advisor in present)
            raise ConfigurationError(
                f"At most one ToolAdvisor may stand in the chain, but there are {len(present)}: {names}; leave one out"
            )
        if present or not register:
            return advisors
        prototype = self.tool_advisor
        if isinstance(prototype, ToolCallingAdvisor):
            inside = any(isinstance(a, MemoryAdvisor) and a.order > prototype.order for a in advisors)
            enabled = prototype.conversation_history_enabled and not inside
            prototype = prototype.copy(conversation_history_enabled=enabled)
        return (*advisors, prototype)


@dataclass(slots=True, eq=False)
class PreparedRequest:
    """A request that has been checked and can run, once or more."""

    engine: Engine
    messages: tuple[Message, ...]
    options: ToolCallingChatOptions
    tools: tuple[ToolCallback, ...]
    providers: tuple[ToolCallbackProvider, ...]
    parameters: dict[str, Any]
    lineup: Lineup

    @classmethod
    def of(cls, engine: Engine, state: RequestState) -> "PreparedRequest":
        """Check `state` and prepare it; nothing is asked of a provider or the model (R25)."""
        options, tools = engine.options(state.options), tuple(state.tools)
        if not state.providers:
            options = engine.offering(options, tools or tuple(options.tool_callbacks or ()))
        if state.tool_context:
            options = options.copy(tool_context={**(options.tool_context or {}), **state.tool_context})
        messages = state.conversation()
        if not messages:
            raise ValueError(
                "the request has no message; give the user's text with prompt(text) or .user(text), or .messages(…)"
            )
        lineup = engine.lineup(state)
        if state.suspended is not None and not any(isinstance(a, ToolCallingAdvisor) for a in lineup.everyone):
            raise ConfigurationError(
                "a suspended turn is resumed by a ToolCallingAdvisor, and none stands in the chain; leave out "
                "tool_calling_advisor_auto_register=False, or register one"
            )
        return cls(engine, messages, options, tools, tuple(state.providers), dict(state.parameters), lineup)

    def with_advisor(self, advisor: Advisor) -> "PreparedRequest":
        """The same request with one more advisor in its chain."""
        lineup = Lineup((*self.lineup.everyone[:-1], advisor), last=self.lineup.everyone[-1])
        return replace(self, lineup=lineup)

    async def request(self, context: dict[str, Any]) -> ChatClientRequest:
        """The request with the tools of its providers, and a context of its own (CCU-10)."""
        options = self.options
        if self.providers:
            from vernal.tools.collection import ask_providers

            options = self.engine.offering(options, (*self.tools, *await ask_providers(self.providers)))
        return ChatClientRequest(Prompt(self.messages, options), {**self.parameters, **context})

    def chain(self) -> DefaultAroundAdvisorChain:
        """A fresh chain of the request's advisors."""
        return DefaultAroundAdvisorChain(self.lineup, observation_registry=self.engine.observation_registry)


def _with_tools(options: ToolCallingChatOptions, tools: tuple[ToolCallback, ...]) -> ToolCallingChatOptions:
    if len({callback.definition.name for callback in tools}) != len(tools):
        from vernal.tools.collection import refuse_duplicates

        refuse_duplicates(tools)
    return options if tools == (options.tool_callbacks or ()) else options.copy(tool_callbacks=tools)
