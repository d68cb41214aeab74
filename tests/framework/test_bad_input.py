"""Mistakes that users make, and what they are told: what was given, what is wanted, what to do."""

import re
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vernal import (
    Application,
    ApprovalInterceptor,
    ChatClient,
    ChatModel,
    ChatOptions,
    ConfigurationError,
    FunctionToolCallback,
    ToolCallLimits,
    ToolDefinition,
    UserMessage,
    bean,
    configuration,
    tool,
    tool_callbacks,
)
from vernal.testing import ScriptedChatModel


class Orders:
    @tool
    def refund(self, order: int) -> str:
        """Refund an order."""
        return "refunded"


class MoreOrders(Orders):
    """A second object with the same tool."""


@tool
def any_number(*orders: int) -> str:
    """Refund orders."""
    return "refunded"


def ask(settings: dict[str, Any] | None = None, environ: dict[str, str] | None = None, **use: Any) -> None:
    """Boot an application and ask a question."""
    with Application(settings=settings, environ=environ or {}, directory=Path("/nonexistent")) as context:
        if model := use.get("model"):
            with context.override(ChatModel, model):
                context.get(ChatClient).prompt("Refund 42").tools(*use.get("tools", ())).call().content()
            return
        spec = context.get(ChatClient).prompt("Refund 42").tools(*use.get("tools", ()))
        if options := use.get("options"):
            spec.options(options())
        spec.call().content()


OFFLINE = {"VERNAL_CHAT__MODEL": "offline"}
MISTAKES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("no model reachable", {"settings": {"chat": {"offline_fallback": False}}}, ["no chat model", "OPENAI_API_KEY"]),
    ("key missing", {"environ": {"VERNAL_CHAT__MODEL": "openai:gpt-5-mini"}}, ["VERNAL_OPENAI__API_KEY"]),
    ("misspelt provider", {"settings": {"chat": {"model": "opnai:gpt-5"}}}, ["opnai", "did you mean 'openai'"]),
    (
        "a model without its provider",
        {"settings": {"chat": {"model": "gpt-5"}}},
        ["no provider 'gpt-5'", "wanted is provider:model", ":gpt-5"],
    ),
    ("a plugin that is missing", {"settings": {"chat": {"model": "claude:x"}}}, ["its plugin, such as vernal-openai"]),
    ("unknown setting", {"settings": {"tools": {"throw": True}}}, ["tools.throw", "nothing reads it"]),
    (
        "misspelt setting",
        {"settings": {"chat": {"client": {"tool_calling": {"advisor_ordr": 5}}}}},
        ["chat.client.tool_calling.advisor_ordr", "advisor_order"],
    ),
    ("setting of the wrong kind", {"environ": {**OFFLINE, "VERNAL_TOOLS__MAX_PARALLEL_CALLS": "many"}}, ["many"]),
    ("two tools of one name", {"environ": OFFLINE, "tools": [Orders(), MoreOrders()]}, ["refund", "MoreOrders"]),
    ("an object without tools", {"environ": OFFLINE, "tools": [object()]}, ["No @tool methods found"]),
    ("a class in place of an object", {"environ": OFFLINE, "tools": [Orders]}, ["Orders", "object of it"]),
    ("a tool that cannot be called", {"environ": OFFLINE, "tools": [any_number]}, ["any_number", "*orders"]),
    (
        "an option out of range",
        {"environ": OFFLINE, "options": lambda: ChatOptions(temperature=-1)},
        ["temperature is -1", "at least 0"],
    ),
    (
        "an option of the wrong kind",
        {"environ": OFFLINE, "options": lambda: ChatOptions(max_tokens="many")},  # type: ignore[arg-type]
        ["max_tokens is 'many'", "integer"],
    ),
]


@pytest.mark.parametrize(("mistake", "use", "said"), MISTAKES, ids=[mistake for mistake, _, _ in MISTAKES])
def test_a_mistake_is_answered_clearly(mistake: str, use: dict[str, Any], said: list[str]) -> None:
    """The error names what was given and what to do."""
    with pytest.raises(Exception, match=r"\w+") as raised:
        ask(**use)
    text = str(raised.value)
    assert all(part in text for part in said), text
    assert len(text) < 1500, text


def client() -> Any:
    return ChatClient(ScriptedChatModel(["Hello."]))


def start(**options: Any) -> Any:
    return Application(environ=OFFLINE, directory=Path("/nonexistent"), **options).start()


@configuration
class Marked:
    """A source of beans, which is given as a class."""


def start_with(source: Any) -> Any:
    return Application(source).start()


def with_options(**options: Any) -> Any:
    return tool(**options)(lambda order: order)


FIRST_MISTAKES: list[tuple[Callable[[], object], str]] = [
    (lambda: start(settings="chat.model=offline"), "settings is 'chat.model=offline'; a mapping is wanted"),
    (lambda: start(exclude=5), "exclude has 5; auto-configurations are wanted"),
    (lambda: start(exclude=[5]), "exclude has 5; auto-configurations are wanted"),
    (lambda: start_with(Marked()), "give the class Marked, of which the context makes an object itself"),
    (lambda: start_with(Orders), "a class marked @configuration or a DeclarativeContainer is wanted"),
    (lambda: start().get("chat_client"), "looked up by 'chat_client'; its type is wanted, such as get(ChatClient)"),
    (lambda: start().get_all("chat_client"), "looked up by 'chat_client'; its type is wanted"),
    (lambda: start().has(3), "looked up by 3; its type is wanted"),
    (lambda: with_options(effect="read"), "no option 'effect'; did you mean 'effects'?"),
    (lambda: with_options(desc="Refund.", nonsense=1), "no option 'desc'; "),
    (lambda: client().prompt([UserMessage("Hi")]), "messages go to .messages("),
    (lambda: client().prompt().messages({"role": "user"}), "among the messages is {'role': 'user'}; Message objects"),
    (lambda: client().prompt().messages("Hi"), "among the messages is 'Hi'; Message objects"),
    (lambda: client().prompt("Hi").call().entity(3), "the wanted type is 3, which has no JSON form"),
    (lambda: client().prompt("Hi").call().entity(Lock), "which has no JSON form"),
]


@pytest.mark.parametrize(("mistake", "said"), FIRST_MISTAKES)
def test_what_is_of_the_wrong_kind_is_refused_where_it_is_given(mistake: Callable[[], object], said: str) -> None:
    """It is a TypeError that says what was given, what is wanted and where that goes."""
    with pytest.raises(TypeError, match=re.escape(said)):
        mistake()


def test_a_request_that_is_printed_says_what_comes_next() -> None:
    """Who prints a request or a turn, in place of its answer, reads how to have the answer."""
    request = client().prompt("Hi")
    turn, streamed = request.call(), request.stream()
    assert ".call()" in repr(request)
    assert "not run yet; .content()" in repr(turn)
    assert "not opened yet; .content()" in repr(streamed)
    assert turn.content() == "Hello."
    assert "answered" in repr(turn)
    assert "not run yet" in repr(request.acall())


CHOICES: list[Callable[[Any], object]] = [
    lambda given: with_options(effects=given),
    lambda given: ApprovalInterceptor([given]),
    lambda given: ToolCallLimits(on_limit_exceeded=given),
    lambda given: bean(scope=given),
]


@pytest.mark.parametrize("choose", CHOICES)
@given(wrong=st.text() | st.integers())
def test_a_choice_that_is_none_of_the_choices_is_refused_with_all_of_them(
    choose: Callable[[Any], object], wrong: Any
) -> None:
    """The error says what was given and which values are wanted."""
    assume(wrong not in {"read", "write", "destructive", "throw", "return_error_response", "singleton", "prototype"})
    with pytest.raises(ValueError, match=r"; one of '\w+', '\w+'.* is wanted") as raised:
        choose(wrong)
    assert repr(wrong) in str(raised.value)


NAMELESS: list[Any] = [
    lambda: ToolDefinition("", "A tool.", {"type": "object"}),
    lambda: ToolDefinition("  ", "A tool.", {"type": "object"}),
    lambda: tool_callbacks(tool(name="  ")(lambda: "x")),
    lambda: tool_callbacks(lambda: "x"),
    lambda: FunctionToolCallback(lambda: "x"),
]


@pytest.mark.parametrize("declare", NAMELESS)
def test_a_tool_without_a_name_is_refused(declare: Any) -> None:
    """A blank name, and a function that has none, are refused where they are declared (TDU-06)."""
    with pytest.raises(ValueError, match="name"):
        declare()


def test_a_failing_model_is_raised_as_it_is() -> None:
    """An error of the service reaches the caller unchanged."""
    with pytest.raises(OSError, match="down"):
        ask(environ=OFFLINE, model=ScriptedChatModel([OSError("down")]))


def test_configuration_errors_are_one_family() -> None:
    """Whoever catches ConfigurationError catches what was declared wrongly."""
    with pytest.raises(ConfigurationError):
        ask(settings={"chat": {"model": "opnai"}})
