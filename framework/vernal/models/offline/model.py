"""The offline model: it matches words, calls tools, and words what they gave."""

import re
from collections.abc import AsyncIterator

from vernal.models.chat import ChatModel
from vernal.values.messages import AssistantMessage, Message, ToolResponseMessage
from vernal.values.options import ChatOptions, merge_options
from vernal.values.prompt import Prompt
from vernal.values.responses import (
    ChatGenerationMetadata,
    ChatResponse,
    ChatResponseMetadata,
    FinishReason,
    Generation,
)
from vernal.values.usage import Usage


class OfflineChatModel(ChatModel):
    """A chat model without a language model: no key, no network, the same answer to the same prompt.

    It matches the last user message with the tools on offer, fills their arguments by their schemas, and words what
    they gave; without a tool that fits it says what it is. `docs/offline-model.md` is its whole grammar.

    `today` is the ISO date (`"2025-03-05"`) that "tomorrow" and "Friday" are counted from where a parameter has the
    format `date` or `date-time`; None for the clock of the machine. `options` are the model's own, under those of
    client and request. Usage counts words, as an approximation of tokens.

    Raises:
        ValueError: `today` is no ISO date.
    """

    def __init__(self, *, today: str | None = None, options: ChatOptions | None = None) -> None:
        if today is not None:
            from datetime import date

            try:
                date.fromisoformat(today)
            except ValueError:
                raise ValueError(f"today is {today!r}; an ISO date such as '2025-03-05' is wanted") from None
        self._today = today
        self._options = options

    @property
    def default_options(self) -> ChatOptions | None:
        """The model's own options, such as tools that it always has; None where it has none."""
        return self._options

    async def acall(self, prompt: Prompt) -> ChatResponse:
        """Answer `prompt` whole."""
        prompt = self._with_own_options(prompt)
        message = self._answer(prompt)
        return ChatResponse((_generation(message, last=True),), _metadata(prompt, message))

    async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
        """Answer `prompt` word by word; tool calls come in one chunk, usage and finish reason in the last."""
        prompt = self._with_own_options(prompt)
        message = self._answer(prompt)
        metadata = _metadata(prompt, message)
        pieces = re.findall(r"\s*\S+(?:\s+$)?", message.text or "")
        for piece in pieces[:-1]:
            yield ChatResponse((_generation(AssistantMessage(piece), last=False),))
        last = AssistantMessage(pieces[-1] if pieces else message.text, message.tool_calls)
        yield ChatResponse((_generation(last, last=True),), metadata)

    def _answer(self, prompt: Prompt) -> AssistantMessage:
        from vernal.models.offline.answering import next_message  # reads and matches: not needed before the first call

        return next_message(prompt, self._today)

    def _with_own_options(self, prompt: Prompt) -> Prompt:
        if self._options is None:
            return prompt
        return prompt.with_options(merge_options(self._options, prompt.options))


def _generation(message: AssistantMessage, *, last: bool) -> Generation:
    reason = FinishReason.TOOL_CALLS if message.tool_calls else FinishReason.STOP
    return Generation(message, ChatGenerationMetadata(reason if last else None))


def _metadata(prompt: Prompt, message: AssistantMessage) -> ChatResponseMetadata:
    read = sum(_words(each) for each in prompt.messages)
    return ChatResponseMetadata(model="offline", usage=Usage(read, _words(message)))


def _words(message: Message) -> int:
    texts = [message.text or ""]
    if isinstance(message, AssistantMessage):
        texts += [f"{call.name} {call.arguments}" for call in message.tool_calls]
    if isinstance(message, ToolResponseMessage):
        texts += [response.data for response in message.responses]
    return sum(len(text.split()) for text in texts)
