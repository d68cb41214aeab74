"""`ToolSearchToolCallingAdvisor`: what the model is offered, round by round and turn by turn."""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from vernal import (
    HIGHEST_PRECEDENCE,
    Allow,
    ApprovalInterceptor,
    AssistantMessage,
    ChatClient,
    ChatClientRequestSpec,
    DefaultToolCallingManager,
    DefaultToolExecutionExceptionProcessor,
    DuplicateToolError,
    FunctionToolCallback,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    Prompt,
    SuspendedTurn,
    ToolCallback,
    ToolCallingChatOptions,
    ToolContext,
    ToolResponse,
    ToolResponseMessage,
    TurnSuspended,
    UsageError,
    UserMessage,
    tool,
)
from vernal.testing import ScriptedChatModel, tool_call
from vernal_tool_search import (
    DEFAULT_SYSTEM_MESSAGE_SUFFIX,
    LruEviction,
    RegexToolIndex,
    ToolReference,
    ToolSearchToolCallingAdvisor,
)

SEARCH = "toolSearchTool"


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


@tool
def clothing(weather: str) -> str:
    """What to wear."""
    return "a coat"


@tool
def currency(code: str) -> str:
    """The rate of a currency."""
    return "1.08"


TOOLS = (weather, clothing, currency)


def search(query: str, **more: Any) -> Any:
    """The model looks for tools."""
    return tool_call(SEARCH, query=query, **more)


def offered(prompt: Prompt) -> list[str]:
    """The names of the tools that the model was offered, in their order."""
    assert isinstance(prompt.options, ToolCallingChatOptions)
    return [callback.definition.name for callback in prompt.options.tool_callbacks or ()]


class Assistant:
    """A client with a tool search and a scripted model."""

    def __init__(self, index: RegexToolIndex, script: Iterable[Any], *advisors: Any, **fields: Any) -> None:
        self.model = ScriptedChatModel(script)
        self.advisor = ToolSearchToolCallingAdvisor(tool_index=index, **fields)
        self.client = ChatClient.builder(self.model).tool_advisor(self.advisor).default_advisors(*advisors).build()

    def spec(self, session: str = "s", tools: tuple[Any, ...] = TOOLS, text: str = "Go.") -> ChatClientRequestSpec:
        return self.client.prompt(text).tools(*tools).advisors(conversation_id=session)

    @property
    def last_answer(self) -> ToolResponse:
        """What the model was told last of a tool that it called."""
        message = self.model.requests[-1].messages[-1]
        assert isinstance(message, ToolResponseMessage)
        return message.responses[0]

    @property
    def offers(self) -> list[list[str]]:
        """What was offered in each round."""
        return [offered(prompt) for prompt in self.model.requests]


def test_the_model_sees_a_search_and_what_it_has_found(ask: Any, index: Any) -> None:
    """TSA-12, TSA-13: each round offers `toolSearchTool` and the tools named by its answers so far, new ones last."""
    script = [search("what to wear"), search("weather"), tool_call("weather", city="Oslo"), "Sunny."]
    assistant = Assistant(index, script)
    assert ask(assistant.spec()) == "Sunny."
    assert assistant.offers == [
        [SEARCH],
        [SEARCH, "clothing"],
        [SEARCH, "clothing", "weather"],
        [SEARCH, "clothing", "weather"],
    ]
    assert assistant.last_answer.data == "sunny in Oslo"


def test_the_tools_are_indexed_when_their_session_is_first_seen(ask: Any, index: Any) -> None:
    """TSA-03, TSA-11: cleared once and filled once, with name and description of every tool in order, under the id."""
    ask(Assistant(index, ["Hi."]).spec("session-1"))
    assert index.cleared == ["session-1"]
    references = [
        ToolReference("weather", "The weather of a city."),
        ToolReference("clothing", "What to wear."),
        ToolReference("currency", "The rate of a currency."),
    ]
    assert index.indexed == [("session-1", references)]


def test_the_tools_are_indexed_again_only_when_they_change(ask: Any, index: Any) -> None:
    """TSA-05..07, TSA-10: not for a further turn, nor for another order; the index stays when a turn ends."""
    assistant = Assistant(index, ["1", "2", "3", "4"])
    ask(assistant.spec())
    ask(assistant.spec())
    ask(assistant.spec(tools=tuple(reversed(TOOLS))))
    assert (len(index.cleared), len(index.indexed)) == (1, 1)
    assert index.size("s") == 3
    ask(assistant.spec(tools=(weather, clothing)))
    assert (len(index.cleared), len(index.indexed)) == (2, 2)
    assert index.size("s") == 2


@pytest.mark.parametrize(
    ("system", "suffix", "expected"),
    [
        ("Be brief.", " Search.", "Be brief. Search."),
        ("Be brief.", DEFAULT_SYSTEM_MESSAGE_SUFFIX, f"Be brief.{DEFAULT_SYSTEM_MESSAGE_SUFFIX}"),
        (None, DEFAULT_SYSTEM_MESSAGE_SUFFIX, DEFAULT_SYSTEM_MESSAGE_SUFFIX.strip()),
        ("Be brief.", "", "Be brief."),
        (None, "", ""),
    ],
)
def test_the_system_message_tells_of_the_search(
    ask: Any, index: Any, system: str | None, suffix: str, expected: str
) -> None:
    """TSA-04: the suffix follows the system message, in every round once; without one it is the system message."""
    assistant = Assistant(index, [search("weather"), "Done."], system_message_suffix=suffix)
    spec = assistant.spec()
    ask(spec.system(system) if system else spec)
    assert [prompt.system_message.text for prompt in assistant.model.requests] == [expected, expected]


def test_a_session_is_evicted_when_there_is_no_room(ask: Any, index: Any) -> None:
    """TSA-08: with room for one, the request of session B clears A, which makes three clearings, then B is indexed."""
    assistant = Assistant(index, ["1", "2"], eviction_strategy=LruEviction(1))
    ask(assistant.spec("A"))
    ask(assistant.spec("B"))
    assert index.cleared == ["A", "A", "B"]
    assert (index.size("A"), index.size("B")) == (0, 3)


def test_a_session_can_be_evicted_by_hand(ask: Any, index: Any) -> None:
    """TSA-09: its tools are cleared and what it found is forgotten; its next request indexes them again."""
    assistant = Assistant(index, [search("weather"), "1", "2"])
    ask(assistant.spec("conv-1"))
    assistant.advisor.evict_session("conv-1")
    assert index.size("conv-1") == 0
    ask(assistant.spec("conv-1"))
    assert index.size("conv-1") == 3
    assert assistant.offers[-1] == [SEARCH]


def test_a_session_that_is_evicted_in_the_middle_of_its_turn_finds_its_tools(ask: Any, index: Any) -> None:
    """What another session displaces between two rounds is indexed again in the next round."""

    @tool
    def displace() -> str:
        """Displace the session."""
        assistant.advisor.evict_session("s")
        return "displaced"

    assistant = Assistant(index, [search("displace"), tool_call("displace"), search("wear"), "Done."])
    ask(assistant.spec(tools=(*TOOLS, displace)))
    assert assistant.offers[-1] == [SEARCH, "displace", "clothing"]


@pytest.mark.parametrize("parameters", [{}, {"conversation_id": " "}])
def test_a_request_without_a_session_is_refused(ask: Any, index: Any, parameters: dict[str, Any]) -> None:
    """TSA-11: the error names the parameter."""
    spec = Assistant(index, []).client.prompt("Go.").tools(*TOOLS).advisors(**parameters)
    with pytest.raises(UsageError, match="context must contain a non-null value for 'conversation_id'"):
        ask(spec)


def test_another_parameter_may_name_the_session(ask: Any, index: Any) -> None:
    """TSA-11: the session is what the configured key says, as text."""
    assistant = Assistant(index, ["Hi."], session_id_key_name="tenant")
    ask(assistant.client.prompt("Go.").tools(*TOOLS).advisors(tenant=7))
    assert index.cleared == ["7"]


def said_before(*rounds: list[tuple[str, str]]) -> list[Any]:
    """A conversation in which each round asked some tools, with these names and answers."""
    messages: list[Any] = [UserMessage("Before.")]
    for number, answers in enumerate(rounds):
        ids = [f"{number}-{place}" for place in range(len(answers))]
        calls = [tool_call(name, call_id=i, query="q") for i, (name, _) in zip(ids, answers, strict=True)]
        messages.append(AssistantMessage(None, calls))
        messages.append(ToolResponseMessage([ToolResponse(i, *a) for i, a in zip(ids, answers, strict=True)]))
    return [*messages, AssistantMessage("Good."), UserMessage("And now?")]


def names(*found: str) -> tuple[str, str]:
    """A search that found these."""
    return (SEARCH, json.dumps(found))


HISTORIES = [
    ([names("weather")], [names("clothing")]),
    ([names("weather", "clothing", "currency"), names("clothing", "weather", "currency"), names("currency")],),
    ([names("weather"), names("unknown")], [("currency", "1.08")]),
    ([("TOOLSEARCHTOOL", '["weather"]')],),
    ([names("weather")], [(SEARCH, "The search failed."), (SEARCH, '{"a": 1}'), (SEARCH, "[1, null]")]),
    ([names("weather")], [names()]),
]


@pytest.mark.parametrize(
    ("history", "accumulated", "latest"),
    [
        (HISTORIES[0], ["weather", "clothing"], ["clothing"]),
        (HISTORIES[1], ["weather", "clothing", "currency"], ["weather", "clothing", "currency"]),
        (HISTORIES[2], ["weather"], ["weather"]),
        (HISTORIES[3], ["weather"], ["weather"]),
        (HISTORIES[4], ["weather"], ["weather"]),
        (HISTORIES[5], ["weather"], ["weather"]),
    ],
    ids=["two rounds", "one round", "unknown name", "other case", "no lists", "nothing found"],
)
def test_what_earlier_searches_found_is_on_offer(
    ask: Any, index: Any, history: tuple[Any, ...], accumulated: list[str], latest: list[str]
) -> None:
    """TSA-14, TSA-15, TSA-18, TSA-19: all that was found, or with accumulation off what the last message with results
    named, in the order of discovery; answers that are no lists name nothing and end nothing."""
    for accumulation, expected in ((True, accumulated), (False, latest)):
        assistant = Assistant(index, ["Done."], reference_tool_name_accumulation=accumulation)
        ask(assistant.spec().messages(*said_before(*history)))
        assert assistant.offers == [[SEARCH, *expected]]


@pytest.mark.parametrize(
    ("given", "own", "expected"),
    [({"maxResults": 7}, 3, 7), ({}, 3, 3), ({}, None, None), ({"maxResults": 7}, None, 7)],
)
def test_the_model_may_say_how_many_tools_it_wants(
    ask: Any, index: Any, given: dict[str, int], own: int | None, expected: int | None
) -> None:
    """TSA-16: the model's number wins over the advisor's; without both the index decides."""
    ask(Assistant(index, [search("weather", categoryFilter="city", **given), "Done."], max_results=own).spec())
    [request] = index.searched
    assert (request.query, request.max_results, request.category_filter) == ("weather", expected, "city")


def test_the_tool_context_names_the_session(ask: Any, index: Any) -> None:
    """TSA-17: the entry stands beside those of the request, for the search and for other tools."""
    seen: list[dict[str, Any]] = []

    @tool
    def look(context: ToolContext) -> str:
        """Look around."""
        seen.append(dict(context))
        return "seen"

    assistant = Assistant(index, [search("look"), tool_call("look"), "Done."])
    ask(assistant.spec(tools=(look,)).tool_context({"tenant": "acme"}))
    assert seen == [{"tenant": "acme", "toolSearchToolSessionId": "s"}]
    assert [request.session_id for request in index.searched] == ["s"]


def test_discovered_tools_stay_whatever_memory_trims(ask: Any, index: Any) -> None:
    """TSA-21, R23: a tool is still offered when the answer that named it is no longer among the messages."""
    memory = MessageChatMemoryAdvisor(
        chat_memory=MessageWindowChatMemory(max_messages=2), memory_order=HIGHEST_PRECEDENCE + 400
    )
    script = [search("weather"), tool_call("weather", city="Oslo"), search("wear"), "Done.", "Again."]
    assistant = Assistant(index, script, memory)
    ask(assistant.spec())
    ask(assistant.spec(text="And tomorrow?"))
    expected = [SEARCH, "weather", "clothing"]
    assert assistant.offers == [[SEARCH], [SEARCH, "weather"], [SEARCH, "weather"], expected, expected]


@pytest.mark.parametrize("always_throw", [False, True])
def test_a_failed_search_does_not_end_the_turn(
    ask: Any, index: Any, always_throw: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """TSA-18: the model is told without details, the log has them; it goes on, whatever is done about other tools."""
    index.failure = ConnectionError("no route to secret-host")
    processor = DefaultToolExecutionExceptionProcessor(always_throw=always_throw)
    manager = DefaultToolCallingManager(tool_execution_exception_processor=processor)
    assistant = Assistant(index, [search("weather"), "I cannot look."], tool_calling_manager=manager)
    assert ask(assistant.spec()) == "I cannot look."
    answer = assistant.last_answer
    assert (answer.data, answer.is_error) == ("The search failed. Try again, or go on without.", True)
    assert "no route to secret-host" in caplog.text
    assert assistant.offers[-1] == [SEARCH]


def test_a_tool_that_is_not_offered_does_not_run(ask: Any, index: Any) -> None:
    """R7: the model is told what is on offer, though the request has the tool it guessed."""
    assistant = Assistant(index, [tool_call("weather", city="Oslo"), "Done."])
    ask(assistant.spec())
    answer = assistant.last_answer
    assert answer.is_error
    assert SEARCH in answer.data


def test_a_tool_that_must_be_called_is_offered(ask: Any, index: Any) -> None:
    """A `tool_choice` that names a tool of the request would be refused by services if it were not on offer."""
    assistant = Assistant(index, ["Done."])
    ask(assistant.spec().options(ToolCallingChatOptions(tool_choice="currency")))
    assert assistant.offers == [[SEARCH, "currency"]]


def test_what_a_hook_adds_stays_on_offer(ask: Any, index: Any) -> None:
    """R23: a tool that a subclass puts into the options of a round is there in the next."""
    extra = FunctionToolCallback(lambda: "noon", name="clock", description="The time")

    class Adding(ToolSearchToolCallingAdvisor):
        async def do_before_call(self, request: Any, chain: Any) -> Any:
            request = await super().do_before_call(request, chain)
            options = request.prompt.options
            if extra in options.tool_callbacks:
                return request
            options = options.copy(tool_callbacks=(*options.tool_callbacks, extra))
            return request.with_prompt(request.prompt.with_options(options))

    model = ScriptedChatModel([search("weather"), tool_call("clock"), "Done."])
    client = ChatClient.builder(model).tool_advisor(Adding(tool_index=index)).build()
    ask(client.prompt("Go.").tools(*TOOLS).advisors(conversation_id="s"))
    assert [offered(prompt) for prompt in model.requests] == [
        [SEARCH, "clock"],
        [SEARCH, "weather", "clock"],
        [SEARCH, "weather", "clock"],
    ]


def test_a_suspended_turn_goes_on_with_what_it_has_found(ask: Any, index: Any) -> None:
    """A found tool that waits for somebody's word runs when the turn is resumed elsewhere, and stays on offer."""

    @tool(effects="destructive")
    def erase(name: str) -> str:
        """Erase a disk."""
        return f"{name} is erased"

    def assistant(*script: Any) -> Assistant:
        manager = DefaultToolCallingManager(interceptors=(ApprovalInterceptor({"destructive"}),))
        return Assistant(index, script, tool_calling_manager=manager)

    tools = (*TOOLS, erase)
    here = assistant(search("erase"), tool_call("erase", name="sda"))
    with pytest.raises(TurnSuspended) as suspended:
        ask(here.spec(tools=tools))
    state = SuspendedTurn.from_json(suspended.value.state.to_json())
    elsewhere = assistant(search("weather"), "Done.")
    request = elsewhere.client.prompt().tools(*tools).advisors(conversation_id="s")
    assert ask(request.resume(state, {call.id: Allow() for call in state.pending})) == "Done."
    assert elsewhere.model.requests[0].messages[-1] == ToolResponseMessage(
        [ToolResponse(state.pending[0].id, "erase", "sda is erased")]
    )
    assert elsewhere.offers == [[SEARCH, "erase"], [SEARCH, "erase", "weather"]]


def test_a_request_without_tools_passes_through(ask: Any, index: Any) -> None:
    """Nothing is offered, said or indexed where there is nothing to find; no session is needed."""
    assistant = Assistant(index, ["Hi."])
    assert ask(assistant.client.prompt("Hello")) == "Hi."
    assert assistant.offers == [[]]
    assert (assistant.model.requests[0].system_message.text, index.indexed) == ("", [])


def test_what_a_turn_may_use_travels_in_its_own_context(index: Any) -> None:
    """TSA-20: tools and session stand in the context of the turn, and each turn has its own."""
    assistant = Assistant(index, ["1", "2"])
    contexts = [assistant.spec(name).call().chat_client_response().context["vernal.tool_search"] for name in "ab"]
    assert [(turn.session_id, [*turn.tools]) for turn in contexts] == [
        (name, ["weather", "clothing", "currency"]) for name in "ab"
    ]


def test_sessions_find_for_themselves(ask: Any, index: Any) -> None:
    """What one session has found is not offered to another."""
    assistant = Assistant(index, [search("weather"), "1", "2", "3"])
    ask(assistant.spec("a"))
    ask(assistant.spec("b"))
    ask(assistant.spec("a"))
    assert assistant.offers[2:] == [[SEARCH], [SEARCH, "weather"]]


def test_a_tool_of_the_name_of_the_search_is_refused(ask: Any, index: Any) -> None:
    """R29: both origins are named."""
    own: ToolCallback = FunctionToolCallback(lambda: "", name=SEARCH, description="Mine")
    with pytest.raises(DuplicateToolError, match=r"ToolSearchTool.search, .*<lambda>"):
        ask(Assistant(index, []).spec(tools=(own,)))


def test_an_advisor_is_checked_and_named() -> None:
    """TSA-01, TSA-02: an index is demanded, and fields of the wrong kind are refused; name and order are known."""
    with pytest.raises(TypeError, match="tool_index"):
        ToolSearchToolCallingAdvisor()  # type: ignore[call-arg]  # that is the point
    with pytest.raises(TypeError, match="tool_index is None; a ToolIndex is wanted"):
        ToolSearchToolCallingAdvisor(tool_index=None)  # type: ignore[arg-type]  # that is the point
    with pytest.raises(ValueError, match="max_results is 0"):
        ToolSearchToolCallingAdvisor(tool_index=RegexToolIndex(), max_results=0)
    advisor = ToolSearchToolCallingAdvisor(tool_index=RegexToolIndex())
    assert (advisor.name, advisor.order) == ("ToolSearchToolCallingAdvisor", HIGHEST_PRECEDENCE + 300)
    assert advisor.copy(advisor_order=5).order == 5


def test_the_search_tool_says_what_it_takes(index: Any) -> None:
    """TSX-01, TSX-02: a query is required, number and category are optional; the tool context is not shown."""
    assistant = Assistant(index, ["Done."])
    assistant.spec().call().content()
    options = assistant.model.requests[0].options
    assert isinstance(options, ToolCallingChatOptions)
    [callback] = options.tool_callbacks or ()
    schema = callback.definition.input_schema
    assert list(schema["properties"]) == ["query", "maxResults", "categoryFilter"]
    assert list(schema["required"]) == ["query"]
