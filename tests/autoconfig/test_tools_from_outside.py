"""Any setting of any tool without touching its code, and services of the application in tools."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import pytest

from vernal import (
    ChatClient,
    ChatModel,
    ConfigurationError,
    DuplicateToolError,
    Inject,
    Named,
    ObjectProvider,
    Prompt,
    Settings,
    ToolCallback,
    ToolCallbackResolver,
    ToolCallingChatOptions,
    ToolCallingManager,
    ToolCustomizer,
    ToolResponseMessage,
    TurnSuspended,
    Usage,
    UsageError,
    bean,
    configuration,
    tool,
    tool_callbacks,
)
from vernal.context import AmbiguousBeanError, MissingBeanError
from vernal.context.settings import describe
from vernal.testing import ApplicationContextRunner, ScriptedChatModel, tool_call
from vernal.tools.augmentation import augmented_tools
from vernal.values.turn import Turn
from vernal_autoconfig.tool_calling import ToolCallingSettings


@tool
def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"rain in {city}"


@tool(name="Send-Mail", timeout=1)
def send_mail() -> str:
    """Send a mail."""
    return "sent"


def asked(
    runner: ApplicationContextRunner, *tools: object, script: Sequence[object] = ("Done.",)
) -> tuple[list[ToolCallback], Prompt]:
    """What is offered to the model when these tools go with a request, and the last prompt."""
    model = ScriptedChatModel(script)
    answer(runner, model, *tools)
    options = model.requests[-1].options
    assert isinstance(options, ToolCallingChatOptions)
    return list(options.tool_callbacks or ()), model.requests[-1]


def answer(runner: ApplicationContextRunner, model: ChatModel, *tools: object) -> str | None:
    """What the model answers to a request with these tools."""
    with runner.with_bean(ChatModel, model).run() as run:
        return run.context.get(ChatClient).prompt("Go.").tools(*tools).call().content()


def named(runner: ApplicationContextRunner, **settings: object) -> ApplicationContextRunner:
    return runner.with_settings({"tools": {"named": settings}})


def test_a_setting_changes_a_tool_by_its_name(runner: ApplicationContextRunner) -> None:
    """Description, timeout and return-direct come from `tools.named.<name>`; origin and other tools are untouched."""
    said = {"description": "Weather, by the hour.", "timeout": "2s", "return_direct": True}
    (weather, mail), _ = asked(named(runner, get_weather=said), get_weather, send_mail)
    assert weather.definition.description == "Weather, by the hour."
    assert (weather.metadata.timeout, weather.metadata.return_direct) == (2.0, True)
    assert weather.origin == f"{__name__}:get_weather"
    assert (mail.metadata.timeout, mail.metadata.return_direct) == (1.0, False)


def test_the_environment_names_tools_up_to_case_and_punctuation(runner: ApplicationContextRunner) -> None:
    """A variable means every tool whose name folds to it; where two tools of a request do, that is an error."""
    late = runner.with_environ({"VERNAL_TOOLS__NAMED__SEND_MAIL__TIMEOUT": "1m"})
    (mail,), _ = asked(late, send_mail)
    assert mail.metadata.timeout == 60.0

    @tool(name="send_mail")
    def other() -> None:
        """Send another mail."""

    with pytest.raises(ConfigurationError, match="both 'Send-Mail' and 'send_mail'"):
        asked(late, send_mail, other)


def test_a_disabled_tool_is_neither_offered_nor_found(runner: ApplicationContextRunner) -> None:
    """`enabled=false` takes a tool out of requests and of the resolver; also the one of two with the same name."""
    off = named(runner, get_weather={"enabled": False})
    offered, _ = asked(off, get_weather, send_mail)
    assert [one.definition.name for one in offered] == ["Send-Mail"]
    with off.with_bean(ToolCallback, tool_callbacks(get_weather)[0]).run() as run:
        assert run.context.get(ToolCallbackResolver).resolve("get_weather") is None
    with pytest.raises(DuplicateToolError):
        asked(named(runner, other={"enabled": False}), get_weather, get_weather)


def test_a_limit_of_a_named_tool_wins(runner: ApplicationContextRunner) -> None:
    """`tools.named.<name>.max_calls` comes before `tools.max_calls_per_tool`, however each writes the name."""
    limited = runner.with_settings({"tools": {"max_calls_per_tool": {"get_weather": 5}}}).with_environ(
        {"VERNAL_TOOLS__NAMED__GET_WEATHER__MAX_CALLS": "1"}
    )
    twice = [tool_call("get_weather", city="Oslo"), tool_call("get_weather", city="Bergen"), "Done."]
    refusal = answer(limited, ScriptedChatModel(twice), get_weather)
    assert str(refusal).startswith("Tool call limit (1) exceeded for tool 'get_weather'")
    tools = {"max_calls_per_tool_default": 1, "named": {"get_weather": {"max_calls": -1}}}
    assert answer(runner.with_settings({"tools": tools}), ScriptedChatModel(twice), get_weather) == "Done."


def test_a_wrong_setting_of_a_tool_is_reported_by_its_key(runner: ApplicationContextRunner) -> None:
    """A value out of range, and a key that no tool has, name the key as it must be written."""
    with named(runner, get_weather={"max_calls": 0}).run() as run:
        assert "tools.named.get_weather.max_calls = 0: must be greater than 0" in str(run.failure)
    with named(runner, get_weather={"timeuot": "2s"}).run() as run:
        assert "tools.named.get_weather.timeuot: nothing reads it" in str(run.failure)
        assert "tools.named.<name>.timeout" in str(run.failure)


def test_the_keys_are_listed_with_their_values(runner: ApplicationContextRunner) -> None:
    """The settings view has a row for each key that is set for a tool, with its origin."""
    with runner.with_environ({"VERNAL_TOOLS__NAMED__GET_WEATHER__TIMEOUT": "2s"}).run() as run:
        rows = {row.key: row for row in describe(run.context.environment, [ToolCallingSettings])}
    assert rows["tools.named.get_weather.timeout"].value == "2s"
    assert "VERNAL_TOOLS__NAMED__GET_WEATHER__TIMEOUT" in rows["tools.named.get_weather.timeout"].origin


def test_a_loop_by_hand_takes_the_customizers_from_the_context(runner: ApplicationContextRunner) -> None:
    """`tool_callbacks(…, customizers=…)` gives tools as the clients of the context offer them."""
    with named(runner, get_weather={"description": "Rain or shine."}).run() as run:
        (weather,) = tool_callbacks(get_weather, customizers=run.context.get_all(ToolCustomizer))
    assert weather.definition.description == "Rain or shine."


def test_settings_win_over_a_customizer_of_the_user(runner: ApplicationContextRunner) -> None:
    """Customizers that are beans run before the settings: whoever operates has the last word."""
    seen: list[str] = []

    class Looking(ToolCustomizer):
        def customize(self, callbacks: Sequence[ToolCallback]) -> Sequence[ToolCallback]:
            seen.extend(one.definition.description for one in callbacks)
            return callbacks

    said = named(runner, get_weather={"description": "Rain or shine."}).with_bean(ToolCustomizer, Looking())
    (weather,), _ = asked(said, get_weather)
    assert seen == ["Current weather of a city."]
    assert weather.definition.description == "Rain or shine."


class Clock:
    """A service."""

    def __init__(self, time: str = "noon") -> None:
        self.time = time


class ClockSettings(Settings, prefix="clock"):
    zone: str = "UTC"


class TimeTools:
    """A tool class with constructor injection."""

    def __init__(self, clock: Clock, settings: ClockSettings) -> None:
        self.clock, self.settings = clock, settings

    @tool
    def tell_time(self) -> str:
        """Tell the time."""
        return f"{self.clock.time} {self.settings.zone}"


@configuration
class Services:
    @bean
    def clock(self) -> Clock:
        return Clock()

    @bean
    def evening(self) -> Annotated[Clock, "a second one"]:
        return Clock("evening")

    @bean
    def time_tools(self, clock: Annotated[Clock, Named("clock")], settings: ClockSettings) -> TimeTools:
        return TimeTools(clock, settings)


def told(prompt: Prompt) -> str:
    """What the last tool answered."""
    message = prompt.messages[-1]
    assert isinstance(message, ToolResponseMessage)
    return message.responses[0].data


def test_tool_classes_are_beans_with_constructor_injection(runner: ApplicationContextRunner) -> None:
    """A tool class gets its services from the context, and its tools work as any others."""
    model = ScriptedChatModel([tool_call("tell_time"), "Late."])
    zoned = runner.with_sources(Services).with_settings({"clock": {"zone": "CET"}}).with_bean(ChatModel, model)
    with zoned.run() as run:
        run.context.get(ChatClient).prompt("Time?").tools(run.context.get(TimeTools)).call().content()
    assert told(model.requests[-1]) == "noon CET"


@tool
def services(
    first: Annotated[Clock, Inject, Named("evening")],
    every: Annotated[list[Clock], Inject],
    later: Annotated[ObjectProvider[Clock], Inject],
    settings: Annotated[ClockSettings, Inject],
    absent: Annotated[TimeTools | None, Inject] = None,
) -> str:
    """Use services in all the forms that a bean may ask for."""
    return f"{first.time} {len(every)} {len(list(later))} {settings.zone} {absent}"


@configuration
class Clocks:
    clock = Services.clock
    evening = Services.evening


def test_parameters_of_tools_take_beans_in_every_form(runner: ApplicationContextRunner) -> None:
    """By name, as a list, through an `ObjectProvider`, settings, and optional ones, none of them in the schema."""
    (offered,), prompt = asked(runner.with_sources(Clocks), services, script=[tool_call("services"), "Done."])
    assert not offered.definition.input_schema["properties"]
    assert told(prompt) == "evening 2 2 UTC None"


@tool
def needs_clock(clock: Annotated[Clock, Inject]) -> str:
    """Needs a clock."""
    return clock.time


def test_a_missing_bean_of_a_tool_is_an_error_of_the_request(runner: ApplicationContextRunner) -> None:
    """The model is not asked; the report draws the path from the tool to the missing bean."""
    model = ScriptedChatModel()
    with runner.with_bean(ChatModel, model).run() as run:
        request = run.context.get(ChatClient).prompt("Time?").tools(needs_clock)
        with pytest.raises(MissingBeanError) as missing:
            request.call().content()
    assert not model.requests
    assert f"the tool 'needs_clock' ({__name__}:needs_clock)" in str(missing.value)
    assert f"clock: {__name__}.Clock   <- missing" in str(missing.value)
    with runner.with_sources(Clocks).run() as run, pytest.raises(AmbiguousBeanError, match="the tool 'needs_clock'"):
        tool_callbacks(needs_clock, customizers=run.context.get_all(ToolCustomizer))


def test_the_manager_finds_tools_with_their_services(runner: ApplicationContextRunner) -> None:
    """A tool that only the resolver knows has its beans too, and a loop by hand as well."""
    clocks = runner.with_bean(Clock, Clock())
    with clocks.with_bean(ToolCallback, tool_callbacks(needs_clock)[0]).run() as run:
        found = run.context.get(ToolCallbackResolver).resolve("needs_clock")
        assert found is not None
        assert found.call("{}") == "noon"
        (bound,) = tool_callbacks(needs_clock, customizers=run.context.get_all(ToolCustomizer))
        options = ToolCallingChatOptions(tool_callbacks=(bound,))
        response = ScriptedChatModel([tool_call("needs_clock")]).call(Prompt("Time?"))
        result = run.context.get(ToolCallingManager).execute_tool_calls(Prompt("Time?", options), response)
        assert isinstance(result.conversation_history[-1], ToolResponseMessage)
        assert result.conversation_history[-1].responses[0].data == "noon"


@dataclass
class Reason:
    """Why a tool is called."""

    reason: str


def test_tools_that_are_wrapped_have_their_services_too(runner: ApplicationContextRunner) -> None:
    """A tool with augmented arguments, and one that settings have changed, take beans as the bare tool does."""
    call = tool_call("needs_clock", reason="curiosity")
    clocks = named(runner, needs_clock={"timeout": "5s"}).with_bean(Clock, Clock())
    (offered,), prompt = asked(clocks, augmented_tools(needs_clock, argument_type=Reason), script=[call, "Done."])
    assert told(prompt) == "noon"
    assert [one.name for one in offered.injected] == ["clock"]
    assert offered.with_beans({"clock": lambda: Clock("late")}).call('{"reason": "none"}') == "late"


def test_an_override_reaches_the_parameters_of_tools(runner: ApplicationContextRunner) -> None:
    """Inside `context.override` a tool gets the stand-in."""
    model = ScriptedChatModel([tool_call("needs_clock"), "Done."])
    clocks = runner.with_bean(Clock, Clock()).with_bean(ChatModel, model)
    with clocks.run() as run, run.context.override(Clock, Clock("midnight")):
        run.context.get(ChatClient).prompt("Time?").tools(needs_clock).call().content()
    assert told(model.requests[-1]) == "midnight"


def test_a_bean_that_is_built_by_a_tool_is_built_off_the_loop(runner: ApplicationContextRunner) -> None:
    """A blocking tool's lazy beans are built in its worker thread, and closed with the context."""
    seen: list[str] = []

    @configuration
    class Slow:
        @bean(lazy=True)
        def clock(self) -> Iterator[Clock]:
            seen.append(threading.current_thread().name)
            yield Clock()
            seen.append("closed")

    asked(runner.with_sources(Slow), needs_clock, script=[tool_call("needs_clock"), "Done."])
    assert seen == ["vernal-worker", "closed"]


def test_a_client_that_outlives_its_context_says_so(runner: ApplicationContextRunner) -> None:
    """After the end of the context its beans are gone, and tools that want them say it."""
    with runner.with_bean(Clock, Clock()).run() as run:
        client = run.context.get(ChatClient)
    with pytest.raises(UsageError, match="the application context is closed"):
        client.prompt("Time?").tools(needs_clock).call().content()


def test_two_contexts_fill_one_tool_each_for_itself(runner: ApplicationContextRunner) -> None:
    """The same function in requests of two contexts gets the beans of each."""
    answers = []
    scripts = [ScriptedChatModel([tool_call("needs_clock"), "Done."]) for _ in range(2)]
    first, second = (
        runner.with_bean(Clock, Clock(time)).with_bean(ChatModel, model)
        for time, model in zip(("early", "late"), scripts, strict=True)
    )
    with first.run() as one, second.run() as other:
        for context in (one.context, other.context):
            context.get(ChatClient).prompt("Time?").tools(needs_clock).call().content()
    answers = [told(model.requests[-1]) for model in scripts]
    assert answers == ["early", "late"]


def test_budgets_come_from_settings(runner: ApplicationContextRunner) -> None:
    """Tokens and money per turn and the prices of models are settings; a model's name may be folded as in variables."""
    environment = {
        "VERNAL_TOOLS__MAX_TOKENS_PER_TURN": "5000",
        "VERNAL_TOOLS__MAX_COST_PER_TURN": "0.25",
        "VERNAL_TOOLS__PRICES__GPT_5_MINI__INPUT": "0.25",
        "VERNAL_TOOLS__PRICES__GPT_5_MINI__OUTPUT": "2",
    }
    with runner.with_environ(environment).run() as run:
        limits = run.context.get(ToolCallingSettings).limits()
    turn = Turn()
    turn.record_usage(Usage(1000, 1000), "gpt-5-mini-2025-08-07")
    assert (limits.max_tokens, limits.max_cost) == (5000, 0.25)
    assert limits.cost(turn) == pytest.approx(0.00225)


def test_a_setting_makes_destructive_tools_wait_for_approval(runner: ApplicationContextRunner) -> None:
    """`tools.approval.effects` suspends turns before such calls; `tools.named` may declare the effects."""
    settings = {
        "tools": {"approval": {"effects": ["destructive"]}, "named": {"get_weather": {"effects": "destructive"}}}
    }
    model = ScriptedChatModel([tool_call("get_weather", city="Paris")])
    with pytest.raises(TurnSuspended, match="decision about get_weather"):
        answer(runner.with_settings(settings), model, get_weather)
    assert answer(runner, ScriptedChatModel([tool_call("get_weather", city="Paris"), "Done."]), get_weather) == "Done."


def test_attempts_that_a_tool_must_not_have_are_refused_by_name(runner: ApplicationContextRunner) -> None:
    """A tool is tried again only where it reads or is idempotent, also where a setting asks for more."""
    with pytest.raises(ConfigurationError, match="the tool 'get_weather': max_attempts is 3"):
        asked(named(runner, get_weather={"max_attempts": 3}), get_weather)
    [offered], _ = asked(named(runner, get_weather={"max_attempts": 3, "effects": "read"}), get_weather)
    assert offered.metadata.max_attempts == 3
