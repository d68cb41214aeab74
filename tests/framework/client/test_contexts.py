"""Contexts through the chain, and advisors with before and after."""

import asyncio
from typing import Any

import pytest

from vernal import (
    ChatClient,
    ChatClientRequest,
    ChatClientResponse,
    ChatResponse,
    Prompt,
    UserMessage,
)
from vernal.advisors.api import AdvisorChain, BaseAdvisor
from vernal.testing import ScriptedChatModel, chunks


class Marking(BaseAdvisor):
    """Writes into the context on the way in and on the way out."""

    def __init__(self, name: str, order: int) -> None:
        self.mark, self.place = name, order

    @property
    def order(self) -> int:
        return self.place

    async def before(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        return request.copy(context={f"before_{self.mark}": True, "last_before": self.mark})

    async def after(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        return response.copy(context={f"after_{self.mark}": True, "last_after": self.mark})


WANTED = {
    "key1": "a",
    "key2": "b",
    "before_outer": True,
    "before_inner": True,
    "after_outer": True,
    "after_inner": True,
    "last_before": "inner",
    "last_after": "outer",
}


def ask(form: str) -> dict[str, Any]:
    """The context that a turn ends with, in one of the four forms."""
    advisors = (Marking("inner", 1), Marking("outer", 0))
    client = ChatClient.builder(ScriptedChatModel([chunks("a", "b")])).default_advisors(*advisors, key1="a").build()
    spec = client.prompt("x").advisors(key2="b")

    async def streamed() -> dict[str, Any]:
        contexts = [chunk.context async for chunk in spec.astream().chat_client_response()]
        return contexts[-1]

    async def called() -> dict[str, Any]:
        return (await spec.acall().chat_client_response()).context

    if form == "call":
        return spec.call().chat_client_response().context
    if form == "stream":
        return [chunk.context for chunk in spec.stream().chat_client_response()][-1]
    return asyncio.run(called() if form == "acall" else streamed())


@pytest.mark.parametrize("form", ["call", "stream", "acall", "astream"])
def test_contexts_pass_in_and_out_in_order(form: str) -> None:
    """Inner comes later on the way in, earlier on the way out; a stream's last chunk has it all (ADV-01, ADV-02)."""
    assert ask(form) == WANTED


def test_before_and_after_run_once_around_a_stream() -> None:
    """Chunks pass as they arrive; `after` gets their aggregate once, whatever the finish reasons (ADV-06, ADV-07)."""
    seen: list[str | None] = []

    class Once(BaseAdvisor):
        async def after(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
            seen.append(response.text)
            return response

    client = ChatClient(ScriptedChatModel([chunks("a", "b", "c")]))
    assert list(client.prompt("x").advisors(Once()).stream().content()) == ["a", "b", "c"]
    assert seen == ["abc"]


def test_an_error_of_a_stream_is_raised_as_it_is() -> None:
    """Nothing wraps it (ADV-06, R20)."""
    error = OSError("down")

    class Through(BaseAdvisor):
        async def after(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
            raise AssertionError("after ran although the stream broke")

    texts = ChatClient(ScriptedChatModel([chunks("a", error)])).prompt("x").advisors(Through()).stream().content()
    assert next(texts) == "a"
    with pytest.raises(OSError, match="down") as raised:
        next(texts)
    assert raised.value is error


def test_finish_reasons_are_found() -> None:
    """No response, no generation and no reason are none; a reason is one (ADV-03)."""
    assert ChatResponse().finish_reason is None
    assert ChatResponse.of("x").finish_reason == "stop"
    assert not ChatResponse().has_finish_reasons("stop")


@pytest.mark.parametrize("wrong", [{"prompt": None}, {"prompt": Prompt("x"), "context": None}])
def test_a_request_has_a_prompt_and_a_context(wrong: dict[str, Any]) -> None:
    """Anything else is refused (ADV-04)."""
    with pytest.raises(TypeError, match="wanted"):
        ChatClientRequest(**wrong)


def test_a_copy_has_a_context_of_its_own() -> None:
    """Entries are merged into the copy; the original keeps its own (ADV-05)."""
    request = ChatClientRequest(Prompt("x"), {"a": 1, "b": 1})
    copy = request.copy(context={"b": 2, "c": 2})
    assert copy.context == {"a": 1, "b": 2, "c": 2}
    copy.context["d"] = 3
    assert request.context == {"a": 1, "b": 1}
    changed = request.copy(prompt=Prompt(UserMessage("y")))
    assert changed.context == request.context
    assert changed.context is not request.context
    response = ChatClientResponse(ChatResponse.of("x"), {"a": 1})
    assert response.copy(context={"b": 2}).context == {"a": 1, "b": 2}
    assert response.context == {"a": 1}
