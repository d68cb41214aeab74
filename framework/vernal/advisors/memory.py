"""The advisor that remembers a conversation as messages."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from vernal.advisors.api import HIGHEST_PRECEDENCE, AdvisorChain, BaseAdvisor, MemoryAdvisor, refuse_other
from vernal.errors import UsageError
from vernal.memory.memory import ChatMemory
from vernal.tools.interception import RESUMPTION
from vernal.values.exchange import ChatClientRequest, ChatClientResponse
from vernal.values.messages import AssistantMessage, Message, SystemMessage, ToolResponseMessage, UserMessage
from vernal.values.replay import replayable, withhold_cut_off_calls

CONVERSATION_ID = "conversation_id"
"""The advisor parameter that names the conversation: `.advisors(conversation_id="user-42")`."""

DEFAULT_ORDER = HIGHEST_PRECEDENCE + 200


@dataclass(slots=True, eq=False)
class _Progress:
    """What a memory advisor knows of the turn in flight: the conversation before it, and the turn's own messages.

    `pending` are outputs with tool calls: remembered when their answers come, so that what is remembered can be
    replayed at any moment (R1).
    """

    earlier: tuple[Message, ...]
    turn: list[Message]
    pending: list[AssistantMessage] = field(default_factory=list)


@dataclass(kw_only=True, eq=False)
class MessageChatMemoryAdvisor(BaseAdvisor, MemoryAdvisor):
    """Puts the remembered messages before those of the request, and remembers what is said.

    Outside the tool loop (the default order) it sees one request and one answer; inside (an order greater than the
    tool advisor's) each round. In both places no message is sent twice, none is lost, and two genuinely equal ones
    both survive (R4). The conversation is named by the advisor parameter `conversation_id`.

    Raises:
        UsageError: from a request without a `conversation_id` (MEM-02).
    """

    chat_memory: ChatMemory
    memory_order: int = DEFAULT_ORDER
    _key: str = field(init=False, repr=False, default="")

    def __post_init__(self) -> None:
        refuse_other("chat_memory", self.chat_memory, ChatMemory)
        self._key = f"vernal.memory.{id(self)}"

    @property
    def order(self) -> int:
        """`memory_order`, unless a subclass says otherwise."""
        return self.memory_order

    async def before(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        """The request with the remembered messages in front; its new messages are remembered.

        The first system message comes before all, others stay among the messages of the request (MEM-07, MEM-13).
        """
        conversation_id = _conversation_id(request.context)
        messages = request.prompt.messages
        system = next((m for m in messages if isinstance(m, SystemMessage)), None)
        said = [m for m in messages if m is not system]
        progress = request.context.get(self._key)
        if progress is None:
            remembered = await self.chat_memory.aget(conversation_id)
            sight = _first_sight if RESUMPTION not in request.context else _resumed_sight
            progress, new = sight(remembered, said)
            request.context[self._key] = progress
        else:
            new = _later_sight(progress, said)
        if new:
            pending, progress.pending = progress.pending, []
            await self.chat_memory.aadd(conversation_id, [*pending, *new])
        earlier = [m for m in progress.earlier if m != system]
        sent = _system_first(system, replayable((*earlier, *progress.turn)))
        return request.with_prompt(request.prompt.with_messages(sent))

    async def after(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        """Remembers the outputs of all generations (MEM-10); of those that ask for tools the one that is executed."""
        chat_response = response.chat_response
        if chat_response is None or not chat_response.generations:
            return response
        chat_response = withhold_cut_off_calls(chat_response)
        calling = chat_response.tool_calling_generation
        outputs = [g.output for g in ((calling,) if calling is not None else chat_response.generations)]
        progress = response.context.get(self._key)
        if progress is not None:
            progress.turn += outputs
            if calling is not None:
                progress.pending += outputs
                return response
        await self.chat_memory.aadd(_conversation_id(response.context), outputs)
        return response


def _conversation_id(context: dict[str, object]) -> str:
    conversation_id = context.get(CONVERSATION_ID)
    if conversation_id is None or not str(conversation_id).strip():
        raise UsageError(
            f"the conversation_id of a request with chat memory is {conversation_id!r}; name the conversation with "
            f'.advisors(conversation_id="…")'
        )
    return str(conversation_id)


def _system_first(system: SystemMessage | None, messages: Sequence[Message]) -> tuple[Message, ...]:
    if system is None:
        system = next((m for m in messages if isinstance(m, SystemMessage)), None)
    return tuple(messages) if system is None else (system, *(m for m in messages if m is not system))


def _first_sight(remembered: Sequence[Message], said: list[Message]) -> tuple[_Progress, Sequence[Message]]:
    """The start of a turn, or a round of a loop driven by hand, which repeats what is remembered of its turn (MEM-05).

    System messages are not remembered.
    """
    spoken = [m for m in said if not isinstance(m, SystemMessage)]
    known = _overlap(remembered, spoken)
    progress = _Progress(tuple(remembered[: len(remembered) - known]), list(said))
    return progress, spoken[known:] if known else _latest(spoken)


def _latest(spoken: Sequence[Message]) -> Sequence[Message]:
    """Of messages that are new: the last of the user (MEM-04), with what tools have answered since (R1)."""
    users = [index for index, m in enumerate(spoken) if isinstance(m, UserMessage)]
    ends = [index for index, m in enumerate(spoken) if isinstance(m, UserMessage | ToolResponseMessage)]
    return replayable(spoken[users[-1] if users else 0 : ends[-1] + 1]) if ends else ()


def _resumed_sight(remembered: Sequence[Message], said: list[Message]) -> tuple[_Progress, Sequence[Message]]:
    """A turn that goes on where it was suspended: the request carries all of it, and what came before."""
    known = next((index for index in range(len(said), 0, -1) if said[index - 1] in remembered), 0)
    return _Progress((), list(said)), said[known:]


def _later_sight(progress: _Progress, said: list[Message]) -> Sequence[Message]:
    """A further round of the turn: the request carries the whole turn, or only what is latest."""
    answered = [m for m in progress.turn if isinstance(m, AssistantMessage)]
    whole = bool(answered) and any(m is answered[-1] or m == answered[-1] for m in said)
    new = _unmatched(progress.turn, said)
    if whole:
        progress.turn = list(said)
    else:
        progress.turn += new
    return [m for m in new if isinstance(m, UserMessage | ToolResponseMessage)]


def _overlap(remembered: Sequence[Message], said: list[Message]) -> int:
    """How many of the last remembered messages stand at the start of `said`.

    One equal user message alone is a new turn; a repetition has an answer of the model in it.
    """
    for size in range(min(len(remembered), len(said)), 0, -1):
        if list(remembered[-size:]) == said[:size] and any(isinstance(m, AssistantMessage) for m in said[: size + 1]):
            return size
    return 0


def _unmatched(known: list[Message], said: list[Message]) -> list[Message]:
    """The messages of `said` that are not in `known`, matched in order by identity or equality."""
    new = []
    position = 0
    for message in said:
        for index in range(position, len(known)):
            if known[index] is message or known[index] == message:
                position = index + 1
                break
        else:
            new.append(message)
    return new
