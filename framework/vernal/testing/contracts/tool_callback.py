"""What every tool must hold."""

import asyncio
import json
import re
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from vernal.client.client import ChatClient
from vernal.testing.cancellation import every_cancellation
from vernal.testing.forms import Form
from vernal.testing.scripted import ScriptedChatModel
from vernal.tools.callback import ToolCallback
from vernal.tools.context import ToolContext
from vernal.tools.definition import ToolMetadata
from vernal.tools.exceptions import ToolArgumentsError, ToolExecutionException, ToolFailure
from vernal.tools.result import ToolResult
from vernal.values.messages import ToolCall, ToolResponse, ToolResponseMessage
from vernal.values.responses import ChatResponse

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
REFUSALS = (ToolArgumentsError, ToolFailure)
NO_OBJECTS = ("{oops", "[1]", '"text"')


class ToolCallbackContract:
    """Tests for a `ToolCallback`; a subclass defines `create_tool` and `arguments`.

    The tool gives the same result to the same arguments. `unfit` are further arguments that it must refuse, beside
    those that are no JSON object, and `{}` where the schema has required members.
    """

    arguments = "{}"
    unfit: Sequence[str] = ()

    def create_tool(self) -> ToolCallback:
        """A new tool."""
        raise NotImplementedError(f"{type(self).__name__} has no create_tool; let it give a new tool")

    def test_its_definition_stays_the_same(self) -> None:
        """R24: from one time to the next, after a call, and of another object made alike."""
        tool = self.create_tool()
        first = _written(tool)
        assert _written(tool) == first
        tool.call(self.arguments)
        assert _written(tool) == first
        assert _written(self.create_tool()) == first

    def test_its_definition_can_be_offered(self) -> None:
        """R18: to every service: a short plain name, a description, and a valid JSON schema of an object."""
        from jsonschema.validators import Draft202012Validator, validator_for

        definition = self.create_tool().definition
        assert NAME.fullmatch(definition.name), f"{definition.name!r} is no name that services take: {NAME.pattern}"
        assert definition.description.strip(), "the description is blank, so that no model knows when to call the tool"
        schema = json.loads(json.dumps(dict(definition.input_schema), default=dict, allow_nan=False))
        assert schema.get("type") == "object", f"the schema is of type {schema.get('type')!r}; an object is wanted"
        validator = validator_for(schema, default=Draft202012Validator)
        validator.check_schema(schema)
        validator(schema).validate(json.loads(self.arguments))

    def test_it_says_what_it_is(self) -> None:
        """R29: where it comes from, for error texts; and how it is to be treated, the same each time."""
        tool = self.create_tool()
        assert tool.origin.strip(), "the origin is blank"
        assert isinstance(tool.metadata, ToolMetadata)
        assert tool.metadata == tool.metadata

    def test_both_faces_agree(self) -> None:
        """The result is a text (a `ToolResult` is one), the same from plain code and on an event loop."""
        results = [_called(self.create_tool(), self.arguments, blocking=blocking) for blocking in (True, False)]
        for result in results:
            assert isinstance(result, str), f"{result!r} is no text; what models get is text"
        assert results[0] == results[1]

    def test_it_takes_a_tool_context(self) -> None:
        """What the caller hands to tools may be there or not."""
        context = ToolContext({"contract": True})
        for blocking in (True, False):
            result = _called(self.create_tool(), self.arguments, blocking=blocking, context=context)
            assert result == _called(self.create_tool(), self.arguments, blocking=blocking)

    @pytest.mark.parametrize("form", Form)
    def test_it_runs_in_a_turn(self, form: Form) -> None:
        """Its result goes to the model, as a result and not as an error."""
        response = self._told(form, self.arguments)
        assert not response.is_error, f"the tool failed: {response.data}"

    @pytest.mark.parametrize("blocking", [True, False])
    def test_arguments_that_do_not_fit_are_refused(self, blocking: bool) -> None:
        """R5: with an error that is meant for the model, and never another."""
        for arguments in self._refused():
            try:
                given: object = _called(self.create_tool(), arguments, blocking=blocking)
            except Exception as error:  # noqa: BLE001  # which one it is stands below
                given = error.__cause__ if isinstance(error, ToolExecutionException) else error
            refused = given.is_error if isinstance(given, ToolResult) else isinstance(given, REFUSALS)
            assert refused, f"{arguments!r} gave {given!r}; raise ToolArgumentsError with a text for the model"
            assert str(given).strip(), f"{arguments!r} was refused without a word"

    @pytest.mark.parametrize("form", Form)
    def test_the_model_is_told_of_arguments_that_do_not_fit(self, form: Form) -> None:
        """R5, R13: as an error, and the turn goes on."""
        for arguments in self._refused():
            response = self._told(form, arguments)
            assert response.is_error, f"the arguments {arguments!r} gave the result {response.data!r}"

    @pytest.mark.parametrize("blank", ["", " \n", "null"])
    def test_no_arguments_are_an_empty_object(self, blank: str) -> None:
        """R5: what services send for a tool without arguments is taken, or refused, like `{}`."""
        assert _attempted(self.create_tool(), blank) == _attempted(self.create_tool(), "{}")

    def test_it_runs_many_times_at_once(self) -> None:
        """R16: from several threads and event loops, each with its own result."""
        alone = self.create_tool().call(self.arguments)
        tool, results = self.create_tool(), list[object]()

        def work(blocking: bool) -> None:
            try:
                results.append(_called(tool, self.arguments, blocking=blocking))
            except BaseException as error:  # noqa: BLE001  # shown below, in the thread of the test
                results.append(error)

        async def together() -> list[object]:
            return list(await asyncio.gather(*(tool.acall(self.arguments) for _ in range(4))))

        threads = [threading.Thread(target=work, args=(blocking,)) for blocking in (True, False) * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results + asyncio.run(together()) == [alone] * 8

    def test_it_can_be_cancelled_anywhere(self) -> None:
        """R11, R20: the cancellation comes out, and no task is left."""
        for _ in every_cancellation(lambda: self.create_tool().acall(self.arguments)):
            pass

    def _refused(self) -> list[str]:
        required = self.create_tool().definition.input_schema.get("required")
        return [*NO_OBJECTS, *(["{}"] if required else []), *self.unfit]

    def _told(self, form: Form, arguments: str) -> ToolResponse:
        """What the model is told of a call in a turn."""
        tool = self.create_tool()
        call = ToolCall("1", tool.definition.name, arguments)
        model = ScriptedChatModel([ChatResponse.of(tool_calls=[call]), "Done."])
        form.ask(ChatClient(model).prompt("Go on.").tools(tool))
        said = model.requests[-1].messages[-1]
        assert isinstance(said, ToolResponseMessage), "the result went to the caller, and not to the model"
        (response,) = said.responses
        return response


def _written(tool: ToolCallback) -> str:
    definition = tool.definition
    told = [definition.name, definition.description, dict(definition.input_schema)]
    return json.dumps(told, default=dict)


def _called(tool: ToolCallback, arguments: str, *, blocking: bool, context: ToolContext | None = None) -> Any:
    return tool.call(arguments, context) if blocking else asyncio.run(tool.acall(arguments, context))


def _attempted(tool: ToolCallback, arguments: str) -> object:
    try:
        return tool.call(arguments)
    except (ToolArgumentsError, ToolFailure, ToolExecutionException) as error:
        return type(error.__cause__ or error)
