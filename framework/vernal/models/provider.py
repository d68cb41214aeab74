"""Providers: where chat models come from."""

from vernal.models.chat import ChatModel


class ChatModelProvider:
    """A source of chat models, one for each kind of service; `chat.model=openai:gpt-5-mini` names it and a model.

    Define `name`, `configured` and `create`.

    Raises:
        TypeError: at class creation, where one of them is missing.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        missing = [
            name for name in ("name", "configured", "create") if getattr(cls, name) is vars(ChatModelProvider)[name]
        ]
        if missing:
            raise TypeError(f"class {cls.__qualname__} does not define {', '.join(map(repr, missing))}")

    @property
    def name(self) -> str:
        """The short name of the service, such as `"openai"`."""
        raise NotImplementedError

    @property
    def configured(self) -> bool:
        """Whether the settings say how to reach the service: a key, or a base URL."""
        raise NotImplementedError

    def create(self, model: str | None = None) -> ChatModel:
        """A chat model of this service, by default the one that the settings name.

        Nothing is asked of the service here, and a missing key is an error only of the first request (R25).
        """
        raise NotImplementedError
