"""vernal: the Spring way of building LLM applications, in Python. Every public name is importable from here.

Names are loaded when they are first asked for, so that a program pays only for what it uses.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vernal.advisors.api import (
        HIGHEST_PRECEDENCE,
        LOWEST_PRECEDENCE,
        Advisor,
        AdvisorChain,
        BaseAdvisor,
        CallAdvisor,
        CallAdvisorChain,
        MemoryAdvisor,
        StreamAdvisor,
        StreamAdvisorChain,
        ToolAdvisor,
    )
    from vernal.advisors.chain import DefaultAroundAdvisorChain
    from vernal.advisors.logging import SimpleLoggerAdvisor
    from vernal.advisors.memory import CONVERSATION_ID, MessageChatMemoryAdvisor
    from vernal.advisors.recovery import FallbackModelAdvisor, RetryAdvisor
    from vernal.advisors.safeguard import SafeGuardAdvisor
    from vernal.advisors.tool_calling import ToolCallingAdvisor, ToolExecutionEligibilityChecker, has_tool_calls
    from vernal.advisors.validation import StructuredOutputValidationAdvisor
    from vernal.client.builder import ChatClientBuilder, ChatClientCustomizer
    from vernal.client.client import ChatClient
    from vernal.client.spec import ChatClientRequestSpec
    from vernal.client.templates import TemplateRenderer, template_renderer
    from vernal.context import (
        Application,
        ApplicationContext,
        BeanDefinition,
        ConditionContext,
        ConditionReport,
        Named,
        ObjectProvider,
        auto_configuration,
        bean,
        condition,
        configuration,
        on_bean,
        on_missing_bean,
        on_missing_module,
        on_module,
        on_profile,
        on_setting,
        on_single_candidate,
        primary,
    )
    from vernal.context.plugins import hookimpl
    from vernal.context.settings import (
        ByName,
        Duration,
        Environment,
        ServiceSettings,
        Settings,
        SettingsError,
        Size,
        fallback,
    )
    from vernal.errors import ConfigurationError, UsageError, VernalError
    from vernal.http.clients import HttpClients
    from vernal.http.errors import ModelError
    from vernal.memory.memory import ChatMemory, MessageWindowChatMemory
    from vernal.memory.repository import ChatMemoryRepository, InMemoryChatMemoryRepository
    from vernal.models.aggregator import MessageAggregator
    from vernal.models.chat import ChatModel
    from vernal.models.embedding import EmbeddingModel, EmbeddingResponse
    from vernal.models.exchange import Assembler, Exchange
    from vernal.models.observation import (
        ChatModelObservationContext,
        ChatModelObservationConvention,
        ObservedChatModel,
    )
    from vernal.models.offline import OfflineChatModel
    from vernal.models.provider import ChatModelProvider
    from vernal.models.service import ServiceChatModel, ServiceModel
    from vernal.models.structured import StructuredOutputError
    from vernal.observation import NOOP_REGISTRY, Observation, ObservationConvention, ObservationRegistry
    from vernal.runtime.faces import Face, TwoFaced
    from vernal.runtime.streams import AsyncStream, Stream
    from vernal.tools.augmentation import AugmentedArguments, AugmentedToolCallback, augmented_tools
    from vernal.tools.callback import StaticToolCallbackProvider, ToolCallback, ToolCallbackProvider
    from vernal.tools.collection import tool_callbacks
    from vernal.tools.context import ToolContext
    from vernal.tools.conversion import DefaultToolCallResultConverter, ToolCallResultConverter
    from vernal.tools.customization import ToolCustomizer
    from vernal.tools.decorator import tool
    from vernal.tools.definition import ToolDefinition, ToolEffects, ToolMetadata
    from vernal.tools.exceptions import (
        DuplicateToolError,
        InvalidToolError,
        ToolArgumentsError,
        ToolExecutionException,
        ToolFailure,
    )
    from vernal.tools.execution import ToolExecutionResult
    from vernal.tools.function import FunctionToolCallback, MethodToolCallback
    from vernal.tools.interception import (
        Allow,
        Answer,
        ApprovalInterceptor,
        Deny,
        Suspend,
        SuspendedTurn,
        ToolCallInterceptor,
        ToolCallRequest,
        TurnSuspended,
    )
    from vernal.tools.limits import ModelPrice, OnLimitExceeded, ToolCallLimitExceeded, ToolCallLimits
    from vernal.tools.manager import DefaultToolCallingManager, ToolCallingManager
    from vernal.tools.observation import ToolCallingObservationContext, ToolCallingObservationConvention
    from vernal.tools.parameters import Inject, ToolParam
    from vernal.tools.processor import DefaultToolExecutionExceptionProcessor, ToolExecutionExceptionProcessor
    from vernal.tools.resolution import DelegatingToolCallbackResolver, StaticToolCallbackResolver, ToolCallbackResolver
    from vernal.tools.result import ToolResult
    from vernal.values.events import (
        ChatEvent,
        ReasoningEvent,
        RoundFinished,
        TextEvent,
        ToolCallFinished,
        ToolCallProgress,
        ToolCallStarted,
        TurnFinished,
    )
    from vernal.values.exchange import ChatClientRequest, ChatClientResponse
    from vernal.values.mappings import frozen
    from vernal.values.messages import (
        AssistantMessage,
        Media,
        Message,
        MessageType,
        SystemMessage,
        ToolCall,
        ToolResponse,
        ToolResponseMessage,
        UserMessage,
    )
    from vernal.values.options import ChatOptions, ToolCallingChatOptions, check_range, merge_options
    from vernal.values.prompt import Prompt
    from vernal.values.responses import (
        CUT_OFF,
        ChatGenerationMetadata,
        ChatResponse,
        ChatResponseMetadata,
        FinishReason,
        Generation,
        RateLimit,
    )
    from vernal.values.serialization import dump_messages, load_messages
    from vernal.values.usage import EMPTY_USAGE, Usage

__version__ = "0.1.0"

_MODULES = {
    "advisors.api": (
        "HIGHEST_PRECEDENCE LOWEST_PRECEDENCE Advisor AdvisorChain BaseAdvisor CallAdvisor "
        "CallAdvisorChain MemoryAdvisor StreamAdvisor StreamAdvisorChain ToolAdvisor"
    ),
    "advisors.chain": "DefaultAroundAdvisorChain",
    "advisors.logging": "SimpleLoggerAdvisor",
    "advisors.memory": "CONVERSATION_ID MessageChatMemoryAdvisor",
    "advisors.recovery": "FallbackModelAdvisor RetryAdvisor",
    "advisors.safeguard": "SafeGuardAdvisor",
    "advisors.tool_calling": "ToolCallingAdvisor ToolExecutionEligibilityChecker has_tool_calls",
    "advisors.validation": "StructuredOutputValidationAdvisor",
    "client.builder": "ChatClientBuilder ChatClientCustomizer",
    "client.client": "ChatClient",
    "client.spec": "ChatClientRequestSpec",
    "client.templates": "TemplateRenderer template_renderer",
    "context": (
        "Application ApplicationContext BeanDefinition ConditionContext ConditionReport Named ObjectProvider "
        "auto_configuration bean condition configuration on_bean on_missing_bean on_missing_module "
        "on_module on_profile on_setting on_single_candidate primary"
    ),
    "context.plugins": "hookimpl",
    "context.settings": "ByName Duration Environment ServiceSettings Settings SettingsError Size fallback",
    "errors": "ConfigurationError UsageError VernalError",
    "http.clients": "HttpClients",
    "http.errors": "ModelError",
    "memory.memory": "ChatMemory MessageWindowChatMemory",
    "memory.repository": "ChatMemoryRepository InMemoryChatMemoryRepository",
    "models.aggregator": "MessageAggregator",
    "models.chat": "ChatModel",
    "models.embedding": "EmbeddingModel EmbeddingResponse",
    "models.exchange": "Assembler Exchange",
    "models.observation": "ChatModelObservationContext ChatModelObservationConvention ObservedChatModel",
    "models.offline": "OfflineChatModel",
    "models.provider": "ChatModelProvider",
    "models.service": "ServiceChatModel ServiceModel",
    "models.structured": "StructuredOutputError",
    "observation": "NOOP_REGISTRY Observation ObservationConvention ObservationRegistry",
    "runtime.faces": "Face TwoFaced",
    "runtime.streams": "AsyncStream Stream",
    "tools.augmentation": "AugmentedArguments AugmentedToolCallback augmented_tools",
    "tools.callback": "StaticToolCallbackProvider ToolCallback ToolCallbackProvider",
    "tools.collection": "tool_callbacks",
    "tools.context": "ToolContext",
    "tools.conversion": "DefaultToolCallResultConverter ToolCallResultConverter",
    "tools.customization": "ToolCustomizer",
    "tools.decorator": "tool",
    "tools.definition": "ToolDefinition ToolEffects ToolMetadata",
    "tools.exceptions": "DuplicateToolError InvalidToolError ToolArgumentsError ToolExecutionException ToolFailure",
    "tools.execution": "ToolExecutionResult",
    "tools.function": "FunctionToolCallback MethodToolCallback",
    "tools.interception": (
        "Allow Answer ApprovalInterceptor Deny Suspend SuspendedTurn ToolCallInterceptor ToolCallRequest TurnSuspended"
    ),
    "tools.limits": "ModelPrice OnLimitExceeded ToolCallLimitExceeded ToolCallLimits",
    "tools.manager": "DefaultToolCallingManager ToolCallingManager",
    "tools.observation": "ToolCallingObservationContext ToolCallingObservationConvention",
    "tools.parameters": "Inject ToolParam",
    "tools.processor": "DefaultToolExecutionExceptionProcessor ToolExecutionExceptionProcessor",
    "tools.resolution": "DelegatingToolCallbackResolver StaticToolCallbackResolver ToolCallbackResolver",
    "tools.result": "ToolResult",
    "values.events": (
        "ChatEvent ReasoningEvent RoundFinished TextEvent ToolCallFinished ToolCallProgress "
        "ToolCallStarted TurnFinished"
    ),
    "values.exchange": "ChatClientRequest ChatClientResponse",
    "values.mappings": "frozen",
    "values.messages": (
        "AssistantMessage Media Message MessageType SystemMessage ToolCall ToolResponse ToolResponseMessage UserMessage"
    ),
    "values.options": "ChatOptions ToolCallingChatOptions check_range merge_options",
    "values.prompt": "Prompt",
    "values.responses": (
        "CUT_OFF ChatGenerationMetadata ChatResponse ChatResponseMetadata FinishReason Generation RateLimit"
    ),
    "values.serialization": "dump_messages load_messages",
    "values.usage": "EMPTY_USAGE Usage",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "CONVERSATION_ID",
    "CUT_OFF",
    "EMPTY_USAGE",
    "HIGHEST_PRECEDENCE",
    "LOWEST_PRECEDENCE",
    "NOOP_REGISTRY",
    "Advisor",
    "AdvisorChain",
    "Allow",
    "Answer",
    "Application",
    "ApplicationContext",
    "ApprovalInterceptor",
    "Assembler",
    "AssistantMessage",
    "AsyncStream",
    "AugmentedArguments",
    "AugmentedToolCallback",
    "BaseAdvisor",
    "BeanDefinition",
    "ByName",
    "CallAdvisor",
    "CallAdvisorChain",
    "ChatClient",
    "ChatClientBuilder",
    "ChatClientCustomizer",
    "ChatClientRequest",
    "ChatClientRequestSpec",
    "ChatClientResponse",
    "ChatEvent",
    "ChatGenerationMetadata",
    "ChatMemory",
    "ChatMemoryRepository",
    "ChatModel",
    "ChatModelObservationContext",
    "ChatModelObservationConvention",
    "ChatModelProvider",
    "ChatOptions",
    "ChatResponse",
    "ChatResponseMetadata",
    "ConditionContext",
    "ConditionReport",
    "ConfigurationError",
    "DefaultAroundAdvisorChain",
    "DefaultToolCallResultConverter",
    "DefaultToolCallingManager",
    "DefaultToolExecutionExceptionProcessor",
    "DelegatingToolCallbackResolver",
    "Deny",
    "DuplicateToolError",
    "Duration",
    "EmbeddingModel",
    "EmbeddingResponse",
    "Environment",
    "Exchange",
    "Face",
    "FallbackModelAdvisor",
    "FinishReason",
    "FunctionToolCallback",
    "Generation",
    "HttpClients",
    "InMemoryChatMemoryRepository",
    "Inject",
    "InvalidToolError",
    "Media",
    "MemoryAdvisor",
    "Message",
    "MessageAggregator",
    "MessageChatMemoryAdvisor",
    "MessageType",
    "MessageWindowChatMemory",
    "MethodToolCallback",
    "ModelError",
    "ModelPrice",
    "Named",
    "ObjectProvider",
    "Observation",
    "ObservationConvention",
    "ObservationRegistry",
    "ObservedChatModel",
    "OfflineChatModel",
    "OnLimitExceeded",
    "Prompt",
    "RateLimit",
    "ReasoningEvent",
    "RetryAdvisor",
    "RoundFinished",
    "SafeGuardAdvisor",
    "ServiceChatModel",
    "ServiceModel",
    "ServiceSettings",
    "Settings",
    "SettingsError",
    "SimpleLoggerAdvisor",
    "Size",
    "StaticToolCallbackProvider",
    "StaticToolCallbackResolver",
    "Stream",
    "StreamAdvisor",
    "StreamAdvisorChain",
    "StructuredOutputError",
    "StructuredOutputValidationAdvisor",
    "Suspend",
    "SuspendedTurn",
    "SystemMessage",
    "TemplateRenderer",
    "TextEvent",
    "ToolAdvisor",
    "ToolArgumentsError",
    "ToolCall",
    "ToolCallFinished",
    "ToolCallInterceptor",
    "ToolCallLimitExceeded",
    "ToolCallLimits",
    "ToolCallProgress",
    "ToolCallRequest",
    "ToolCallResultConverter",
    "ToolCallStarted",
    "ToolCallback",
    "ToolCallbackProvider",
    "ToolCallbackResolver",
    "ToolCallingAdvisor",
    "ToolCallingChatOptions",
    "ToolCallingManager",
    "ToolCallingObservationContext",
    "ToolCallingObservationConvention",
    "ToolContext",
    "ToolCustomizer",
    "ToolDefinition",
    "ToolEffects",
    "ToolExecutionEligibilityChecker",
    "ToolExecutionException",
    "ToolExecutionExceptionProcessor",
    "ToolExecutionResult",
    "ToolFailure",
    "ToolMetadata",
    "ToolParam",
    "ToolResponse",
    "ToolResponseMessage",
    "ToolResult",
    "TurnFinished",
    "TurnSuspended",
    "TwoFaced",
    "Usage",
    "UsageError",
    "UserMessage",
    "VernalError",
    "augmented_tools",
    "auto_configuration",
    "bean",
    "check_range",
    "condition",
    "configuration",
    "dump_messages",
    "fallback",
    "frozen",
    "has_tool_calls",
    "hookimpl",
    "load_messages",
    "merge_options",
    "on_bean",
    "on_missing_bean",
    "on_missing_module",
    "on_module",
    "on_profile",
    "on_setting",
    "on_single_candidate",
    "primary",
    "template_renderer",
    "tool",
    "tool_callbacks",
]

if not TYPE_CHECKING:  # to a type checker an unknown name must be an error

    def __getattr__(name: str) -> object:
        module = _HOME.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        from vernal.runtime.loading import loading

        with loading(f"vernal.{module}"):
            value = globals()[name] = getattr(import_module(f"vernal.{module}"), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
