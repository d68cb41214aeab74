"""Tools changed from outside, and parameters of tools that beans fill."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import pytest

from vernal import (
    ChatClient,
    DefaultToolExecutionExceptionProcessor,
    DelegatingToolCallbackResolver,
    DuplicateToolError,
    FunctionToolCallback,
    Inject,
    InvalidToolError,
    MethodToolCallback,
    StaticToolCallbackProvider,
    StaticToolCallbackResolver,
    ToolCallback,
    ToolContext,
    ToolCustomizer,
    ToolExecutionException,
    ToolMetadata,
    ToolParam,
    tool,
    tool_callbacks,
)
from vernal.testing import ScriptedChatModel, tool_call
from vernal.tools.customization import AdjustedToolCallback, customized


class Clock:
    def now(self) -> str:
        return "noon"


@tool
def tell_time(city: str, clock: Annotated[Clock, Inject]) -> str:
    """Tell the time.

    Args:
        city: Where.
        clock: Never shown to a model.
    """
    return f"{clock.now()} in {city}"


class Tower:
    @tool(timeout=9.0)
    async def ring(
        self,
        times: Annotated[int, ToolParam(description="How often")],
        context: ToolContext,
        /,
        *,
        clock: Annotated[Clock | None, Inject()] = None,
    ) -> str:
        """Ring the bell."""
        return f"{times} times at {clock.now() if clock else 'no time'} for {context.get('who')}"


def offered(*names: str) -> list[ToolCallback]:
    def echo(text: str = "") -> str:
        """Say it again."""
        return text

    return [FunctionToolCallback(echo, name=name) for name in names]


class Making(ToolCustomizer):
    """Customizes with a function."""

    def __init__(self, customize: Callable[[Sequence[ToolCallback]], Any]) -> None:
        self._customize = customize

    def customize(self, callbacks: Sequence[ToolCallback]) -> Sequence[ToolCallback]:
        made: Sequence[ToolCallback] = self._customize(callbacks)
        return made


def without(name: str) -> ToolCustomizer:
    return Making(lambda callbacks: [one for one in callbacks if one.definition.name != name])


def test_an_injected_parameter_is_no_part_of_the_schema() -> None:
    """The model is told of the other parameters only, also of a method with everything before the bean by position."""
    (time,) = tool_callbacks(tell_time)
    assert isinstance(time, FunctionToolCallback)
    assert list(time.definition.input_schema["properties"]) == ["city"]
    assert [(one.name, one.has_default) for one in time.injected] == [("clock", False)]
    (ring,) = tool_callbacks(Tower())
    assert isinstance(ring, MethodToolCallback)
    assert list(ring.definition.input_schema["properties"]) == ["times"]
    assert [(one.name, one.has_default) for one in ring.injected] == [("clock", True)]


def test_beans_fill_the_parameter_at_each_call() -> None:
    """What `with_beans` names is asked for at each call; the tool itself stays as it was."""
    given: list[Clock] = []

    def clock() -> Clock:
        given.append(Clock())
        return given[-1]

    time = FunctionToolCallback(tell_time)
    bound = time.with_beans({"clock": clock})
    assert bound.call('{"city": "Oslo"}') == bound.call('{"city": "Oslo"}') == "noon in Oslo"
    assert len(given) == 2
    (ring,) = tool_callbacks(Tower())
    assert isinstance(ring, FunctionToolCallback)
    filled = ring.with_beans({"clock": clock})
    assert asyncio.run(filled.acall('{"times": 3}', ToolContext({"who": "you"}))) == "3 times at noon for you"
    with pytest.raises(ToolExecutionException, match="no application context fills it"):
        time.call('{"city": "Oslo"}')


def test_an_argument_of_the_model_never_takes_the_place_of_a_bean() -> None:
    """A model that names the parameter all the same is not heard, also where the tool takes any name."""

    def anything(clock: Annotated[Clock, Inject], **more: Any) -> str:
        """Take anything."""
        return f"{type(clock).__name__} and {sorted(more)}"

    bound = FunctionToolCallback(anything).with_beans({"clock": Clock})
    assert bound.call('{"clock": "forged", "other": 1}') == "Clock and ['other']"


def test_a_default_does_without_beans() -> None:
    """A parameter with a default is left to it where nothing fills it."""
    (ring,) = tool_callbacks(Tower())
    assert asyncio.run(ring.acall('{"times": 1}')) == "1 times at no time for None"
    assert isinstance(ring, FunctionToolCallback)
    assert asyncio.run(ring.with_beans({}).acall('{"times": 1}')) == "1 times at no time for None"


def test_a_client_without_a_context_tells_the_developer_not_the_model() -> None:
    """The error names tool, parameter and cure, and ends the turn whatever the exception processor would tell."""
    model = ScriptedChatModel([tool_call("tell_time", city="Oslo"), "It is late."])
    with pytest.raises(InvalidToolError, match=r"'clock' of tool 'tell_time'.*take the ChatClient from the context"):
        ChatClient(model).prompt("Time?").tools(tell_time).call().content()
    error = ToolExecutionException(offered("a")[0].definition, InvalidToolError("never callable"))
    with pytest.raises(InvalidToolError):
        DefaultToolExecutionExceptionProcessor(error_text="fixed").process(error)


def test_a_positional_only_bean_is_refused() -> None:
    """Beans are given by name, so that a tool cannot want one by position."""

    def wrong(clock: Annotated[Clock, Inject], /) -> None:
        """Wrong."""

    with pytest.raises(InvalidToolError, match="positional-only"):
        FunctionToolCallback(wrong)


def test_an_adjusted_tool_is_the_same_tool_with_another_face() -> None:
    """Description, timeout and return-direct change; name, schema, origin, other metadata and behaviour do not."""

    @tool(timeout=5, exclusive=True)
    async def ask(text: str, context: ToolContext) -> str:
        """Ask."""
        return f"{text} {context['who']}"

    (plain,) = tool_callbacks(ask)
    adjusted = AdjustedToolCallback(plain, description="Ask politely.", timeout=2.5, return_direct=True)
    assert adjusted.definition.description == "Ask politely."
    assert (adjusted.definition.name, adjusted.definition.input_schema) == ("ask", plain.definition.input_schema)
    assert adjusted.metadata == ToolMetadata(timeout=2.5, exclusive=True, return_direct=True)
    assert adjusted.origin == plain.origin
    assert adjusted.call('{"text": "Hello"}', ToolContext({"who": "you"})) == "Hello you"
    kept = AdjustedToolCallback(plain)
    assert (kept.definition, kept.metadata) == (plain.definition, plain.metadata)


def test_customizers_run_in_order_and_may_take_away_and_add() -> None:
    """Each gets what the one before it gave; what gives no list is named."""
    first, second = offered("first", "second")

    twice = Making(lambda callbacks: [*callbacks, second])
    assert customized([first], [twice, without("first")]) == (second,)
    assert tool_callbacks(first, customizers=[twice]) == (first, second)
    with pytest.raises(DuplicateToolError):
        tool_callbacks(first, customizers=[twice, twice])
    with pytest.raises(TypeError, match=r"tool customizer Making gave None"):
        customized([first], [Making(lambda callbacks: None)])
    with pytest.raises(NotImplementedError, match="ToolCustomizer has no method 'customize'"):
        ToolCustomizer().customize([first])


def test_a_client_customizes_the_tools_of_each_request() -> None:
    """Tools of the request, of providers and of the model's own options pass through; taken away, none are offered."""
    first, second = offered("first", "second")
    model = ScriptedChatModel(["Done."] * 4)
    client = ChatClient.builder(model).tool_customizers(without("first")).build()

    def names(*tools: Any) -> list[str]:
        client.prompt("Go.").tools(*tools).call().content()
        callbacks = model.requests[-1].options.tool_callbacks  # type: ignore[union-attr]  # a client sets options
        return [one.definition.name for one in callbacks or ()]

    assert names(first, second) == ["second"]
    assert names(StaticToolCallbackProvider(first), second) == ["second"]
    assert names(first) == []
    assert client.mutate().build().prompt("Go.").tools(first).call().content() == "Done."
    assert not model.requests[-1].options.tool_callbacks  # type: ignore[union-attr]  # the same
    with pytest.raises(TypeError, match="among the tool customizers is 'first'"):
        ChatClient.builder(model).tool_customizers("first")  # type: ignore[arg-type]  # what is refused


def test_two_tools_of_one_name_may_be_told_apart_by_a_customizer() -> None:
    """R29: duplicates are looked for among the tools that are offered in the end."""
    twins = offered("same", "same")
    model = ScriptedChatModel(["Done."])
    with pytest.raises(DuplicateToolError):
        ChatClient(model).prompt("Go.").tools(*twins).call()
    client = ChatClient.builder(model).tool_customizers(Making(lambda callbacks: callbacks[:1])).build()
    assert client.prompt("Go.").tools(*twins).call().content() == "Done."


def test_a_resolver_customizes_what_it_finds() -> None:
    """A tool that is found by name is changed, or not found at all."""
    resolver = StaticToolCallbackResolver(offered("first", "second"))
    delegating = DelegatingToolCallbackResolver([resolver], customizers=[without("first")])
    assert delegating.resolve("first") is None
    assert delegating.resolve("second") is resolver.resolve("second")
    assert delegating.resolve("third") is None
