"""R25: nothing is asked of a provider, server or model before a request needs it."""

import asyncio
from collections.abc import Sequence

import pytest

from vernal import (
    ChatClient,
    ChatClientRequestSpec,
    ChatModel,
    FunctionToolCallback,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    ToolCallback,
    ToolCallbackProvider,
)
from vernal.testing import ApplicationContextRunner, Form, ScriptedChatModel, tool_call


class Listing(ToolCallbackProvider):
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def get_tool_callbacks(self) -> Sequence[ToolCallback]:
        self.asked += 1

        def look(n: int) -> str:
            """Look."""
            return "seen"

        return [FunctionToolCallback(look)]


def test_a_provider_is_asked_once_by_a_request_that_runs(form: Form) -> None:
    """R25: not by building a client, a request or a turn, nor again in each round."""
    provider, model = Listing(), ScriptedChatModel([tool_call("look", n=1), tool_call("look", n=2), "done"])
    client = ChatClient.builder(model).default_tools(provider).build()
    spec = client.prompt("Go on.")
    spec.call(), spec.acall(), spec.stream().content(), spec.astream().content()
    client.mutate().build().prompt("Go on.").call()
    assert provider.asked == 0
    form.ask(client.prompt("Go on."))
    assert provider.asked == 1
    assert len(model.requests) == 3


def test_a_stream_that_is_never_read_asks_nothing() -> None:
    """R25: cold, in both faces, also where it is closed at once."""
    provider, model = Listing(), ScriptedChatModel(["never"])
    memory = MessageWindowChatMemory()
    advisor = MessageChatMemoryAdvisor(chat_memory=memory)

    def spec() -> ChatClientRequestSpec:
        return ChatClient(model).prompt("Go on.").tools(provider).advisors(advisor, conversation_id="c")

    with spec().stream().content():
        pass

    async def main() -> None:
        async with spec().astream().events():
            pass

    asyncio.run(main())
    assert (provider.asked, model.requests, memory.get("c")) == (0, [], [])


def test_an_application_starts_without_a_key_and_asks_for_it_at_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """R25: starting, and taking the client, needs neither key nor network; the first request names what is missing."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    settings = {"chat": {"model": "openai:some-model"}}
    with ApplicationContextRunner().with_plugins().with_settings(settings).run() as run:
        client = run.context.get(ChatClient)
        run.context.get(ChatModel)
        turn = client.prompt("Hello.").call()
        with pytest.raises(Exception, match="OPENAI_API_KEY"):
            turn.content()
