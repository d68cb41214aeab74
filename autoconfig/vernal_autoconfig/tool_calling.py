"""The calling of tools."""

import logging
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ImportString

from vernal.context import ObjectProvider, auto_configuration, bean, on_missing_bean
from vernal.context.plugins import LoadedPlugins
from vernal.context.settings import ByName, Duration, Settings
from vernal.observation import NOOP_REGISTRY, ObservationRegistry
from vernal.tools.callback import ToolCallback, ToolCallbackProvider
from vernal.tools.limits import OnLimitExceeded, ToolCallLimits
from vernal.tools.manager import DefaultToolCallingManager, ToolCallingManager
from vernal.tools.observation import ToolCallingObservationConvention
from vernal.tools.processor import DefaultToolExecutionExceptionProcessor, ToolExecutionExceptionProcessor
from vernal.tools.resolution import (
    DelegatingToolCallbackResolver,
    ProviderToolCallbackResolver,
    StaticToolCallbackResolver,
    ToolCallbackResolver,
)

_log = logging.getLogger("vernal.tools")


def _limit(value: int) -> int:
    if value == -1 or value > 0:
        return value
    raise ValueError("must be greater than 0, or -1 for no limit")


Limit = Annotated[int, AfterValidator(_limit)]


class FallbackSettings(BaseModel):
    """Whether a tool that the request does not offer is looked for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(default=False, description="Whether the resolver is asked for tools outside the request.")


class ResolutionSettings(BaseModel):
    """How a tool's name leads to the tool."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fallback: FallbackSettings = FallbackSettings()


class ToolObservationSettings(BaseModel):
    """What observations of tools hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    include_content: bool = Field(
        default=False, description="Whether arguments and results are observed; they may be private."
    )


class ToolCallingSettings(Settings, prefix="tools"):
    """What is set for the calling of tools."""

    throw_exception_on_error: bool = Field(default=False, description="Whether a failing tool ends the turn.")
    rethrow_exceptions: tuple[ImportString[type[BaseException]], ...] = Field(
        default=(), description='Exception types that end the turn as they are, such as ["builtins.PermissionError"].'
    )
    error_text: Literal["message", "type", "fixed"] = Field(
        default="message", description="What the model is told of a failure: its message, its type, or a fixed text."
    )
    max_calls_per_tool_default: Limit = Field(default=40, description="Calls of one tool in a turn; -1 for no limit.")
    max_calls_per_tool: ByName[Limit] = Field(
        default_factory=ByName, description="Calls of the named tools in a turn; -1 for no limit."
    )
    max_total_tool_calls: Limit = Field(default=150, description="Calls of all tools in a turn; -1 for no limit.")
    excluded_tools: frozenset[str] = Field(default=frozenset(), description="Tools without a limit of their own.")
    on_limit_exceeded: OnLimitExceeded = Field(
        default=OnLimitExceeded.THROW, description="Whether a breached limit ends the turn or is told to the model."
    )
    max_parallel_calls: int = Field(default=8, ge=1, description="Calls of one round that run at the same time.")
    timeout: Duration | None = Field(default=None, description="How long a tool may take that has no timeout itself.")
    resolution: ResolutionSettings = ResolutionSettings()
    observations: ToolObservationSettings = ToolObservationSettings()

    def limits(self) -> ToolCallLimits:
        """The limits that these settings mean."""
        return ToolCallLimits(
            max_calls_per_tool_default=self.max_calls_per_tool_default,
            max_calls_per_tool=self.max_calls_per_tool,
            max_total_tool_calls=self.max_total_tool_calls,
            excluded_tools=self.excluded_tools,
            on_limit_exceeded=self.on_limit_exceeded,
        )


@auto_configuration(before="ChatClientAutoConfiguration")
class ToolCallingAutoConfiguration:
    """Resolver, exception processor and manager."""

    @bean
    @on_missing_bean
    def tool_callback_resolver(
        self,
        callbacks: list[ToolCallback],
        providers: list[ToolCallbackProvider],
        plugins: LoadedPlugins,
    ) -> ToolCallbackResolver:
        """Finds the tools of beans and plugins by name, each asked when it is first needed (R25)."""
        contributed = [given for plugin in plugins for given in plugin.tools]
        return DelegatingToolCallbackResolver(
            [StaticToolCallbackResolver(callbacks), ProviderToolCallbackResolver([*providers, *contributed])]
        )

    @bean
    @on_missing_bean
    def tool_execution_exception_processor(self, settings: ToolCallingSettings) -> ToolExecutionExceptionProcessor:
        """What becomes of a failing tool, as the settings say."""
        return DefaultToolExecutionExceptionProcessor(
            always_throw=settings.throw_exception_on_error,
            rethrow_exceptions=settings.rethrow_exceptions,
            error_text=settings.error_text,
        )

    @bean
    @on_missing_bean
    def tool_calling_observation_convention(self, settings: ToolCallingSettings) -> ToolCallingObservationConvention:
        """Names and keys of tool observations; with content only where the settings ask for it (TAC-04)."""
        if settings.observations.include_content:
            _log.warning(
                "tools.observations.include_content is on: arguments and results of tools are observed, which may be "
                "private"
            )
        return ToolCallingObservationConvention(include_content=settings.observations.include_content)

    @bean
    @on_missing_bean
    def tool_calling_manager(
        self,
        resolver: ToolCallbackResolver,
        processor: ToolExecutionExceptionProcessor,
        settings: ToolCallingSettings,
        registry: ObjectProvider[ObservationRegistry],
        convention: ToolCallingObservationConvention,
    ) -> ToolCallingManager:
        """Executes the tool calls of a model, within the limits of the settings."""
        return DefaultToolCallingManager(
            tool_callback_resolver=resolver,
            tool_execution_exception_processor=processor,
            limits=settings.limits(),
            resolution_fallback_enabled=settings.resolution.fallback.enabled,
            max_parallel_calls=settings.max_parallel_calls,
            tool_timeout=settings.timeout.total_seconds() if settings.timeout is not None else None,
            observation_registry=registry.get_if_unique(NOOP_REGISTRY),
            observation_convention=convention,
        )
