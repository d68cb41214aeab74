"""The auto-configuration of tool calling."""

from collections.abc import Sequence
from typing import Any

import pytest

from vernal import (
    DefaultToolCallingManager,
    DefaultToolExecutionExceptionProcessor,
    DelegatingToolCallbackResolver,
    FunctionToolCallback,
    ObservationRegistry,
    OnLimitExceeded,
    Prompt,
    SettingsError,
    StaticToolCallbackProvider,
    StaticToolCallbackResolver,
    ToolCall,
    ToolCallback,
    ToolCallbackProvider,
    ToolCallbackResolver,
    ToolCallingChatOptions,
    ToolCallingManager,
    ToolCallingObservationContext,
    ToolCallingObservationConvention,
    ToolCallInterceptor,
    ToolCallLimitExceeded,
    ToolDefinition,
    ToolExecutionException,
    ToolExecutionExceptionProcessor,
    ToolResponse,
    ToolResponseMessage,
    UserMessage,
    bean,
    configuration,
    hookimpl,
    tool,
)
from vernal.testing import ApplicationContextRunner
from vernal.values.responses import ChatResponse

DEFINITION = ToolDefinition("get_forecast", "Weather forecast", {"type": "object"})


def forecast(city: str = "Oslo") -> str:
    """Weather forecast of a city."""
    return f"rain in {city}"


def callback(name: str) -> ToolCallback:
    return FunctionToolCallback(forecast, name=name)


def prompt(*earlier: str, tools: Sequence[ToolCallback] = ()) -> Prompt:
    """A turn in which the `earlier` tools have been called."""
    messages: list[Any] = [UserMessage("Will it rain?")]
    if earlier:
        messages.append(ToolResponseMessage(ToolResponse(f"old_{i}", n, "ok") for i, n in enumerate(earlier)))
    return Prompt(messages, ToolCallingChatOptions(tool_callbacks=tuple(tools)))


def calling(name: str) -> ChatResponse:
    return ChatResponse.of(tool_calls=[ToolCall("new", name, "{}")])


def test_resolver_processor_and_manager_are_there(runner: ApplicationContextRunner) -> None:
    """The defaults are the delegating resolver, the default processor and the default manager (TAC-01)."""
    with runner.run() as run:
        assert type(run.context.get(ToolCallbackResolver)) is DelegatingToolCallbackResolver
        assert type(run.context.get(ToolExecutionExceptionProcessor)) is DefaultToolExecutionExceptionProcessor
        assert type(run.context.get(ToolCallingManager)) is DefaultToolCallingManager


class Plugged:
    @staticmethod
    @hookimpl
    def vernal_tools() -> list[Any]:
        @tool
        def from_plugin() -> str:
            """A tool of a plugin."""
            return "plugged"

        return [from_plugin]


@configuration
class Tools:
    @bean
    def one(self) -> ToolCallback:
        return callback("get_forecast")

    @bean
    def two(self) -> ToolCallbackProvider:
        return StaticToolCallbackProvider(callback("get_alert"))

    @bean
    def three(self) -> ToolCallbackProvider:
        return StaticToolCallbackProvider(callback("tool1"), callback("tool2"))


def test_callbacks_providers_and_plugins_are_found_by_tool_name(runner: ApplicationContextRunner) -> None:
    """Callback beans, provider beans, several of them, and tools of plugins are resolved by name (TAC-02, TAC-10)."""
    from vernal_autoconfig import plugin

    plugged = runner.with_plugins({"vernal-autoconfig": plugin, "plugged": Plugged})
    with plugged.with_sources(Tools).run() as run:
        resolver = run.context.get(ToolCallbackResolver)
        found = [resolver.resolve(name) for name in ("get_forecast", "get_alert", "tool1", "tool2", "from_plugin")]
        assert all(found)
        assert resolver.resolve("one") is None


def test_an_unknown_name_is_not_found(runner: ApplicationContextRunner) -> None:
    """A name that nobody knows gives None (TAC-03)."""
    with runner.run() as run:
        assert run.context.get(ToolCallbackResolver).resolve("nobody") is None


def test_providers_are_asked_only_when_a_tool_is_looked_for(runner: ApplicationContextRunner) -> None:
    """Building resolver and manager asks no provider for its tools (TAC-08, R25)."""
    asked = []

    class Remote(ToolCallbackProvider):
        def get_tool_callbacks(self) -> list[ToolCallback]:
            asked.append(1)
            return [callback("remote")]

    with runner.with_bean(ToolCallbackProvider, Remote()).run() as run:
        resolver = run.context.get(ToolCallbackResolver)
        run.context.get(ToolCallingManager)
        assert not asked
        assert resolver.resolve("remote") is not None
        assert resolver.resolve("remote") is not None
        assert asked == [1]


def test_a_failing_tool_is_told_to_the_model_by_default(runner: ApplicationContextRunner) -> None:
    """The default processor gives the message of the cause (TAC-05)."""
    with runner.run() as run:
        error = ToolExecutionException(DEFINITION, RuntimeError("Test error"))
        assert run.context.get(ToolExecutionExceptionProcessor).process(error) == "Test error"


def test_a_failing_tool_can_end_the_turn(runner: ApplicationContextRunner) -> None:
    """`tools.throw_exception_on_error=true` raises (TAC-06)."""
    with runner.with_environ({"VERNAL_TOOLS__THROW_EXCEPTION_ON_ERROR": "true"}).run() as run:
        error = ToolExecutionException(DEFINITION, RuntimeError("Test error"))
        with pytest.raises(ToolExecutionException, match="Test error"):
            run.context.get(ToolExecutionExceptionProcessor).process(error)


def test_rethrown_exceptions_are_named_by_setting(runner: ApplicationContextRunner) -> None:
    """`tools.rethrow_exceptions` names types that are raised as they are (TAC-20 in Python)."""
    with runner.with_environ({"VERNAL_TOOLS__RETHROW_EXCEPTIONS": '["builtins.PermissionError"]'}).run() as run:
        processor = run.context.get(ToolExecutionExceptionProcessor)
        cause = PermissionError("no")
        with pytest.raises(PermissionError) as raised:
            processor.process(ToolExecutionException(DEFINITION, cause))
        assert raised.value is cause
        assert processor.process(ToolExecutionException(DEFINITION, ValueError("soft"))) == "soft"


@pytest.mark.parametrize("enabled", [False, True])
def test_tools_outside_the_request_need_the_fallback(runner: ApplicationContextRunner, enabled: bool) -> None:
    """A tool that only the resolver knows runs where `tools.resolution.fallback.enabled` is true (TAC-07, R7)."""
    settings = {"tools": {"resolution": {"fallback": {"enabled": enabled}}}}
    with runner.with_sources(Tools).with_settings(settings).run() as run:
        result = run.context.get(ToolCallingManager).execute_tool_calls(prompt(), calling("get_forecast"))
        last = result.conversation_history[-1]
        assert isinstance(last, ToolResponseMessage)
        assert last.responses[0].is_error is not enabled
        assert ("rain" in last.responses[0].data) is enabled


class OwnResolver(ToolCallbackResolver):
    def resolve(self, name: str) -> ToolCallback | None:
        return None


class OwnProcessor(ToolExecutionExceptionProcessor):
    def process(self, exception: ToolExecutionException) -> str:
        return "own"


@pytest.mark.parametrize(
    ("bean_type", "own"),
    [
        (ToolCallbackResolver, OwnResolver()),
        (ToolExecutionExceptionProcessor, OwnProcessor()),
        (ToolCallingManager, DefaultToolCallingManager()),
    ],
)
def test_each_default_steps_back_for_a_users_bean(
    runner: ApplicationContextRunner, bean_type: type[Any], own: object
) -> None:
    """A user's resolver, processor or manager replaces the default, one by one (TAC-09)."""
    with runner.with_bean(bean_type, own).run() as run:
        assert run.context.get(bean_type) is own
        others = {ToolCallbackResolver, ToolExecutionExceptionProcessor, ToolCallingManager} - {bean_type}
        assert all(type(run.context.get(other)).__module__.startswith("vernal.") for other in others)


def test_the_manager_uses_the_beans_around_it(runner: ApplicationContextRunner) -> None:
    """Resolver, processor and a unique observation registry reach the manager (TAC-11, TAC-21)."""
    registry, processor = ObservationRegistry(), OwnProcessor()
    own = runner.with_bean(ObservationRegistry, registry).with_bean(ToolExecutionExceptionProcessor, processor)
    with own.run() as run:
        manager = run.context.get(ToolCallingManager)
        assert isinstance(manager, DefaultToolCallingManager)
        assert manager.observation_registry is registry
        assert manager.tool_execution_exception_processor is processor
        assert manager.tool_callback_resolver is run.context.get(ToolCallbackResolver)


def breach(runner: ApplicationContextRunner, settings: dict[str, Any], *earlier: str) -> ToolCallLimitExceeded | None:
    """What calling get_forecast once more runs into, after the `earlier` calls."""
    with runner.with_settings({"tools": settings}).run() as run:
        try:
            run.context.get(ToolCallingManager).execute_tool_calls(
                prompt(*earlier, tools=[callback("get_forecast")]), calling("get_forecast")
            )
        except ToolCallLimitExceeded as limit:
            return limit
    return None


FORTY = ("get_forecast",) * 40


@pytest.mark.parametrize(
    ("settings", "earlier", "wanted"),
    [
        ({}, FORTY[:39], None),
        ({}, FORTY, ("get_forecast", 40)),
        ({}, tuple(f"tool{i}" for i in range(150)), (None, 150)),
        ({"max_calls_per_tool_default": -1}, FORTY, None),
        ({"max_total_tool_calls": -1}, tuple(f"tool{i}" for i in range(150)), None),
        ({"max_calls_per_tool": {"get_forecast": -1}}, FORTY, None),
        ({"max_calls_per_tool_default": 1}, ("get_forecast",), ("get_forecast", 1)),
        ({"max_calls_per_tool": {"get_forecast": 1}}, ("get_forecast",), ("get_forecast", 1)),
        ({"max_calls_per_tool": {"other": 1}}, ("get_forecast",), None),
        ({"max_calls_per_tool_default": 1, "excluded_tools": ["get_forecast"]}, ("get_forecast",), None),
        ({"max_calls_per_tool": {"get_forecast": 1}, "excluded_tools": ["get_forecast"]}, FORTY, None),
        ({"max_total_tool_calls": 1}, ("other",), (None, 1)),
    ],
)
def test_limits_come_from_the_settings(
    runner: ApplicationContextRunner,
    settings: dict[str, Any],
    earlier: tuple[str, ...],
    wanted: tuple[str | None, int] | None,
) -> None:
    """Defaults of 40 and 150, per tool, excluded, without limit by -1 (TAC-12..17, TAC-19)."""
    limit = breach(runner, settings, *earlier)
    assert (None if limit is None else (limit.tool_name, limit.limit)) == wanted


def test_a_limit_for_a_tool_is_named_in_the_environment(runner: ApplicationContextRunner) -> None:
    """A tool's name in a variable matches whatever its case and punctuation (TAC-15)."""
    named = runner.with_environ({"VERNAL_TOOLS__MAX_CALLS_PER_TOOL__GET_FORECAST": "1"})
    limit = breach(named, {}, "get_forecast")
    assert limit is not None
    assert limit.limit == 1


@pytest.mark.parametrize("text", ["return_error_response", "RETURN_ERROR_RESPONSE", "return-error-response"])
def test_a_breached_limit_can_be_told_to_the_model(runner: ApplicationContextRunner, text: str) -> None:
    """`tools.on_limit_exceeded` is read in relaxed form (TAC-18)."""
    environ = {"VERNAL_TOOLS__ON_LIMIT_EXCEEDED": text, "VERNAL_TOOLS__MAX_TOTAL_TOOL_CALLS": "1"}
    with runner.with_environ(environ).run() as run:
        manager = run.context.get(ToolCallingManager)
        assert isinstance(manager, DefaultToolCallingManager)
        assert manager.limits.on_limit_exceeded is OnLimitExceeded.RETURN_ERROR_RESPONSE
        result = manager.execute_tool_calls(prompt("other", tools=[callback("get_forecast")]), calling("get_forecast"))
        last = result.conversation_history[-1]
        assert isinstance(last, ToolResponseMessage)
        assert "limit" in last.responses[0].data


@pytest.mark.parametrize("value", [0, -2])
def test_a_limit_that_is_none_is_refused_at_first_use(runner: ApplicationContextRunner, value: int) -> None:
    """A limit of 0 or below -1 is an error that names the key and what is wanted (TAC-19)."""
    with runner.with_settings({"tools": {"max_total_tool_calls": value}}).run() as run:
        with pytest.raises(Exception, match="greater than 0") as raised:
            run.context.get(ToolCallingManager)
        assert "tools.max_total_tool_calls" in str(raised.value)


def test_a_misspelt_setting_is_refused_with_the_nearest_name(runner: ApplicationContextRunner) -> None:
    """An unknown key in `settings=` ends the start and names what was meant (R28)."""
    with runner.with_settings({"tools": {"throw_exception_on_eror": True}}).run() as run:
        assert isinstance(run.failure, SettingsError)
        assert "throw_exception_on_error" in str(run.failure)


def test_a_static_resolver_of_ones_own_is_used_as_it_is(runner: ApplicationContextRunner) -> None:
    """The manager asks the user's resolver when the fallback is on (RES-01, TAC-09)."""
    own = runner.with_bean(ToolCallbackResolver, StaticToolCallbackResolver([callback("mine")]))
    with own.with_settings({"tools": {"resolution": {"fallback": {"enabled": True}}}}).run() as run:
        result = run.context.get(ToolCallingManager).execute_tool_calls(prompt(), calling("mine"))
        last = result.conversation_history[-1]
        assert isinstance(last, ToolResponseMessage)
        assert last.responses[0].data == "rain in Oslo"


@pytest.mark.parametrize("included", [None, False, True])
def test_content_is_observed_only_when_it_is_asked_for(
    runner: ApplicationContextRunner, included: bool | None, caplog: pytest.LogCaptureFixture
) -> None:
    """`tools.observations.include_content=true` puts content among the keys, with a warning (TAC-04, TOB-04)."""
    settings = {} if included is None else {"tools": {"observations": {"include_content": included}}}
    with runner.with_settings(settings).run() as run:
        convention = run.context.get(ToolCallingObservationConvention)
        manager = run.context.get(ToolCallingManager)
        assert isinstance(manager, DefaultToolCallingManager)
        assert manager.observation_convention is convention
        keys = convention.high_cardinality_keys(ToolCallingObservationContext(tool_definition=DEFINITION))
        assert ("gen_ai.tool.call.arguments" in keys) is bool(included)
        assert bool([record for record in caplog.records if "include_content" in record.getMessage()]) is bool(included)


def test_interceptor_beans_decide_about_calls_in_their_order(runner: ApplicationContextRunner) -> None:
    """Every bean of the type reaches the manager."""
    seen: list[str] = []

    @configuration
    class Interceptors:
        @bean(order=2)
        def second(self) -> ToolCallInterceptor:
            return lambda request: seen.append("second")

        @bean(order=1)
        def first(self) -> ToolCallInterceptor:
            return lambda request: seen.append("first")

    with runner.with_sources(Interceptors).run() as run:
        tools = [callback("get_forecast")]
        run.context.get(ToolCallingManager).execute_tool_calls(prompt(tools=tools), calling("get_forecast"))
    assert seen == ["first", "second"]
