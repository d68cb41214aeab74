"""Worlds: random models, tools and settings, played in all four forms, for the rules that hold whatever happens."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hypothesis import strategies as st

from vernal import (
    HIGHEST_PRECEDENCE,
    Allow,
    AssistantMessage,
    ChatClient,
    ChatClientRequestSpec,
    ChatGenerationMetadata,
    ChatResponse,
    ChatResponseMetadata,
    DefaultToolCallingManager,
    DefaultToolExecutionExceptionProcessor,
    Deny,
    FunctionToolCallback,
    Generation,
    Message,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    ObservationRegistry,
    ToolCall,
    ToolCallback,
    ToolCallingAdvisor,
    ToolCallLimits,
    ToolCallRequest,
    ToolEffects,
    ToolMetadata,
    ToolResponseMessage,
    Usage,
)
from vernal.testing import Form, Outcome, ScriptedChatModel, chunks

ALL_FORMS = tuple(Form)


class Asking(Protocol):
    """A form, or another way to ask."""

    def ask(self, spec: ChatClientRequestSpec) -> Outcome:
        """Run the request to its end."""


class Fatal(Exception):
    """What a policy may raise."""


class Crash(BaseException):
    """What no policy catches."""


# what models send

SOME_USAGES = [Usage(3, 1), Usage(5, 2, 9, cache_read_tokens=1), Usage(2, 2, 4, None, 1, 1)]
USAGES = st.sampled_from([Usage(), Usage(), *SOME_USAGES])
REASONS = st.sampled_from([None, "stop", "tool_calls", "tool_calls", "length", "content_filter", "odd"])
TEXTS = st.sampled_from([None, "", " ", "text", "more"])
IDS = st.sampled_from(["", " ", "1", "1", "2", "3", "call_1"])
TOOLS = ["note", "look", "save", "alone", "many", "direct", "nest", "fail", "fatal"]
NAMES = st.sampled_from(["note", *TOOLS, "ghost", ""])
NUMBERS = st.integers(0, 3)
NO_ARGUMENTS = st.sampled_from(
    ["", " ", "null", "[1]", "{oops", '{"n": NaN}', '{"n": "x"}', '{"n": 1e999}', "[" * 300 + "]" * 300, '{"m": 1}']
)
ARGUMENTS = st.one_of(
    NUMBERS.map(lambda n: f'{{"n": {n}}}'),
    NUMBERS.map(lambda n: f'{{"n": {n}}}'),
    NUMBERS.map(lambda n: f'```json\n{{"n": {n}}}\n```'),
    NUMBERS.map(lambda n: json.dumps(f'{{"n": "{n}"}}')),
    NUMBERS.map(lambda n: f'{{"n": 9, "n": {n}, "other": [{{}}]}}'),
    NO_ARGUMENTS,
)
CALLS = st.builds(ToolCall, IDS, NAMES, ARGUMENTS)
GENERATIONS = st.builds(
    lambda text, calls, reason: Generation(AssistantMessage(text, calls), ChatGenerationMetadata(reason)),
    TEXTS,
    st.lists(CALLS, max_size=3),
    REASONS,
)
RESPONSES = st.builds(
    lambda generations, usage: ChatResponse(generations, ChatResponseMetadata(usage=usage)),
    st.lists(GENERATIONS, min_size=1, max_size=2),
    USAGES,
)
"""Answers that may ask for anything, in one or two generations, and may lie about why they ended."""

STREAMED = st.lists(
    st.one_of(RESPONSES, st.builds(lambda usage: ChatResponse((), ChatResponseMetadata(usage=usage)), USAGES)),
    min_size=1,
    max_size=4,
).map(lambda parts: chunks(*parts))
"""Answers in chunks: text after calls, usage anywhere, chunks without anything."""

ANSWERS = st.one_of(
    RESPONSES, RESPONSES, STREAMED, st.builds(lambda r: chunks(r, Fatal("broke")), RESPONSES), st.just(Fatal("refused"))
)
SCRIPTS = st.lists(ANSWERS, min_size=1, max_size=6)


@dataclass(frozen=True)
class Setting:
    """Where the memory stands and how large it is, what is limited, and what becomes of failures."""

    memory: int | None = None
    window: int = 20
    total: int = 150
    on_limit: str = "throw"
    parallel: int = 8
    rethrow: bool = False
    intercept: str = "nothing"
    observed: bool = False
    hooked: bool = False


SETTINGS = st.builds(
    Setting,
    memory=st.sampled_from([None, 200, 400]),
    window=st.integers(1, 12),
    total=st.sampled_from([1, 2, 5, 150]),
    on_limit=st.sampled_from(["throw", "return_error_response"]),
    parallel=st.integers(1, 3),
    rethrow=st.booleans(),
    intercept=st.sampled_from(["nothing", "deny", "change"]),
    observed=st.booleans(),
    hooked=st.booleans(),
)


@dataclass
class Toolbox:
    """Tools of all kinds; each run is noted, and its result says which run of the same call it was."""

    runs: list[tuple[str, int]] = field(default_factory=list)
    running: Counter[str] = field(default_factory=Counter)

    def begin(self, name: str, n: int) -> str:
        """Note a run; gives its result."""
        self.runs.append((name, n))
        return f"{name} {n}, run {self.runs.count((name, n))}"

    def note(self, n: int) -> str:
        """Plain."""
        return self.begin("note", n)

    async def look(self, n: int) -> str:
        """Takes steps of the loop."""
        self.running["look"] += 1
        try:
            for _ in range(n):
                await asyncio.sleep(0)
            return self.begin("look", n)
        finally:
            self.running["look"] -= 1

    def save(self, n: int) -> str:
        """Changes the world."""
        return self.begin("save", n)

    async def alone(self, n: int) -> str:
        """Runs beside no other."""
        assert not +self.running, "something runs beside an exclusive tool"
        self.running["alone"] += 1
        try:
            await asyncio.sleep(0)
            assert +self.running == Counter(alone=1), "something runs beside an exclusive tool"
            return self.begin("alone", n)
        finally:
            self.running["alone"] -= 1

    async def many(self, n: int) -> AsyncIterator[str]:
        """Gives piece by piece."""
        self.running["many"] += 1
        try:
            yield self.begin("many", n)
            await asyncio.sleep(0)
            yield "end"
        finally:
            self.running["many"] -= 1

    def direct(self, n: int) -> str:
        """Answers the caller."""
        return self.begin("direct", n)

    def nest(self, n: int) -> str:
        """Asks another assistant, which uses a tool of its own."""
        model = ScriptedChatModel([ChatResponse.of(tool_calls=[ToolCall("1", "note", f'{{"n": {n + 10}}}')]), "inner"])
        answer = ChatClient(model).prompt("Help.").tools(self.note).call().content()
        return f"{answer}: {self.begin('nest', n)}"

    def fail(self, n: int) -> str:
        """Fails."""
        self.begin("fail", n)
        raise ValueError("failed")

    async def fatal(self, n: int) -> str:
        """Fails for good."""
        self.begin("fatal", n)
        raise Fatal("fatal")

    def callbacks(self) -> list[ToolCallback]:
        """All of them."""
        return [
            *(FunctionToolCallback(f) for f in (self.note, self.look, self.many, self.nest, self.fail, self.fatal)),
            FunctionToolCallback(self.save, metadata=ToolMetadata(effects=ToolEffects.WRITE)),
            FunctionToolCallback(self.alone, metadata=ToolMetadata(exclusive=True)),
            FunctionToolCallback(self.direct, metadata=ToolMetadata(return_direct=True)),
        ]


class Hooked(ToolCallingAdvisor):
    """Counts its rounds in the context, so that every round and the outcome can be compared."""

    async def do_initialize_loop(self, request: Any, chain: Any) -> Any:
        request.context["rounds"] = 0
        return request

    async def do_before_call(self, request: Any, chain: Any) -> Any:
        return request.copy(context={"rounds": request.context["rounds"] + 1})


def _interceptor(kind: str) -> list[Any]:
    def decide(request: ToolCallRequest) -> Any:
        if request.call.name not in ("look", "many"):
            return None
        return Deny("no") if kind == "deny" else Allow({"n": 1})

    return [] if kind == "nothing" else [decide]


@dataclass
class Played:
    """What came of one turn in one form."""

    form: Asking
    model: ScriptedChatModel
    memory: MessageWindowChatMemory
    toolbox: Toolbox
    outcome: Outcome | None
    error: BaseException | None
    history: Sequence[Message] = ()

    @property
    def requests(self) -> list[tuple[Message, ...]]:
        """The messages of each request to the model."""
        return [prompt.messages for prompt in self.model.requests]

    @property
    def comparable(self) -> dict[str, Any]:
        """What must be the same in every form."""
        outcome, names = self.outcome, _Names()
        return {
            "requests": [names.plain(messages) for messages in self.requests],
            "memory": names.plain(self.memory.get("c")),
            "runs": sorted(self.toolbox.runs),
            "error": type(self.error).__name__,
            "usage": outcome and outcome.chat_response.metadata.usage,
            "rounds": outcome and outcome.client_response.context.get("rounds"),
        }


class _Names:
    """Ids by the order in which they first appear: those that were repaired are random."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def _of(self, call_id: str) -> int:
        return self._known.setdefault(call_id, len(self._known))

    def plain(self, messages: Sequence[Message]) -> list[Any]:
        """`messages` as data."""
        return [
            (
                type(m).__name__,
                without_number(m.text),
                [(self._of(c.id), c.name, c.arguments) for c in m.tool_calls] if isinstance(m, AssistantMessage) else 0,
                [(self._of(r.id), r.name, without_number(r.data), r.is_error) for r in m.responses]
                if isinstance(m, ToolResponseMessage)
                else 0,
            )
            for m in messages
        ]


def without_number(text: str | None) -> str | None:
    """The text of a result; which of two runs at once comes first is nobody's business."""
    return text and text.split(", run")[0]


def play(form: Asking, script: Sequence[Any], setting: Setting = Setting(), *, check: bool = True) -> Played:
    """One turn of a client with all tools, in a world of its own.

    An exhausted script is answered with "end", so that every turn comes to its end.
    """
    toolbox, memory = Toolbox(), MessageWindowChatMemory(max_messages=setting.window)
    model = ScriptedChatModel([*script, "end", "end"], check=check)
    manager = DefaultToolCallingManager(
        limits=ToolCallLimits(max_total_tool_calls=setting.total, on_limit_exceeded=setting.on_limit),  # type: ignore[arg-type]  # texts are taken
        max_parallel_calls=setting.parallel,
        interceptors=_interceptor(setting.intercept),
        tool_execution_exception_processor=DefaultToolExecutionExceptionProcessor(
            rethrow_exceptions=[Fatal] if setting.rethrow else []
        ),
    )
    advisor = (Hooked if setting.hooked else ToolCallingAdvisor)(tool_calling_manager=manager)
    builder = ChatClient.builder(model).tool_advisor(advisor).default_system("Be brief.")
    builder.default_tools(*toolbox.callbacks())
    if setting.memory is not None:
        order = HIGHEST_PRECEDENCE + setting.memory
        remembering = MessageChatMemoryAdvisor(chat_memory=memory, memory_order=order)
        builder.default_advisors(remembering, conversation_id="c")
    if setting.observed:
        builder.observation_registry(ObservationRegistry())
    played = Played(form, model, memory, toolbox, None, None)
    try:
        played.outcome = form.ask(builder.build().prompt("Go on."))
    except (Fatal, Crash) as error:
        played.error = error
    return played


def played_in_all_forms(script: Sequence[Any], setting: Setting = Setting()) -> list[Played]:
    """The same turn, in four worlds alike."""
    return [play(form, script, setting) for form in ALL_FORMS]
