"""Tools that each do one thing wrong, and the checks of the suite that must see it (`fails`)."""

import asyncio
import itertools
import json
from typing import Any

from vernal import FunctionToolCallback, ToolArgumentsError, ToolCallback, ToolContext, ToolDefinition
from vernal.testing import ToolCallbackContract


async def look(city: str = "Oslo") -> str:
    """Look at a city."""
    await asyncio.sleep(0)
    return f"seen {city}"


class _Around(ToolCallback):
    """Does what a sound tool does."""

    tool = FunctionToolCallback(look)

    @property
    def definition(self) -> ToolDefinition:
        return self.tool.definition

    async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
        return await self.tool.acall(tool_input, tool_context)


class _Suite(ToolCallbackContract):
    """The suite around a tool in which something is wrong."""

    arguments = '{"city": "Lima"}'
    unfit = ('{"city": 7}',)
    broken: type[ToolCallback]

    def create_tool(self) -> ToolCallback:
        return self.broken()


class TestSound(_Suite):
    """Nothing is wrong."""

    fails: frozenset[str] = frozenset()
    broken = _Around


class TestCountsItsUses(_Suite):
    """The description is another each time."""

    fails = frozenset({"test_its_definition_stays_the_same"})

    class broken(_Around):  # noqa: N801  # stands where the attribute stands
        numbers = itertools.count()

        @property
        def definition(self) -> ToolDefinition:
            sound = self.tool.definition
            return ToolDefinition(sound.name, f"{sound.description} ({next(self.numbers)})", sound.input_schema)


class TestNamedInWords(_Suite):
    """The name has a blank in it."""

    fails = frozenset({"test_its_definition_can_be_offered"})

    class broken(_Around):  # noqa: N801
        @property
        def definition(self) -> ToolDefinition:
            return ToolDefinition("look at", "Look at a city.", self.tool.definition.input_schema)


class TestFromNowhere(_Suite):
    """Nobody knows where it comes from."""

    fails = frozenset({"test_it_says_what_it_is"})

    class broken(_Around):  # noqa: N801
        origin = ""


class TestTwoTools(_Suite):
    """The blocking face does something else."""

    fails = frozenset({"test_both_faces_agree", "test_it_runs_many_times_at_once"})

    class broken(_Around):  # noqa: N801
        async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
            return await super().acall(tool_input, tool_context)

        def call(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
            return f"{self.tool.call(tool_input, tool_context)}."


class TestWithoutContext(_Suite):
    """Whoever hands something to tools is turned away."""

    fails = frozenset({"test_it_takes_a_tool_context"})

    class broken(_Around):  # noqa: N801
        async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
            if tool_context is not None and "contract" in tool_context:
                raise TypeError("no context is wanted")
            return await super().acall(tool_input)


class TestNeedsATenant(_Suite):
    """Without something from the caller it fails."""

    fails = frozenset({"test_it_runs_in_a_turn"})

    class broken(_Around):  # noqa: N801
        async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
            if tool_context is not None and "contract" not in tool_context:
                raise LookupError("whose is it?")
            return await super().acall(tool_input)


class TestGivesAnObject(_Suite):
    """The result is no text."""

    fails = frozenset({"test_both_faces_agree"})

    class broken(_Around):  # noqa: N801
        async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> Any:
            return {"seen": await super().acall(tool_input, tool_context)}


class TestRaisesWhatItRaises(_Suite):
    """Arguments are read without a check."""

    fails = frozenset({"test_arguments_that_do_not_fit_are_refused", "test_no_arguments_are_an_empty_object"})

    class broken(_Around):  # noqa: N801
        async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
            city: str = json.loads(tool_input)["city"]
            return "seen " + city


class TestTellsAsAResult(_Suite):
    """What is refused looks like a result."""

    fails = frozenset(
        {"test_arguments_that_do_not_fit_are_refused", "test_the_model_is_told_of_arguments_that_do_not_fit"}
    )

    class broken(_Around):  # noqa: N801
        async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
            try:
                return await super().acall(tool_input, tool_context)
            except Exception as error:  # noqa: BLE001  # that is what is wrong
                return f"Error: {error}"


class TestWantsAnObject(_Suite):
    """No arguments are refused, though none are needed."""

    fails = frozenset({"test_no_arguments_are_an_empty_object"})

    class broken(_Around):  # noqa: N801
        async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
            if not tool_input.startswith("{"):
                raise ToolArgumentsError("give an object")
            return await super().acall(tool_input, tool_context)


class TestOneAtATime(_Suite):
    """Whoever comes while it runs is turned away."""

    fails = frozenset({"test_it_runs_many_times_at_once"})

    class broken(_Around):  # noqa: N801
        busy = False

        async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
            if self.busy:
                raise RuntimeError("it runs")
            self.busy = True
            try:
                return await super().acall(tool_input, tool_context)
            finally:
                self.busy = False


class TestSwallowsCancellation(_Suite):
    """A cancelled call has a result."""

    fails = frozenset({"test_it_can_be_cancelled_anywhere"})

    class broken(_Around):  # noqa: N801
        async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
            try:
                return await super().acall(tool_input, tool_context)
            except asyncio.CancelledError:
                return "cancelled"
