"""The advisor that keeps certain words from the model."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from vernal.advisors.api import CallAdvisor, CallAdvisorChain, StreamAdvisor, StreamAdvisorChain
from vernal.values.exchange import ChatClientRequest, ChatClientResponse
from vernal.values.responses import ChatResponse

FAILURE_RESPONSE = (
    "I'm unable to respond to that due to sensitive content. Could we rephrase or discuss something else?"
)


@dataclass(kw_only=True, eq=False)
class SafeGuardAdvisor(CallAdvisor, StreamAdvisor):
    """Answers in the model's place where a message contains one of the `sensitive_words`, compared case-insensitively.

    Raises:
        ValueError: a sensitive word is blank, which every message would contain.
    """

    sensitive_words: Sequence[str]
    failure_response: str = FAILURE_RESPONSE
    guard_order: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.sensitive_words, str):
            raise TypeError(f"sensitive_words is {self.sensitive_words!r}; a sequence of words is wanted")
        self.sensitive_words = tuple(word.casefold() for word in self.sensitive_words)
        if not all(word.strip() for word in self.sensitive_words):
            raise ValueError("among the sensitive_words is a blank one; words are wanted")

    @property
    def order(self) -> int:
        """`guard_order`, unless a subclass says otherwise."""
        return self.guard_order

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        """The refusal, or the answer of the rest of the chain."""
        return self._refusal(request) if self._is_sensitive(request) else await chain.next_call(request)

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        """The refusal in one chunk, or the chunks of the rest of the chain."""
        if self._is_sensitive(request):
            yield self._refusal(request)
            return
        async for chunk in chain.next_stream(request):
            yield chunk

    def _is_sensitive(self, request: ChatClientRequest) -> bool:
        texts = [(message.text or "").casefold() for message in request.prompt.messages]
        return any(word in text for text in texts for word in self.sensitive_words)

    def _refusal(self, request: ChatClientRequest) -> ChatClientResponse:
        return ChatClientResponse(ChatResponse.of(self.failure_response), request.context)
