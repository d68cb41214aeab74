"""The tool-calling loop: one turn's state and decisions, shared by call and stream."""

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from vernal.advisors.api import Advisor, AdvisorChain, BaseAdvisor, MemoryAdvisor
from vernal.advisors.chain import DefaultAroundAdvisorChain
from vernal.models.aggregator import MessageAggregator
from vernal.tools.execution import ToolExecutionResult
from vernal.tools.interception import RESUMPTION
from vernal.tools.limits import ToolCallLimitExceeded
from vernal.values.events import RoundFinished
from vernal.values.exchange import ChatClientRequest, ChatClientResponse
from vernal.values.messages import Message, SystemMessage
from vernal.values.options import ToolCallingChatOptions
from vernal.values.prompt import Prompt
from vernal.values.replay import replay_faults
from vernal.values.responses import ChatGenerationMetadata, ChatResponse, FinishReason, Generation
from vernal.values.turn import Turn

if TYPE_CHECKING:
    from vernal.advisors.tool_calling import ToolCallingAdvisor

_log = logging.getLogger("vernal.tools")


class ToolLoop:
    """What one turn of the loop knows: its own record, the conversation, and what is sent next.

    `conversation` is all that was said in the turn: what the manager works on. `request` is what goes to the model
    next, as hooks and memory make it. Neither overwrites the other. Unless the loop is `trimmed`, what hooks make of
    the messages is the conversation from then on (R23). It is trimmed where the history is disabled and a memory
    advisor stands inside the loop; without one nobody would know the rest, so that it goes out whole (R4).
    """

    def __init__(
        self, advisor: "ToolCallingAdvisor", request: ChatClientRequest, inside: Callable[[], Sequence[Advisor]]
    ) -> None:
        self._advisor = advisor
        self._enabled = advisor.conversation_history_enabled
        self._inside = inside
        self._trimmed = not self._enabled and any(isinstance(a, MemoryAdvisor) for a in inside())
        self.turn = Turn()
        self._begun = False
        self._conversation: tuple[Message, ...] = ()
        self._added: list[Message] = []
        self.request = request

    def begin(self, request: ChatClientRequest) -> None:
        """Start with what the initialising hook made of the request."""
        prompt = request.prompt
        self.turn.note_ids(prompt.messages)
        self.request = request.with_prompt(Prompt(prompt.messages, prompt.options, self.turn))

    def resumed(self) -> ChatClientResponse | None:
        """Where a suspended turn goes on: the answer whose tool calls were waiting; None for any other turn."""
        resumption = self.request.context.get(RESUMPTION)
        if resumption is None:
            return None
        resumption.take().restore(self.turn)
        self.request = self.request.with_prompt(self.request.prompt.with_messages(resumption.state.messages))
        self._trimmed = False  # who trimmed does not remember the round that was suspended
        metadata = ChatGenerationMetadata(FinishReason.TOOL_CALLS)
        answer = ChatResponse((Generation(resumption.state.assistant, metadata),))
        return ChatClientResponse(answer, self.request.context)

    def sent(self, request: ChatClientRequest) -> ChatClientRequest:
        """Take note of the request that the hooks have made for this round."""
        if request.prompt.turn is not self.turn:
            request = request.with_prompt(Prompt(request.prompt.messages, request.prompt.options, self.turn))
        messages = request.prompt.messages
        if self._begun and self._trimmed:
            self._note_additions(messages)
        else:
            self._conversation = messages
        self._begun = True
        self.turn.offered = request.prompt.options
        return request

    async def decide(
        self, request: ChatClientRequest, response: ChatClientResponse, chain: AdvisorChain, *, streaming: bool
    ) -> ChatClientResponse | None:
        """The response that ends the turn, or None where another round follows: tools have run, `request` is ready."""
        advisor, chat_response = self._advisor, response.chat_response
        resumed = self.turn.resumption is not None
        if chat_response is not None and not resumed:
            self.turn.record_usage(chat_response.usage, chat_response.metadata.model)
        if chat_response is None or not (resumed or await advisor.is_tool_call_response(chat_response)):
            return self._told(response, self._conversation)
        prompt = Prompt(self._conversation, self.turn.offered, self.turn)
        try:
            result = await self._execute(prompt, chat_response, chain)
        except ToolCallLimitExceeded as breach:
            _log.warning("a turn was ended: %s", breach)
            answer = chat_response.copy(generations=(breach.build_generation(),))
            return await self._ended(response, answer, breach.partial_result, chain)
        if result.return_direct:
            direct = chat_response.copy(generations=tuple(result.build_generations()))
            return await self._ended(response, direct, result, chain)
        next_instructions = (
            advisor.do_get_next_instructions_for_tool_call_stream
            if streaming
            else advisor.do_get_next_instructions_for_tool_call
        )
        instructions = await next_instructions(request, response, result)
        if not (self._enabled or self._trimmed) and replay_faults(instructions):
            instructions = result.conversation_history
        self._conversation = result.conversation_history
        context = request.context
        if response.context is not context:
            context = {**context, **response.context}
        options = request.prompt.options
        if advisor.reset_tool_choice and isinstance(options, ToolCallingChatOptions):
            options = options.without_forced_call()
        prompt = Prompt(self._with_additions(instructions, result), options, self.turn)
        self.request = ChatClientRequest(prompt, context)
        return None

    def round_finished(self, response: ChatClientResponse) -> RoundFinished:
        """The event that ends the round of `response`."""
        reason = response.chat_response.finish_reason if response.chat_response is not None else None
        return RoundFinished(number=len(self.turn.round_usages), usage=response.usage, finish_reason=reason)

    async def _execute(self, prompt: Prompt, chat_response: ChatResponse, chain: AdvisorChain) -> ToolExecutionResult:
        manager = self._advisor.tool_calling_manager
        if isinstance(chain, DefaultAroundAdvisorChain) and not chain.observation_registry.is_noop:
            with chain.scope(self._advisor):
                return await manager.aexecute_tool_calls(prompt, chat_response)
        return await manager.aexecute_tool_calls(prompt, chat_response)

    def _with_total_usage(self, response: ChatClientResponse) -> ChatClientResponse:
        rounds = self.turn.round_usages
        if response.chat_response is None or len(rounds) < 2 or self.turn.usage == response.usage:
            return response
        return response.with_chat_response(response.chat_response.with_usage(self.turn.usage, tuple(rounds)))

    def _told(self, response: ChatClientResponse, history: tuple[Message, ...]) -> ChatClientResponse:
        """The last response, with the usage of the whole turn and all that was said in it."""
        generations = response.chat_response.generations if response.chat_response is not None else ()
        history = (*history, *(generation.output for generation in generations))
        told = ChatClientResponse(response.chat_response, response.context, response.event, history)
        return self._with_total_usage(told)

    async def _ended(
        self, response: ChatClientResponse, answer: ChatResponse, result: ToolExecutionResult, chain: AdvisorChain
    ) -> ChatClientResponse:
        """The end of a turn by an answer that is not the model's: a memory inside the loop has not seen it (R4)."""
        final = self._told(response.with_chat_response(answer), result.conversation_history)
        for advisor in reversed(self._inside()):
            if isinstance(advisor, MemoryAdvisor) and isinstance(advisor, BaseAdvisor):
                final = await advisor.after(final, chain)
        return final

    def _note_additions(self, messages: tuple[Message, ...]) -> None:
        """Only the latest goes out; what a hook has put in holds all the same (R23)."""
        known = {id(message) for message in self.request.prompt.messages}
        added = [m for m in messages if id(m) not in known and not isinstance(m, SystemMessage)]
        self._added += added
        self._conversation = (*self._conversation, *added)

    def _with_additions(self, instructions: "tuple[Message, ...]", result: ToolExecutionResult) -> tuple[Message, ...]:
        if not self._added:
            return instructions
        present = {id(message) for message in instructions}
        missing = [message for message in self._added if id(message) not in present]
        return (*instructions[:-1], *missing, *instructions[-1:])


class StreamedRound:
    """One round of a stream: chunks with content go out as they come, the rest waits for the decision (R21).

    A chunk with a tool call is held back, its text goes out at once; chunks without content are held back too, since
    until the round has ended nobody knows whether they belong to the answer. Each chunk that carries usage tells what
    the turn has used so far (TCA-47, TCA-48).
    """

    def __init__(self, turn: Turn) -> None:
        self._usage, self._round_usages = turn.usage, tuple(turn.round_usages)  # of the rounds before this one
        self._aggregator = MessageAggregator()
        self._held: list[ChatClientResponse] = []
        self._answered: bool | None = None
        self.usage_sent = False

    def take(self, chunk: ChatClientResponse) -> "tuple[ChatClientResponse, ...] | list[ChatClientResponse]":
        """Collect `chunk`; gives what goes out now."""
        self._aggregator.add(chunk)
        response = chunk.chat_response
        if response is None:
            self._answered = self._answered or False
            return (chunk,)
        self._answered = True
        calls = response.has_tool_calls
        if not _has_content(response):
            self._held.append(chunk)
            return ()
        if calls:
            self._held.append(chunk.with_chat_response(_map_outputs(response, content=False)))
            chunk = chunk.with_chat_response(_map_outputs(response, content=True))
        if self._held and not calls:
            return [*self.release(calls=False), self._with_usage(chunk)]
        return (self._with_usage(chunk),)

    def release(self, *, calls: bool = True) -> Iterator[ChatClientResponse]:
        """What was held back; without `calls` those with tool calls stay."""
        held, self._held = self._held, []
        for chunk in held:
            if not calls and chunk.has_tool_calls:
                self._held.append(chunk)
            else:
                yield self._with_usage(chunk)

    def response(self, request: ChatClientRequest) -> ChatClientResponse:
        """The round as a whole; without a chat response where no chunk had one (TCA-18).

        It shares the request's context unless an advisor has put another in its place.
        """
        context, collected = request.context, self._aggregator.context
        if any(key not in context or context[key] is not value for key, value in collected.items()):
            context = {**context, **collected}
        return ChatClientResponse(None if self._answered is False else self._aggregator.collected(), context)

    def last_chunks(
        self, aggregated: ChatClientResponse, changed: ChatClientResponse, final: ChatClientResponse
    ) -> Iterator[ChatClientResponse]:
        """What goes out when the turn has ended with `final`.

        The generations of a direct return or a limit replace the round's tool calls (TCA-39, TCA-44). Where the calls
        are gone, cut off (R6) or taken away by a hook, what is left goes out in their place, without the content that
        has gone out already. Else what was held back goes out, then what a hook changed of metadata and context, or
        usage that no chunk has told (TCA-49).
        """
        ended = final.chat_response
        before = changed.chat_response
        if ended is not None and (before is None or ended.generations is not before.generations):
            yield final
            return
        if ended is not None and not ended.has_tool_calls and any(chunk.has_tool_calls for chunk in self._held):
            seen = aggregated.chat_response is not None and _has_content(aggregated.chat_response)
            yield final.with_chat_response(_map_outputs(ended, content=False)) if seen else final
            return
        yield from self.release()
        if changed is not aggregated or (not self.usage_sent and not final.usage.is_empty):
            yield ChatClientResponse(ChatResponse((), ended.metadata) if ended is not None else None, final.context)

    def _with_usage(self, chunk: ChatClientResponse) -> ChatClientResponse:
        response, before = chunk.chat_response, self._usage
        if response is None or response.metadata.usage.is_empty:
            return chunk
        self.usage_sent = True
        if before.is_empty:
            return chunk
        usage = self._aggregator.usage
        return chunk.with_chat_response(response.with_usage(before + usage, (*self._round_usages, usage)))


def _has_content(response: ChatResponse) -> bool:
    for generation in response.generations:
        output = generation.output
        if output.text or output.reasoning or output.media:
            return True
    return False


def _map_outputs(response: ChatResponse, *, content: bool) -> ChatResponse:
    """The response with only the content, or with only the tool calls, of its generations."""
    if content:
        kept = (g.output.copy(tool_calls=()) for g in response.generations)
        return ChatResponse(tuple(Generation(output) for output in kept))
    kept = (g.output.copy(text=None, reasoning=None, media=()) for g in response.generations)
    metadata = (g.metadata for g in response.generations)
    return response.copy(generations=tuple(map(Generation, kept, metadata)))
