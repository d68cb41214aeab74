"""The builder of chat clients."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from vernal.advisors.api import Advisor, ToolAdvisor
from vernal.client.assembly import Engine
from vernal.client.client import ChatClient
from vernal.client.state import RequestState
from vernal.client.templates import TemplateRenderer
from vernal.models.chat import ChatModel
from vernal.observation import ObservationRegistry
from vernal.runtime.home import Home
from vernal.tools.customization import ToolCustomizer
from vernal.values.messages import Media, Message
from vernal.values.options import ChatOptions

if TYPE_CHECKING:
    from vernal.models.observation import ChatModelObservationConvention


class ChatClientBuilder:
    """Collects the defaults of a chat client. Each method changes the builder and gives it back.

    A client takes a snapshot when it is built: later changes of the builder do not reach it (CCB-06).
    """

    def __init__(self, chat_model: ChatModel) -> None:
        if not isinstance(chat_model, ChatModel):
            raise TypeError(f"chat_model is {chat_model!r}; a ChatModel is wanted")
        self._engine = Engine(chat_model)
        self._state = RequestState()

    def default_system(
        self, text: str | None = None, /, *, metadata: Mapping[str, Any] | None = None, **params: Any
    ) -> Self:
        """The system text of every request, with `{name}` filled from `params`; the last one wins."""
        self._state.system.update(text, params, metadata=metadata)
        return self

    def default_user(
        self,
        text: str | None = None,
        /,
        *,
        media: Iterable[Media] = (),
        metadata: Mapping[str, Any] | None = None,
        **params: Any,
    ) -> Self:
        """The user's text of requests that give none; the last one wins."""
        self._state.user.update(text, params, tuple(media), metadata)
        return self

    def default_messages(self, *messages: Message) -> Self:
        """Messages that every request begins with."""
        self._state.messages += messages
        return self

    def default_options(self, options: ChatOptions, /) -> Self:
        """Options of every request, over those of the model, field by field."""
        self._state.add_options(options)
        return self

    def default_tools(self, *tools: object) -> Self:
        """Tools of every request; those of a request are added to them."""
        self._state.add_tools(tools)
        return self

    def default_tool_context(self, entries: Mapping[str, Any] | None = None, /, **more: Any) -> Self:
        """Data for the tools of every request; entries of a request win."""
        self._state.add_tool_context(entries, more)
        return self

    def default_advisors(self, *advisors: Advisor, **params: Any) -> Self:
        """Advisors and advisor parameters of every request."""
        self._state.add_advisors(advisors, params)
        return self

    def default_template_renderer(self, renderer: TemplateRenderer) -> Self:
        """How the texts of every request are filled with their parameters."""
        self._state.renderer = renderer
        return self

    def tool_advisor(self, prototype: ToolAdvisor) -> Self:
        """The tool advisor to register where a request brings none.

        Of a `ToolCallingAdvisor` a copy is used, with the history disabled where a memory advisor stands inside its
        loop (TCR-16); any other is used as it is.
        """
        if not isinstance(prototype, ToolAdvisor):
            raise TypeError(f"tool_advisor is {prototype!r}; a ToolAdvisor is wanted")
        self._engine = replace(self._engine, tool_advisor=prototype)
        return self

    def observation_registry(
        self, registry: ObservationRegistry, convention: "ChatModelObservationConvention | None" = None
    ) -> Self:
        """Who hears of advisors and of requests to the model, and by which convention the latter are told."""
        if not isinstance(registry, ObservationRegistry):
            raise TypeError(f"observation_registry is {registry!r}; an ObservationRegistry is wanted")
        self._engine = replace(self._engine, observation_registry=registry, observation_convention=convention)
        return self

    def tool_customizers(self, *customizers: ToolCustomizer) -> Self:
        """Change the tools of every request before they are offered: further customizers, run in this order."""
        for customizer in customizers:
            if not isinstance(customizer, ToolCustomizer):
                raise TypeError(f"among the tool customizers is {customizer!r}; ToolCustomizer objects are wanted")
        self._engine = replace(self._engine, tool_customizers=(*self._engine.tool_customizers, *customizers))
        return self

    def event_loop(self, loop: Callable[[], asyncio.AbstractEventLoop | None]) -> Self:
        """The event loop that every turn runs on, whoever asks: what `loop` gives when a turn begins.

        It is for clients that use what was made on one loop; with None a turn runs where it is asked for.
        """
        if not callable(loop):
            raise TypeError(f"event_loop is {loop!r}; a function that gives an event loop or None is wanted")
        self._engine = replace(self._engine, home=Home(loop))
        return self

    def apply(self, customizer: "ChatClientCustomizer") -> Self:
        """Let `customizer` change this builder."""
        customizer(self)
        return self

    def clone(self) -> "ChatClientBuilder":
        """An independent builder with the same defaults (CCB-01)."""
        return ChatClientBuilder(self._engine.chat_model)._take(self._engine, self._state)

    def build(self) -> ChatClient:
        """A client with the present defaults."""
        return ChatClient(self._engine.chat_model, _engine=self._engine, _defaults=self._state.copy())

    def _take(self, engine: Engine, state: RequestState) -> Self:
        self._engine, self._state = engine, state.copy()
        return self


ChatClientCustomizer = Callable[[ChatClientBuilder], object]
"""Changes each builder that the application hands out."""
