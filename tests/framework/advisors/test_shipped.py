"""The advisors that come with vernal: logging, safeguard, retry, fallback."""

import asyncio
import logging
from typing import Any

import pytest

from vernal import (
    HIGHEST_PRECEDENCE,
    Advisor,
    ChatClient,
    ConfigurationError,
    FallbackModelAdvisor,
    RetryAdvisor,
    SafeGuardAdvisor,
    SimpleLoggerAdvisor,
    tool,
)
from vernal.testing import ScriptedChatModel, chunks, tool_call


class Orders:
    def __init__(self) -> None:
        self.refunded: list[str] = []

    @tool(effects="write")
    def refund(self, order: str) -> str:
        """Refund an order."""
        self.refunded.append(order)
        return "refunded"


def ask(form: str, client: ChatClient, *advisors: Advisor, tools: tuple[object, ...] = ()) -> str:
    """The text of one turn in one of the four forms."""
    spec = client.prompt("Refund 42").advisors(*advisors).tools(*tools)

    async def streamed() -> str:
        return "".join([text async for text in spec.astream().content()])

    if form == "call":
        return spec.call().content() or ""
    if form == "stream":
        return "".join(spec.stream().content())
    if form == "acall":
        return asyncio.run(_content(spec)) or ""
    return asyncio.run(streamed())


async def _content(spec: Any) -> str | None:
    text: str | None = await spec.acall().content()
    return text


FORMS = pytest.mark.parametrize("form", ["call", "stream", "acall", "astream"])


@FORMS
def test_every_round_is_logged_at_debug(form: str, caplog: pytest.LogCaptureFixture) -> None:
    """Inside the loop each request and response is a line; a stream is logged as a whole."""
    orders = Orders()
    client = ChatClient(ScriptedChatModel([tool_call("refund", order="42"), chunks("Do", "ne.")]))
    with caplog.at_level(logging.DEBUG, logger="vernal.client"):
        assert ask(form, client, SimpleLoggerAdvisor(), tools=(orders,)) == "Done."
    lines = [record.getMessage() for record in caplog.records if record.name == "vernal.client"]
    assert lines == [
        "request: user: 'Refund 42'",
        "response: None, calls of refund",
        "request: user: 'Refund 42'; assistant: None; tool: None",
        "response: 'Done.'",
    ]


def test_nothing_is_logged_or_even_worded_above_debug() -> None:
    """Texts are made only where they are wanted."""

    def never(_: object) -> str:
        raise AssertionError("a text was made")

    logging.getLogger("vernal.client").setLevel(logging.INFO)
    try:
        advisor = SimpleLoggerAdvisor(request_to_text=never, response_to_text=never)
        assert ask("call", ChatClient(ScriptedChatModel(["Done."])), advisor) == "Done."
    finally:
        logging.getLogger("vernal.client").setLevel(logging.NOTSET)


@FORMS
def test_sensitive_words_never_reach_the_model(form: str) -> None:
    """The guard answers in the model's place, whatever the case of the word."""
    model = ScriptedChatModel(["Done."])
    guard = SafeGuardAdvisor(sensitive_words=["REFUND"], failure_response="No.")
    assert ask(form, ChatClient(model), guard) == "No."
    assert not model.requests
    assert ask(form, ChatClient(model), SafeGuardAdvisor(sensitive_words=["secret"])) == "Done."


@pytest.mark.parametrize("words", ["refund", ["refund", " "]])
def test_a_guard_that_would_refuse_everything_is_refused(words: Any) -> None:
    """A bare string and a blank word are mistakes."""
    with pytest.raises((TypeError, ValueError), match="sensitive_words"):
        SafeGuardAdvisor(sensitive_words=words)


@FORMS
def test_a_failing_model_is_asked_again_and_no_tool_runs_twice(form: str) -> None:
    """Retries belong to one model request (R19)."""
    orders = Orders()
    script = [OSError("a"), tool_call("refund", order="42"), OSError("b"), OSError("c"), "Done."]
    model = ScriptedChatModel(script)
    assert ask(form, ChatClient(model), RetryAdvisor(delay=0), tools=(orders,)) == "Done."
    assert (orders.refunded, len(model.requests)) == (["42"], 5)


@FORMS
def test_a_model_that_keeps_failing_raises_its_last_error(form: str) -> None:
    """After the last attempt the error is the caller's; other errors are at once."""
    model = ScriptedChatModel([OSError("a"), OSError("b"), "never"])
    with pytest.raises(OSError, match="b"):
        ask(form, ChatClient(model), RetryAdvisor(max_attempts=2, delay=0))
    model = ScriptedChatModel([ValueError("other"), "never"])
    with pytest.raises(ValueError, match="other"):
        ask(form, ChatClient(model), RetryAdvisor(delay=0, retry_on=(OSError,)))


@pytest.mark.parametrize("form", ["stream", "astream"])
@pytest.mark.parametrize("advisor", [RetryAdvisor(delay=0), FallbackModelAdvisor(models=[ScriptedChatModel(["x"])])])
def test_a_stream_that_has_begun_is_not_begun_again(form: str, advisor: Advisor) -> None:
    """Text that went out is never repeated (R20, R21)."""
    model = ScriptedChatModel([chunks("Do", OSError("broken")), "never"])
    with pytest.raises(OSError, match="broken"):
        ask(form, ChatClient(model), advisor)
    assert model.remaining == 1


@FORMS
def test_another_model_answers_and_no_tool_runs_twice(form: str) -> None:
    """The fallback goes on with the conversation where the first model failed."""
    orders = Orders()
    first = ScriptedChatModel([tool_call("refund", order="42"), OSError("down")])
    second, third = ScriptedChatModel([OSError("down too")]), ScriptedChatModel(["Done."])
    advisor = FallbackModelAdvisor(models=[second, third])
    assert ask(form, ChatClient(first), advisor, tools=(orders,)) == "Done."
    assert orders.refunded == ["42"]
    assert [type(message).__name__ for message in third.requests[0].messages] == [
        "UserMessage",
        "AssistantMessage",
        "ToolResponseMessage",
    ]


@FORMS
def test_when_all_models_fail_the_last_error_is_raised(form: str) -> None:
    """Nothing is swallowed."""
    advisor = FallbackModelAdvisor(models=[ScriptedChatModel([OSError("second")])])
    with pytest.raises(OSError, match="second"):
        ask(form, ChatClient(ScriptedChatModel([OSError("first")])), advisor)


@FORMS
@pytest.mark.parametrize(
    "advisor",
    [
        RetryAdvisor(retry_order=HIGHEST_PRECEDENCE + 1),
        FallbackModelAdvisor(models=[], fallback_order=HIGHEST_PRECEDENCE + 1),
    ],
)
def test_before_the_tool_loop_they_are_refused(form: str, advisor: Advisor) -> None:
    """There they would run tools again, so they say where to stand."""
    with pytest.raises(ConfigurationError, match="would run tools again"):
        ask(form, ChatClient(ScriptedChatModel(["never"])), advisor)
