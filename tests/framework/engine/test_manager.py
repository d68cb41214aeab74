"""What the manager does with the tool calls of a response (TCM), by hand and in the loop."""

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest

from vernal import (
    AssistantMessage,
    ChatOptions,
    ChatResponse,
    DefaultToolCallingManager,
    DefaultToolExecutionExceptionProcessor,
    DuplicateToolError,
    FunctionToolCallback,
    Generation,
    Prompt,
    StaticToolCallbackResolver,
    ToolCall,
    ToolCallback,
    ToolCallingChatOptions,
    ToolContext,
    ToolDefinition,
    ToolExecutionException,
    ToolResponse,
    ToolResponseMessage,
    UsageError,
    UserMessage,
    tool_callbacks,
)
from vernal.testing import assert_replayable
from vernal.values.arguments import RAW_ARGUMENTS

if TYPE_CHECKING:
    from tests.framework.engine.conftest import Execute

MANAGER = DefaultToolCallingManager()


class Recording(ToolCallback):
    """A bare callback that keeps the text it is called with."""

    def __init__(self, name: str = "record", result: Any = "Mission accomplished!") -> None:
        self._definition = ToolDefinition(name, "Records.", {"type": "object", "properties": {}})
        self._result = result
        self.inputs: list[str] = []
        self.contexts: list[ToolContext | None] = []

    @property
    def definition(self) -> ToolDefinition:
        return self._definition

    async def acall(self, tool_input: str, tool_context: ToolContext | None = None) -> str:
        self.inputs.append(tool_input)
        self.contexts.append(tool_context)
        if isinstance(self._result, Exception):
            raise self._result
        text: str = self._result
        return text


def options(*callbacks: ToolCallback, **context: Any) -> ToolCallingChatOptions:
    return ToolCallingChatOptions(tool_callbacks=callbacks, tool_context=context or None)


def prompt(*callbacks: ToolCallback, **context: Any) -> Prompt:
    return Prompt("Go on.", options(*callbacks, **context))


def asking(*calls: ToolCall) -> ChatResponse:
    return ChatResponse.of(tool_calls=calls)


def answers(history: tuple[Any, ...]) -> list[tuple[str, str, str, bool]]:
    """Id, name, data and error flag of the responses in the last message."""
    assert isinstance(history[-1], ToolResponseMessage)
    return [(r.id, r.name, r.data, r.is_error) for r in history[-1].responses]


def test_a_manager_needs_nothing() -> None:
    """TCM-01: every field has a default."""
    assert DefaultToolCallingManager().resolution_fallback_enabled is False


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda: DefaultToolCallingManager(observation_registry=None), "observation_registry is None"),  # type: ignore[arg-type]  # a wrong kind
        (lambda: DefaultToolCallingManager(observation_convention=None), "observation_convention is None"),  # type: ignore[arg-type]  # a wrong kind
        (lambda: DefaultToolCallingManager(tool_callback_resolver=None), "tool_callback_resolver is None"),  # type: ignore[arg-type]  # a wrong kind
        (
            lambda: DefaultToolCallingManager(tool_execution_exception_processor=None),  # type: ignore[arg-type]  # a wrong kind
            "tool_execution_exception_processor is None",
        ),
        (lambda: MANAGER.resolve_tool_definitions(None), "options is None"),  # type: ignore[arg-type]  # a wrong kind
        (lambda: MANAGER.execute_tool_calls(None, asking()), "prompt is None"),  # type: ignore[arg-type]  # a wrong kind
        (lambda: MANAGER.execute_tool_calls(prompt(), None), "chat_response is None"),  # type: ignore[arg-type]  # a wrong kind
    ],
)
def test_wrong_kinds_are_refused_by_name(make: Any, wanted: str) -> None:
    """TCM-02, TCM-03, TCM-04, TCM-05, TCM-08, TCM-09: the text names the part and what was given."""
    with pytest.raises(TypeError, match=wanted):
        make()


@pytest.mark.parametrize(
    ("field", "value"),
    [("max_parallel_calls", 0), ("max_parallel_calls", -1), ("tool_timeout", 0), ("tool_timeout", -0.5)],
)
def test_numbers_out_of_range_are_refused(field: str, value: Any) -> None:
    """R16: the bound and the timeout are positive; the text names field and value."""
    with pytest.raises(ValueError, match=f"{field} is {value!r}"):
        DefaultToolCallingManager(**{field: value})


def test_definitions_are_those_of_the_callbacks_in_order() -> None:
    """TCM-06, TCM-07: exactly the callbacks' definitions; none for no callbacks; the resolver is not asked."""
    first, second = Recording("b"), Recording("a")
    manager = DefaultToolCallingManager(tool_callback_resolver=StaticToolCallbackResolver([Recording("hidden")]))
    assert manager.resolve_tool_definitions(options(first)) == [first.definition]
    assert manager.resolve_tool_definitions(options(first, second)) == [first.definition, second.definition]
    assert manager.resolve_tool_definitions(ToolCallingChatOptions()) == []
    assert manager.resolve_tool_definitions(options()) == []


@pytest.mark.parametrize("response", [ChatResponse(), ChatResponse.of("No tools needed.")])
def test_a_response_without_tool_calls_is_refused(execute_by_hand: "Execute", response: ChatResponse) -> None:
    """TCM-10: executing needs something to execute; the text says what to ask first."""
    with pytest.raises(UsageError, match=r"No tool call requested by the chat model.*has_tool_calls"):
        execute_by_hand(MANAGER, prompt(Recording()), response)


def test_a_tool_that_was_not_offered_does_not_run(execute: "Execute") -> None:
    """TCM-11, R7: what only the resolver knows is answered as unknown, with the tools on offer."""
    hidden, offered = Recording("hidden"), Recording("offered")
    manager = DefaultToolCallingManager(tool_callback_resolver=StaticToolCallbackResolver([hidden]))
    result = execute(manager, prompt(offered), asking(ToolCall("1", "hidden")))
    assert answers(result.conversation_history) == [
        ("1", "hidden", "There is no tool 'hidden'. Available tools: offered.", True)
    ]
    assert hidden.inputs == []
    assert not result.return_direct


def test_with_no_tools_at_all_the_model_is_told_so(execute: "Execute") -> None:
    """R7: an unknown name where nothing is on offer."""
    result = execute(MANAGER, prompt(), asking(ToolCall("1", "ghost")))
    [(_, _, data, is_error)] = answers(result.conversation_history)
    assert "no tools are available" in data
    assert is_error


def test_with_the_fallback_the_resolver_is_asked(execute: "Execute") -> None:
    """TCM-12: `resolution_fallback_enabled` lets the resolver's tools run."""
    hidden = Recording("hidden")
    manager = DefaultToolCallingManager(
        tool_callback_resolver=StaticToolCallbackResolver([hidden]), resolution_fallback_enabled=True
    )
    result = execute(manager, prompt(), asking(ToolCall("1", "hidden")))
    assert answers(result.conversation_history) == [("1", "hidden", "Mission accomplished!", False)]


def test_the_tools_of_the_request_come_before_the_resolver(execute: "Execute") -> None:
    """TCM-13: of a name that both know, the request's callback runs."""
    own, other = Recording("same", "own"), Recording("same", "other")
    manager = DefaultToolCallingManager(
        tool_callback_resolver=StaticToolCallbackResolver([other]), resolution_fallback_enabled=True
    )
    result = execute(manager, prompt(own), asking(ToolCall("1", "same")))
    assert answers(result.conversation_history) == [("1", "same", "own", False)]
    assert other.inputs == []


def test_two_tools_of_one_name_are_refused(execute: "Execute") -> None:
    """TCM-13, R29: the first of two equal names does not silently win; both origins are named."""
    with pytest.raises(DuplicateToolError, match="same") as caught:
        execute(MANAGER, prompt(Recording("same"), Recording("same")), asking(ToolCall("1", "same")))
    assert len(caught.value.origins) == 2
    with pytest.raises(DuplicateToolError, match="same"):
        MANAGER.resolve_tool_definitions(options(Recording("same"), Recording("same")))


def test_the_history_is_prompt_calls_and_answers(execute: "Execute") -> None:
    """TCM-14, TCM-20: the prompt's messages, the assistant message with its calls, one message with the answer."""
    tool = Recording()
    call = ToolCall("call-7", "record", '{"a": 1}')
    result = execute(MANAGER, prompt(tool), asking(call))
    assert result.conversation_history == (
        UserMessage("Go on."),
        AssistantMessage(tool_calls=(call,)),
        ToolResponseMessage((ToolResponse("call-7", "record", "Mission accomplished!"),)),
    )


def test_two_calls_are_answered_in_one_message_in_call_order(execute: "Execute") -> None:
    """TCM-15: one response message, two responses, in the order of the calls."""
    result = execute(
        MANAGER, prompt(Recording("a", "A"), Recording("b", "B")), asking(ToolCall("2", "b"), ToolCall("1", "a"))
    )
    assert answers(result.conversation_history) == [("2", "b", "B", False), ("1", "a", "A", False)]
    assert len(result.conversation_history) == 3


@pytest.mark.parametrize("first", [AssistantMessage("Hello."), None])
def test_the_first_generation_with_calls_is_executed(execute: "Execute", first: AssistantMessage | None) -> None:
    """TCM-16, TCM-17: of several generations the first that has calls runs, and it alone goes into the history."""
    one, two = Recording("one"), Recording("two")
    wanted = AssistantMessage(tool_calls=(ToolCall("1", "one"),))
    other = AssistantMessage(tool_calls=(ToolCall("2", "two"),))
    outputs = [wanted, other] if first is None else [first, wanted, other]
    result = execute(MANAGER, prompt(one, two), ChatResponse(map(Generation, outputs)))
    assert result.conversation_history[1:-1] == (wanted,)
    assert (one.inputs, two.inputs) == (["{}"], [])


def test_method_tools_get_the_context_and_json_stays_as_it_is(execute: "Execute") -> None:
    """TCM-18: both results are in one message; a text that is JSON already goes through byte for byte."""
    text = '{ "answer" :  42,\t"quoted": "\\u00e9" }'

    class Tools:
        def plain(self) -> str:
            return text

        def with_context(self, context: ToolContext) -> str:
            return json.dumps(dict(context))

    tools = Tools()
    given = prompt(*tool_callbacks(tools.plain, tools.with_context), key="value")
    result = execute(MANAGER, given, asking(ToolCall("1", "plain"), ToolCall("2", "with_context")))
    assert answers(result.conversation_history) == [
        ("1", "plain", text, False),
        ("2", "with_context", '{"key": "value"}', False),
    ]


def test_a_failure_is_told_to_the_model(execute: "Execute") -> None:
    """TCM-19, R13: the message of a ToolExecutionException is the answer, marked as an error; nothing is raised."""
    tool = Recording()
    tool._result = ToolExecutionException(tool.definition, RuntimeError("You failed this city!"))
    result = execute(MANAGER, prompt(tool), asking(ToolCall("1", "record")))
    assert answers(result.conversation_history) == [("1", "record", "You failed this city!", True)]


def test_any_exception_of_a_bare_callback_is_processed(execute: "Execute") -> None:
    """TCM-36, R11: an exception that is no ToolExecutionException is judged by the processor as well."""
    tool = Recording(result=ValueError("no such city"))
    result = execute(MANAGER, prompt(tool), asking(ToolCall("1", "record")))
    assert answers(result.conversation_history) == [("1", "record", "no such city", True)]
    strict = DefaultToolCallingManager(
        tool_execution_exception_processor=DefaultToolExecutionExceptionProcessor(always_throw=True)
    )
    with pytest.raises(ToolExecutionException, match="no such city") as caught:
        execute(strict, prompt(tool), asking(ToolCall("1", "record")))
    assert isinstance(caught.value.__cause__, ValueError)
    assert caught.value.tool_definition is tool.definition


@pytest.mark.parametrize("given", [None, ChatOptions(temperature=0.5), ToolCallingChatOptions()])
def test_without_tool_options_the_fallback_still_runs(execute: "Execute", given: ChatOptions | None) -> None:
    """TCM-22: no options, or options of another kind: the tool resolves, and gets an empty context, never None."""
    hidden = Recording("hidden")
    manager = DefaultToolCallingManager(
        tool_callback_resolver=StaticToolCallbackResolver([hidden]), resolution_fallback_enabled=True
    )
    execute(manager, Prompt("Go on.", given), asking(ToolCall("1", "hidden")))
    assert hidden.contexts == [ToolContext()]
    assert isinstance(hidden.contexts[0], ToolContext)


def test_a_tool_cannot_alter_the_context_of_the_options(execute: "Execute") -> None:
    """TCM-23: the context is a read-only mapping; the options' map is out of a tool's reach."""
    refused: list[bool] = []

    def write(context: ToolContext) -> str:
        for mapping in (context, context.context):
            try:
                mapping["tenant"] = "evil"  # type: ignore[index]  # what must not work
            except TypeError:
                refused.append(True)
        return "tried"

    given = prompt(FunctionToolCallback(write), tenant="acme")
    result = execute(MANAGER, given, asking(ToolCall("1", "write")))
    assert answers(result.conversation_history) == [("1", "write", "tried", False)]
    assert refused == [True, True]
    assert isinstance(given.options, ToolCallingChatOptions)
    assert given.options.tool_context == {"tenant": "acme"}


@pytest.mark.parametrize("blank", [None, "", "  \n\t"])
def test_blank_arguments_are_an_empty_object(execute: "Execute", blank: Any, caplog: pytest.LogCaptureFixture) -> None:
    """TCM-24, TCM-25, R5: the callback gets "{}", the history holds "{}", and one warning names the tool."""
    tool = Recording()
    with caplog.at_level(logging.WARNING, "vernal.tools"):
        result = execute(MANAGER, prompt(tool), asking(ToolCall("1", "record", blank)))
    assert tool.inputs == ["{}"]
    assert answers(result.conversation_history) == [("1", "record", "Mission accomplished!", False)]
    assert result.conversation_history[1] == AssistantMessage(tool_calls=(ToolCall("1", "record", "{}"),))
    assert [record.getMessage() for record in caplog.records if "'record'" in record.getMessage()] == [
        "the arguments of a call of tool 'record' are blank; {} is taken instead"
    ]


def test_arguments_reach_the_callback_verbatim(execute: "Execute") -> None:
    """TCM-26: nested JSON arrives as the very text that the model produced."""
    tool, text = Recording(), '{"a":{"b":[1, 2.50,{"c" : "\\u00e9 é"}]},  "d":null}'
    result = execute(MANAGER, prompt(tool), asking(ToolCall("1", "record", text)))
    assert tool.inputs == [text]
    assert result.conversation_history[1] == AssistantMessage(tool_calls=(ToolCall("1", "record", text),))


def test_malformed_arguments_are_left_to_the_callback_and_kept_out_of_the_history(execute: "Execute") -> None:
    """TCM-27, R1: the manager does not judge the text; what is stored is `{}` with the raw text beside it."""
    tool = Recording()
    result = execute(MANAGER, prompt(tool), asking(ToolCall("1", "record", "{invalid json}")))
    assert tool.inputs == ["{invalid json}"]
    message = result.conversation_history[1]
    assert isinstance(message, AssistantMessage)
    assert message.tool_calls[0].arguments == "{}"
    assert message.tool_calls[0].metadata[RAW_ARGUMENTS] == "{invalid json}"
    assert_replayable(result.conversation_history)


@pytest.mark.parametrize(
    ("result", "text"),
    [(None, "Done (no result)"), ({"a": 1}, '{"a":1}'), (7, "7"), ("", ""), ("7", "7")],
)
def test_results_of_bare_callbacks_have_the_form_of_all_results(execute: "Execute", result: Any, text: str) -> None:
    """TCM-28, R15: None has one form for all kinds of tools; what is no text becomes JSON."""
    outcome = execute(MANAGER, prompt(Recording(result=result)), asking(ToolCall("1", "record")))
    assert answers(outcome.conversation_history) == [("1", "record", text, False)]


def test_a_result_without_any_form_is_a_failure_of_the_tool(execute: "Execute") -> None:
    """R15, R9: an object that cannot become text is told as an error, and ends nothing."""
    outcome = execute(MANAGER, prompt(Recording(result=object())), asking(ToolCall("1", "record")))
    [(_, _, data, is_error)] = answers(outcome.conversation_history)
    assert is_error
    assert "cannot become JSON" in data
