"""The tool-calling loop that shows the model only the tools it has found."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from vernal import (
    CONVERSATION_ID,
    AdvisorChain,
    ChatClientRequest,
    DuplicateToolError,
    Message,
    ToolCallback,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
    UsageError,
    check_range,
    tool_callbacks,
)
from vernal_tool_search.discovered import discovered_in
from vernal_tool_search.eviction import LruEviction, ToolIndexEvictionStrategy
from vernal_tool_search.index import ToolIndex
from vernal_tool_search.tool import SESSION_ID, TOOL_NAME, ToolSearchTool
from vernal_tool_search.values import ToolReference

DEFAULT_SYSTEM_MESSAGE_SUFFIX = """

You have more tools than those you see. Before you say that you cannot do something, call toolSearchTool with a few \
words on what a tool should do. The tools that it names can be called from then on. Search once for each different \
need, and again with other words where nothing fits."""

_TURN = "vernal.tool_search"


@dataclass(slots=True, eq=False)
class _Session:
    """What is known of one session: the tools in the index, by fingerprint and as they were given, and those found."""

    fingerprint: frozenset[tuple[str, str]] | None = None
    given: Sequence[ToolCallback] | None = None
    found: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class _Turn:
    """What one turn may use: all tools of its request by name, and its session."""

    session_id: str
    options: ToolCallingChatOptions
    tools: dict[str, ToolCallback]


@dataclass(kw_only=True, eq=False)
class ToolSearchToolCallingAdvisor(ToolCallingAdvisor):
    """Runs the loop as `ToolCallingAdvisor` does, but offers only `toolSearchTool` and the tools found with it.

    The tools of a request are put into `tool_index` when their session is first seen, and again when they change. A
    session is what `.advisors(conversation_id="…")` names; `session_id_key_name` is another parameter to go by. What a
    session has found stays on offer in its later rounds and turns, whatever a memory has trimmed; new tools come last,
    so that providers find the beginning of the list in their caches (R24).

    - `max_results`: tools that a search gives where the model sets no number; None: the index decides.
    - `reference_tool_name_accumulation`: whether what earlier searches found stays; else only the last one's.
    - `system_message_suffix`: what the system message says of the search.
    - `eviction_strategy`: which sessions are forgotten when others are used.

    A request without tools passes through as it is.

    Raises:
        TypeError, ValueError: at construction, where a field is of the wrong kind or out of range.
        UsageError: from a request that names no session (TSA-11).
        DuplicateToolError: from a request with a tool of its own called `toolSearchTool` (R29).
    """

    tool_index: ToolIndex
    max_results: int | None = 5
    session_id_key_name: str = CONVERSATION_ID
    reference_tool_name_accumulation: bool = True
    system_message_suffix: str = DEFAULT_SYSTEM_MESSAGE_SUFFIX
    eviction_strategy: ToolIndexEvictionStrategy = field(default_factory=LruEviction)
    _sessions: dict[str, _Session] = field(init=False, repr=False, default_factory=dict)  # shared by all copies
    _lock: threading.Lock = field(init=False, repr=False, default_factory=threading.Lock)
    _search: ToolCallback = field(init=False, repr=False)

    def validate(self) -> None:
        """Refuse fields of the wrong kind or out of range."""
        ToolCallingAdvisor.validate(self)
        for name, kind in (("tool_index", ToolIndex), ("eviction_strategy", ToolIndexEvictionStrategy)):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} is {getattr(self, name)!r}; a {kind.__name__} is wanted")
        check_range("max_results", self.max_results, 1, kind=int)
        (self._search,) = tool_callbacks(ToolSearchTool(self.tool_index, self.max_results))

    def evict_session(self, session_id: str) -> None:
        """Forget a session: its tools in the index, and what it has found."""
        self._forget(session_id)
        self.tool_index.clear(session_id)

    async def aevict_session(self, session_id: str) -> None:
        """Forget a session: its tools in the index, and what it has found."""
        self._forget(session_id)
        await self.tool_index.aclear(session_id)

    async def do_initialize_loop(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        """Put the tools into the index where they are not there yet, and tell the model of the search."""
        options = request.prompt.options
        if not isinstance(options, ToolCallingChatOptions) or not options.tool_callbacks:
            return request
        turn = self._turn(request, options)
        for session_id in self.eviction_strategy.on_access(turn.session_id):
            await self.aevict_session(session_id)
        await self._index(turn)
        request.context[_TURN] = turn
        prompt = request.prompt.with_options(
            options.copy(
                # All may run at first: a turn that is resumed begins with the calls of its last round.
                tool_callbacks=(self._search, *options.tool_callbacks),
                tool_context={**(options.tool_context or {}), SESSION_ID: turn.session_id},
            )
        )
        system = prompt.system_message.text
        text = f"{system}{self.system_message_suffix}" if system else self.system_message_suffix.lstrip()
        return request.with_prompt(prompt.augment_system_message(text) if self.system_message_suffix else prompt)

    async def do_before_call(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        """Offer the search, and what was found."""
        turn, options = request.context.get(_TURN), request.prompt.options
        if not isinstance(turn, _Turn) or not isinstance(options, ToolCallingChatOptions):
            return request
        session = await self._index(turn)
        offered = self._offered(turn, options, self._found(session, request.prompt.messages))
        if offered == options.tool_callbacks:
            return request
        return request.with_prompt(request.prompt.with_options(options.copy(tool_callbacks=offered)))

    def _turn(self, request: ChatClientRequest, options: ToolCallingChatOptions) -> _Turn:
        session_id = request.context.get(self.session_id_key_name)
        if session_id is None or not str(session_id).strip():
            raise UsageError(
                f"the context must contain a non-null value for {self.session_id_key_name!r}, the session whose tools "
                f'are searched; give it with .advisors({self.session_id_key_name}="…")'
            )
        tools = {callback.definition.name: callback for callback in options.tool_callbacks or ()}
        if TOOL_NAME in tools:
            raise DuplicateToolError(TOOL_NAME, (self._search.origin, tools[TOOL_NAME].origin))
        return _Turn(str(session_id), options, tools)

    async def _index(self, turn: _Turn) -> _Session:
        """The session of the turn, whose tools are in the index: put there unless they are already (TSA-05, TSA-06)."""
        session = self._sessions.setdefault(turn.session_id, _Session())
        given = turn.options.tool_callbacks
        if session.given is not None and session.given is given:
            return session
        definitions = self.tool_calling_manager.resolve_tool_definitions(turn.options)
        fingerprint = frozenset((definition.name, definition.description) for definition in definitions)
        if session.fingerprint != fingerprint:
            await self.tool_index.aclear(turn.session_id)
            references = [ToolReference(definition.name, definition.description) for definition in definitions]
            await self.tool_index.aindex(turn.session_id, references)
            session.fingerprint = fingerprint
        session.given = given
        return session

    def _found(self, session: _Session, messages: Sequence[Message]) -> list[str]:
        """The names that the session has found: in the messages, or in those that are no longer there."""
        accumulate = self.reference_tool_name_accumulation
        names = discovered_in(messages, accumulate=accumulate)
        with self._lock:
            if names and not accumulate:
                session.found.clear()
            session.found.update(dict.fromkeys(names))
            return list(session.found)

    def _offered(self, turn: _Turn, options: ToolCallingChatOptions, found: Sequence[str]) -> tuple[ToolCallback, ...]:
        """The search, the tool that must be called, what was found, and what a hook has added to the request (R23)."""
        names = dict.fromkeys((options.tool_choice or "", *found))
        known = {TOOL_NAME, *turn.tools}
        added = (callback for callback in options.tool_callbacks or () if callback.definition.name not in known)
        return (self._search, *(turn.tools[name] for name in names if name in turn.tools), *added)

    def _forget(self, session_id: str) -> None:
        self._sessions.pop(session_id, None)
        self.eviction_strategy.on_removed(session_id)
