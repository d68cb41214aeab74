"""The advisor that asks again where an answer is not of the wanted form."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from vernal.advisors.api import (
    LOWEST_PRECEDENCE,
    CallAdvisor,
    CallAdvisorChain,
    StreamAdvisor,
    StreamAdvisorChain,
    checked_order,
)
from vernal.errors import UsageError
from vernal.models.structured import SchemaOutput, StructuredOutput
from vernal.values.exchange import ChatClientRequest, ChatClientResponse
from vernal.values.usage import EMPTY_USAGE, Usage

DEFAULT_ORDER = LOWEST_PRECEDENCE - 2000


class Validating(Protocol):
    """What can say why a text is not of the wanted form."""

    def faults(self, text: str | None) -> list[str]:
        """One reason each; none where the text is."""
        ...


@dataclass(kw_only=True, eq=False)
class StructuredOutputValidationAdvisor(CallAdvisor, StreamAdvisor):
    """Asks again, with the validator's reasons, until the answer is of the wanted form.

    Exactly one of `output_type` (a Python type) and `output_json_schema` (a mapping or JSON text) says what is wanted.
    The default order stands inside the tool loop: the text of each round is judged, tool calls pass (SOV-14), and no
    tool runs again. After `max_repeat_attempts` repetitions the last answer goes back as it is (SOV-05). Usage is
    summed over the attempts.

    Raises:
        ValueError: neither or both are given, the schema is none, the attempts are negative, or the order is out of
            range.
        UsageError: from a stream, whose text has gone out before it can be judged (SOV-12).
    """

    output_type: Any = None
    output_json_schema: Mapping[str, Any] | str | None = None
    output: Validating | None = field(default=None, repr=False)
    max_repeat_attempts: int = 3
    advisor_order: int = DEFAULT_ORDER

    def __post_init__(self) -> None:
        given = [each for each in (self.output_type, self.output_json_schema, self.output) if each is not None]
        if not given:
            raise ValueError("Either output_type or output_json_schema must be set")
        if len(given) > 1:
            raise ValueError("Only one of output_type and output_json_schema can be set, not both")
        if self.max_repeat_attempts < 0:
            raise ValueError(
                f"max_repeat_attempts must be greater than or equal to 0, but is {self.max_repeat_attempts!r}"
            )
        checked_order(self.advisor_order)
        if self.output is None and self.output_json_schema is not None:
            self.output = SchemaOutput(self.output_json_schema)
        elif self.output is None:
            self.output = StructuredOutput(self.output_type)

    @property
    def order(self) -> int:
        """`advisor_order`, unless a subclass says otherwise."""
        return self.advisor_order

    @property
    def name(self) -> str:
        """What the advisor is called in reports."""
        return "Structured Output Validation Advisor"

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        """Ask, judge, and ask again."""
        assert self.output is not None
        asked, usage, rounds = request, EMPTY_USAGE, list[Usage]()
        repeated = 0
        while True:
            response = await chain.copy(self).next_call(asked)
            usage = usage + response.usage
            rounds += _rounds_of(response)
            faults = [] if response.has_tool_calls else self.output.faults(response.text)
            if not faults or repeated == self.max_repeat_attempts:
                break
            asked = _complaining(request, faults)
            repeated += 1
        if repeated and response.chat_response is not None:
            return response.with_chat_response(response.chat_response.with_usage(usage, tuple(rounds)))
        return response

    async def advise_stream(
        self, request: ChatClientRequest, chain: StreamAdvisorChain
    ) -> AsyncIterator[ChatClientResponse]:
        """Refused: the text has gone out before it can be judged."""
        raise UsageError(
            "Structured Output Validation Advisor does not support streaming: a text that has gone out cannot be asked "
            "for again; use .call(), or leave the advisor out"
        )
        yield  # what makes this a stream


def _rounds_of(response: ChatClientResponse) -> tuple[Usage, ...]:
    """The usage of each request to the model that is in `response` (R22)."""
    metadata = response.chat_response.metadata if response.chat_response is not None else None
    return () if metadata is None else metadata.round_usages or (metadata.usage,)


def _complaining(request: ChatClientRequest, faults: list[str]) -> ChatClientRequest:
    """The original request with the reasons behind the user's text, so that complaints do not pile up (SOV-09)."""
    text = request.prompt.user_message.text
    complaint = f"{text}\nOutput JSON validation failed because of: {'; '.join(faults)}"
    return request.with_prompt(request.prompt.augment_user_message(complaint))
