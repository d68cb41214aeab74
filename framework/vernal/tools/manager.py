"""The manager: which tools a model may be told of, and what happens when it calls them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from vernal.errors import UsageError
from vernal.observation import NOOP_REGISTRY, ObservationRegistry
from vernal.runtime.faces import Face, TwoFaced
from vernal.tools.callback import ToolCallback
from vernal.tools.collection import refuse_duplicates
from vernal.tools.definition import ToolDefinition
from vernal.tools.execution import ToolExecutionResult
from vernal.tools.interception import ToolCallInterceptor
from vernal.tools.limits import ToolCallLimits
from vernal.tools.observation import DEFAULT_CONVENTION, ToolCallingObservationConvention
from vernal.tools.processor import DefaultToolExecutionExceptionProcessor, ToolExecutionExceptionProcessor
from vernal.tools.resolution import StaticToolCallbackResolver, ToolCallbackResolver
from vernal.tools.round import ToolRound
from vernal.values.latest import Latest
from vernal.values.options import ToolCallingChatOptions
from vernal.values.prompt import Prompt
from vernal.values.responses import ChatResponse


class ToolCallingManager(TwoFaced, abstract=True):
    """Manages the calling of tools for a chat model. Implement one of `execute_tool_calls`, `aexecute_tool_calls`."""

    __faces__: ClassVar = (Face("execute_tool_calls", "aexecute_tool_calls"),)

    def resolve_tool_definitions(self, options: ToolCallingChatOptions) -> Sequence[ToolDefinition]:
        """What the model is told: the definitions of the tools in `options`, in their order (TCM-06, TCM-07).

        Raises:
            DuplicateToolError: two of the tools have the same name (R29).
        """
        _refuse_other("options", options, ToolCallingChatOptions)
        callbacks = options.tool_callbacks or ()
        refuse_duplicates(callbacks)
        return [callback.definition for callback in callbacks]

    def execute_tool_calls(self, prompt: Prompt, chat_response: ChatResponse) -> ToolExecutionResult:
        """Execute the tool calls of `chat_response`, the model's answer to `prompt`."""
        raise NotImplementedError

    async def aexecute_tool_calls(self, prompt: Prompt, chat_response: ChatResponse) -> ToolExecutionResult:
        """Execute the tool calls of `chat_response`, the model's answer to `prompt`."""
        raise NotImplementedError


@dataclass(kw_only=True, eq=False)
class DefaultToolCallingManager(ToolCallingManager):
    """Executes the calls of the first generation that has some, at once and bounded, answers in call order (TCM-15).

    The tools of the prompt's options bound what may run; with `resolution_fallback_enabled` the resolver is asked for
    names that are not among them (TCM-11, TCM-12). `max_parallel_calls` bounds the calls of a round that run at the
    same time; `tool_timeout` (seconds) holds for tools that have none of their own (R16).

    `interceptors` decide about each call before any of the round runs: the first that denies or suspends counts.

    Every call is answered: what fails, is refused, unknown or malformed is told to the model as an error, and costs
    its siblings nothing (R5, R7, R9).

    Raises:
        UsageError: from executing, where the response asks for no tool (TCM-10).
        TurnSuspended: from executing, where an interceptor suspends a call.
        DuplicateToolError: from executing, where two tools of the prompt's options have the same name (R29).
        ToolCallLimitExceeded: from executing, where a limit is breached and the limits say so.
        Exception: from executing, what the exception processor raises; it carries `partial_result` (R12).
    """

    tool_callback_resolver: ToolCallbackResolver = field(default_factory=lambda: StaticToolCallbackResolver([]))
    tool_execution_exception_processor: ToolExecutionExceptionProcessor = field(
        default_factory=DefaultToolExecutionExceptionProcessor
    )
    limits: ToolCallLimits = field(default_factory=ToolCallLimits)
    resolution_fallback_enabled: bool = False
    max_parallel_calls: int = 8
    tool_timeout: float | None = None
    interceptors: Sequence[ToolCallInterceptor] = ()
    observation_registry: ObservationRegistry = NOOP_REGISTRY
    observation_convention: ToolCallingObservationConvention = DEFAULT_CONVENTION
    _offered: Latest[dict[str, ToolCallback]] = field(init=False, repr=False, default_factory=Latest)

    def __post_init__(self) -> None:
        _refuse_other("observation_registry", self.observation_registry, ObservationRegistry)
        _refuse_other("observation_convention", self.observation_convention, ToolCallingObservationConvention)
        _refuse_other("tool_callback_resolver", self.tool_callback_resolver, ToolCallbackResolver)
        _refuse_other(
            "tool_execution_exception_processor",
            self.tool_execution_exception_processor,
            ToolExecutionExceptionProcessor,
        )
        if self.max_parallel_calls < 1:
            raise ValueError(f"max_parallel_calls is {self.max_parallel_calls!r}; an integer of at least 1 is wanted")
        if self.tool_timeout is not None and not self.tool_timeout > 0:
            raise ValueError(f"tool_timeout is {self.tool_timeout!r}; seconds greater than 0, or None, are wanted")

    async def aexecute_tool_calls(self, prompt: Prompt, chat_response: ChatResponse) -> ToolExecutionResult:
        """Execute the tool calls of `chat_response`, the model's answer to `prompt`."""
        _refuse_other("prompt", prompt, Prompt)
        _refuse_other("chat_response", chat_response, ChatResponse)
        generation = chat_response.tool_calling_generation
        if generation is None:
            raise UsageError(
                "No tool call requested by the chat model; ask chat_response.has_tool_calls before executing"
            )
        return await ToolRound(self, prompt, generation).run()


def _refuse_other(name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {value!r}; a {kind.__name__} is wanted")
