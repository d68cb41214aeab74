"""The fluent request."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from vernal.advisors.api import Advisor
from vernal.client.assembly import Engine, PreparedRequest
from vernal.client.state import RequestState
from vernal.client.templates import TemplateRenderer
from vernal.client.turns import AsyncCallTurn, AsyncStreamTurn, CallTurn, StreamTurn
from vernal.errors import UsageError
from vernal.tools.interception import RESUMPTION, Allow, Answer, Deny, Resumption, SuspendedTurn
from vernal.values.messages import Media, Message
from vernal.values.options import ChatOptions

if TYPE_CHECKING:
    from vernal.client.builder import ChatClientBuilder


class ChatClientRequestSpec:
    """A request in the making. Each method changes it and gives it back; it may be called more than once (CCL-14)."""

    def __init__(self, engine: Engine, state: RequestState, *, spoken: bool = False) -> None:
        self._engine, self._state, self._spoken = engine, state, spoken

    def __repr__(self) -> str:
        return f"<{type(self).__name__}; .call(), .acall(), .stream() or .astream() makes a turn of it>"

    def system(self, text: str | None = None, /, *, metadata: Mapping[str, Any] | None = None, **params: Any) -> Self:
        """The system text, with `{name}` filled from `params`; without a text the parameters of the present one."""
        self._state.system.update(text, params, metadata=metadata)
        return self

    def user(
        self,
        text: str | None = None,
        /,
        *,
        media: Iterable[Media] = (),
        metadata: Mapping[str, Any] | None = None,
        **params: Any,
    ) -> Self:
        """The user's text, with `{name}` filled from `params`, and media beside it."""
        self._state.user.update(text, params, tuple(media), metadata)
        self._spoken = True
        return self

    def messages(self, *messages: Message | Iterable[Message]) -> Self:
        """Further messages, between the system text and the user's text."""
        for item in messages:
            given: tuple[Any, ...] = (item,)
            if isinstance(item, Iterable) and not isinstance(item, str | Mapping):
                given = tuple(item)
            for message in given:
                if not isinstance(message, Message):
                    raise TypeError(
                        f"among the messages is {message!r}; Message objects are wanted, such as UserMessage(text)"
                    )
            self._state.messages += given
            self._spoken = True
        return self

    def options(self, options: ChatOptions, /) -> Self:
        """Options for this request, over those of the client and the model, field by field (R26)."""
        self._state.add_options(options)
        return self

    def tools(self, *tools: object) -> Self:
        """Tools beside those of the client: objects with `@tool` methods, functions, callbacks, providers, lists."""
        self._state.add_tools(tools)
        return self

    def tool_context(self, entries: Mapping[str, Any] | None = None, /, **more: Any) -> Self:
        """Data for tools that the model never sees, over what is set already."""
        self._state.add_tool_context(entries, more)
        return self

    def advisors(self, *advisors: Advisor, **params: Any) -> Self:
        """Advisors beside those of the client, and parameters for advisors, such as `conversation_id="user-42"`."""
        self._state.add_advisors(advisors, params)
        return self

    def template_renderer(self, renderer: TemplateRenderer) -> Self:
        """How texts are filled with their parameters."""
        if not callable(renderer):
            raise TypeError(f"template_renderer is {renderer!r}; a callable (text, parameters) -> text is wanted")
        self._state.renderer = renderer
        return self

    def resume(self, state: SuspendedTurn, decisions: Mapping[str, Allow | Deny | Answer]) -> Self:
        """Go on with a suspended turn, with the same tools and options: a decision for each of `state.pending`, by id.

        What had run before does not run again; the conversation is that of the suspended turn.

        Raises:
            ValueError: a pending call has no decision, or a decision is about no pending call.
            UsageError: from asking, where the request has words of its own, which nobody would read.
        """
        self._state.suspended = state
        self._state.parameters[RESUMPTION] = Resumption(state, decisions)
        return self

    def mutate(self) -> "ChatClientBuilder":
        """A builder of a client whose defaults are this request (CCL-11), without a suspended turn that it resumes."""
        from vernal.client.builder import ChatClientBuilder

        state = self._state.copy()
        state.suspended = None
        state.parameters.pop(RESUMPTION, None)
        return ChatClientBuilder(self._engine.chat_model)._take(self._engine, state)

    def call(self) -> CallTurn:
        """The blocking turn: `.call().content()`.

        Raises:
            ConfigurationError, ValueError: the request cannot run as it stands.
        """
        return CallTurn(self._prepared())

    def acall(self) -> AsyncCallTurn:
        """The asynchronous turn: `await ….acall().content()`."""
        return AsyncCallTurn(self._prepared())

    def stream(self) -> StreamTurn:
        """The blocking streamed turn: `for text in ….stream().content()`."""
        return StreamTurn(self._prepared())

    def astream(self) -> AsyncStreamTurn:
        """The asynchronous streamed turn: `async for text in ….astream().content()`."""
        return AsyncStreamTurn(self._prepared())

    def _prepared(self) -> PreparedRequest:
        if self._spoken and self._state.suspended is not None:
            raise UsageError(
                "a request that resumes a suspended turn has a text or messages of its own, which no model would read; "
                "say it with the decision, such as Deny(text), or in a request of its own once the turn has ended"
            )
        return PreparedRequest.of(self._engine, self._state)
