"""The last advisor of every chain: it asks the model."""

import logging
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, nullcontext

from vernal.advisors.api import (
    LOWEST_PRECEDENCE,
    Advisor,
    CallAdvisor,
    CallAdvisorChain,
    StreamAdvisor,
    StreamAdvisorChain,
    given,
)
from vernal.advisors.chain import DefaultAroundAdvisorChain
from vernal.models.chat import ChatModel
from vernal.models.fragments import CallFragments
from vernal.values.exchange import ChatClientRequest, ChatClientResponse
from vernal.values.prompt import Prompt
from vernal.values.replay import repair_calls, replayable, withhold_cut_off_calls
from vernal.values.responses import ChatResponse
from vernal.values.turn import call_ids

logger = logging.getLogger("vernal.advisors")

OUTPUT_FORMAT = "vernal.output_format"
"""The context entry that says in words what form the answer must have; it goes to the model, not into any memory."""


class ChatModelAdvisor(CallAdvisor, StreamAdvisor):
    """Asks the model with a history that can be replayed, whatever advisors or the user have made of it (R1), and makes
    what it answers fit for one: unique call ids (R8), valid arguments (R1), no cut-off call (R6). What it offers the
    model is noted in the turn, since only that may run (R7).
    """

    order = LOWEST_PRECEDENCE

    def __init__(self, chat_model: ChatModel) -> None:
        self.chat_model = chat_model

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        """The model's whole answer."""
        prompt = _prompt_of(request)
        response = await self.chat_model.acall(prompt)
        if response is not None and self._checked("acall", response).has_tool_calls:  # a model may give None (CCL-27)
            response = repair_calls(withhold_cut_off_calls(response), _used_ids(prompt))
            if prompt.turn is not None:
                prompt.turn.repaired = response.generations
        return ChatClientResponse(response, request.context)

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        """The chunks of the model's answer, as they arrive."""
        prompt, context = _prompt_of(request), request.context
        fragments, used = CallFragments(), set[str]()

        def fit(chunk: ChatResponse) -> ChatResponse:
            if not chunk.has_tool_calls:
                return chunk
            if not used:
                used.update(_used_ids(prompt))
            return repair_calls(withhold_cut_off_calls(chunk), used)

        with _scope(chain, self):
            chunks: AsyncIterator[ChatResponse] = self.chat_model.astream(prompt)
        try:
            async for chunk in chunks:
                if type(chunk) is ChatResponse and not chunk.has_tool_calls:  # as nearly all are
                    yield ChatClientResponse(chunk, context)
                    continue
                for whole in fragments.take(self._checked("astream", chunk)):
                    yield ChatClientResponse(fit(whole), context)
            for whole in fragments.rest():
                yield ChatClientResponse(fit(whole), context)
        finally:
            close = getattr(chunks, "aclose", None)
            if close is not None:
                await close()

    def _checked(self, method: str, response: ChatResponse) -> ChatResponse:
        return given(self.chat_model, method, response, ChatResponse)


def _scope(chain: StreamAdvisorChain, advisor: Advisor) -> AbstractContextManager[None]:
    """Under which observation the model is asked: in a stream no other scope tells (TSH-02)."""
    return chain.scope(advisor) if isinstance(chain, DefaultAroundAdvisorChain) else nullcontext()


def _used_ids(prompt: Prompt) -> set[str]:
    used = call_ids(prompt.messages)
    return used | prompt.turn.used_ids if prompt.turn is not None else used


def _prompt_of(request: ChatClientRequest) -> Prompt:
    prompt, wanted = request.prompt, request.context.get(OUTPUT_FORMAT)
    turn = prompt.turn
    if turn is not None:
        turn.offered = prompt.options
    fit = replayable(prompt.messages, known=turn.replayable if turn is not None else ())
    if turn is not None:
        turn.replayable = fit
    if fit is not prompt.messages:
        logger.warning("an advisor has cut tool calls from their answers; what the model gets is repaired")
        prompt = prompt.with_messages(fit)
    if wanted is None:
        return prompt
    return prompt.augment_user_message(f"{prompt.user_message.text}\n\n{wanted}")
