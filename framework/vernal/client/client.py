"""The chat client. What it runs on is imported with the first client: declaring an application needs none of it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vernal.advisors.api import Advisor
    from vernal.client.assembly import Engine
    from vernal.client.builder import ChatClientBuilder
    from vernal.client.spec import ChatClientRequestSpec
    from vernal.client.state import RequestState
    from vernal.models.chat import ChatModel
    from vernal.values.prompt import Prompt


class ChatClient:
    """Asks a chat model through a chain of advisors, tools included.

    `ChatClient(model)` has no defaults; `ChatClient.builder(model)` sets some. From an application's context one comes
    ready, with the configured model, tool loop and customizers.
    """

    def __init__(
        self, chat_model: "ChatModel", *, _engine: "Engine | None" = None, _defaults: "RequestState | None" = None
    ) -> None:
        from vernal.client.assembly import Engine
        from vernal.client.state import RequestState
        from vernal.models.chat import ChatModel

        if not isinstance(chat_model, ChatModel):
            raise TypeError(f"chat_model is {chat_model!r}; a ChatModel is wanted")
        self._engine = _engine if _engine is not None else Engine(chat_model)
        self._defaults = _defaults if _defaults is not None else RequestState()

    @staticmethod
    def builder(chat_model: "ChatModel") -> "ChatClientBuilder":
        """A builder of clients for `chat_model`."""
        from vernal.client.builder import ChatClientBuilder

        return ChatClientBuilder(chat_model)

    def prompt(self, prompt: "str | Prompt | None" = None) -> "ChatClientRequestSpec":
        """A request with the user's text, or with the messages and options of a `Prompt`, or still empty.

        Raises:
            ValueError: the text is empty (CCL-01).
        """
        from vernal.client.spec import ChatClientRequestSpec

        state = self._defaults.copy()
        if prompt is not None:
            state.add_prompt(prompt)
        return ChatClientRequestSpec(self._engine, state, spoken=prompt is not None)

    def mutate(self) -> "ChatClientBuilder":
        """A builder with all the defaults of this client; neither sees later changes of the other (CCL-10, CCL-16)."""
        return self.builder(self._engine.chat_model)._take(self._engine, self._defaults)

    @property
    def chat_model(self) -> "ChatModel":
        """The model that this client asks."""
        return self._engine.chat_model

    @property
    def tool_advisor(self) -> "Advisor":
        """The prototype of the tool advisor that is registered where a request brings none of its own."""
        return self._engine.tool_advisor
