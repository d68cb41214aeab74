"""From the state of a request to what runs: the prompt, the tools, and the chain of advisors."""

from dataclasses import dataclass, field, replace
from typing import Any

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
from vernal.values.messages import Message
from vernal.values.options import ToolCallingChatOptions, as_tool_calling, merge_options
from vernal.values.prompt import Prompt

TOOL_CALLING_ADVISOR_AUTO_REGISTER = "tool_calling_advisor_auto_register"
"""The advisor parameter that, when it is False, leaves the tool advisor out (TCR-17)."""


@dataclass(slots=True, eq=False)
class Engine:
    """What a chat client runs on: the model, and what its builder has collected apart from the defaults of requests."""

    chat_model: ChatModel
    tool_advisor: Advisor = field(default_factory=ToolCallingAdvisor)
    observation_registry: ObservationRegistry = NOOP_REGISTRY
    home: Home = ANYWHERE
    tool_customizers: tuple[ToolCustomizer, ...] = ()
    _model_advisor: ChatModelAdvisor = field(init=False)
    _latest: tuple[tuple[Advisor, ...], bool, Lineup] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._model_advisor = ChatModelAdvisor(self.chat_model)

    def lineup(self, state: RequestState) -> Lineup:
        """The advisors of a request in order; prepared once for requests with the same advisors."""
        advisors = tuple(state.advisors)
        register = state.parameters.get(TOOL_CALLING_ADVISOR_AUTO_REGISTER) is not False
        latest = self._latest
        if latest is not None and latest[1] is register and _same(latest[0], advisors):
            return latest[2]
        lineup = Lineup(self._with_tool_advisor(advisors, register), last=self._model_advisor)
        self._latest = (advisors, register, lineup)
        return lineup

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
        options = as_tool_calling(merge_options(engine.chat_model.default_options, state.options))
        if state.tool_context:
            options = options.copy(tool_context={**(options.tool_context or {}), **state.tool_context})
        tools, offered = tuple(state.tools), options.tool_callbacks or ()
        if not state.providers:
            tools = _offered(engine, tools or tuple(offered))
            if tools is not offered:
                options = options.copy(tool_callbacks=tools)
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

            tools = _offered(self.engine, (*self.tools, *await ask_providers(self.providers)))
            options = options.copy(tool_callbacks=tools)
        return ChatClientRequest(Prompt(self.messages, options), {**self.parameters, **context})

    def chain(self) -> DefaultAroundAdvisorChain:
        """A fresh chain of the request's advisors."""
        return DefaultAroundAdvisorChain(self.lineup, observation_registry=self.engine.observation_registry)


def _offered(engine: Engine, callbacks: tuple[ToolCallback, ...]) -> tuple[ToolCallback, ...]:
    """The tools after all customizers; two of one name are refused, naming both origins (R29)."""
    if callbacks and engine.tool_customizers:
        callbacks = customized(callbacks, engine.tool_customizers)
    if len({callback.definition.name for callback in callbacks}) != len(callbacks):
        from vernal.tools.collection import refuse_duplicates

        refuse_duplicates(callbacks)
    return callbacks


def _same(left: tuple[Advisor, ...], right: tuple[Advisor, ...]) -> bool:
    return len(left) == len(right) and all(a is b for a, b in zip(left, right, strict=True))
