"""What the manager gives back when it has executed the tool calls of a response."""

from collections.abc import Iterable

from vernal.values.messages import AssistantMessage, Message, ToolResponseMessage
from vernal.values.records import dataclass
from vernal.values.responses import ChatGenerationMetadata, FinishReason, Generation

TOOL_ID = "toolId"
TOOL_NAME = "toolName"
PARTIAL_TOOL_RESPONSES = "partialToolResponses"


@dataclass(frozen=True, slots=True, init=False)
class ToolExecutionResult:
    """The conversation with the tool responses appended, and whether these go directly to the caller.

    `conversation_history` is the messages of the prompt, the assistant message with its calls, and one message with
    the responses in call order (TCM-14). `return_direct` is True where every call of the round was made, succeeded,
    and is of a tool that returns directly (R14).
    """

    conversation_history: tuple[Message, ...]
    return_direct: bool

    def __init__(self, conversation_history: Iterable[Message] = (), return_direct: bool = False) -> None:
        history = tuple(conversation_history)
        for message in history:
            if not isinstance(message, Message):
                raise TypeError(f"conversation_history contains {message!r}; only Message objects are wanted")
        object.__setattr__(self, "conversation_history", history)
        object.__setattr__(self, "return_direct", return_direct)

    def build_generations(self) -> list[Generation]:
        """One generation for each response of the last message, with finish reason `returnDirect` (TER-01).

        Raises:
            IndexError: the history is empty (TER-03).
        """
        last = self.conversation_history[-1]
        if not isinstance(last, ToolResponseMessage):
            return []
        return [
            Generation(
                AssistantMessage(response.data, media=response.media),
                ChatGenerationMetadata(
                    FinishReason.RETURN_DIRECT, properties={TOOL_ID: response.id, TOOL_NAME: response.name}
                ),
            )
            for response in last.responses
        ]
