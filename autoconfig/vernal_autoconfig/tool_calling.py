"""The calling of tools."""

import logging
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ImportString

from vernal.advisors.api import HIGHEST_PRECEDENCE, LOWEST_PRECEDENCE
from vernal.context import ApplicationContext, ObjectProvider, auto_configuration, bean, on_missing_bean, on_setting
from vernal.context.injection import BeanInjector
from vernal.context.plugins import LoadedPlugins
from vernal.context.settings import ByName, Duration, Settings
from vernal.observation import NOOP_REGISTRY, ObservationRegistry
from vernal.tools.callback import ToolCallback, ToolCallbackProvider
from vernal.tools.customization import AdjustedToolCallback, ToolCustomizer
from vernal.tools.definition import ToolEffects
from vernal.tools.interception import ApprovalInterceptor, ToolCallInterceptor
from vernal.tools.limits import ModelPrice, OnLimitExceeded, ToolCallLimits
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


class NamedToolSettings(BaseModel):
    """What is set for one tool, in place of what its code says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(default=True, description="Whether the tool is offered and found at all.")
    description: str | None = Field(default=None, min_length=1, description="What the model is told of the tool.")
    timeout: Duration | None = Field(default=None, description="How long the tool may take.")
    return_direct: bool | None = Field(default=None, description="Whether results go to the caller, not to the model.")
    max_calls: Limit | None = Field(default=None, description="Calls of the tool in a turn; -1 for no limit.")

    exclusive: bool | None = Field(default=None, description="Whether the tool runs alone, beside no other call.")
    effects: ToolEffects | None = Field(default=None, description="What the tool does to the world.")
    idempotent: bool | None = Field(default=None, description="Whether doing it twice is the same as doing it once.")
    max_attempts: int | None = Field(
        default=None, ge=1, description="How often a failing call is tried, if the tool reads or is idempotent."
    )

    def adjusted(self, callback: ToolCallback) -> ToolCallback:
        """The tool as these settings want it."""
        said: dict[str, Any] = {
            "description": self.description,
            "timeout": self.timeout.total_seconds() if self.timeout is not None else None,
            **{name: getattr(self, name) for name in _METADATA},
        }
        said = {name: value for name, value in said.items() if value is not None}
        return AdjustedToolCallback(callback, **said) if said else callback


_METADATA = ("return_direct", "exclusive", "effects", "idempotent", "max_attempts")


class PriceSettings(BaseModel):
    """What a million tokens of a model cost."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0, description="Price of a million input tokens.")
    output: float = Field(ge=0, description="Price of a million output tokens.")
    cached_input: float | None = Field(default=None, ge=0, description="Price of input tokens read from a cache.")
    cache_write: float | None = Field(default=None, ge=0, description="Price of input tokens written to a cache.")


class ApprovalSettings(BaseModel):
    """Which calls wait for somebody's word."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    effects: frozenset[ToolEffects] = Field(
        default=frozenset(), description="Declared effects of tools whose calls suspend the turn, such as destructive."
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
    max_tokens_per_turn: Limit | None = Field(default=None, description="Tokens that a turn may use over its rounds.")
    max_cost_per_turn: float | None = Field(default=None, gt=0, description="Money that a turn may cost.")
    prices: ByName[PriceSettings] = Field(
        default_factory=ByName, description="Prices by the name of the model, or by the begin of it."
    )
    approval: ApprovalSettings = ApprovalSettings()
    max_parallel_calls: int = Field(default=8, ge=1, description="Calls of one round that run at the same time.")
    timeout: Duration | None = Field(default=None, description="How long a tool may take that has no timeout itself.")
    resolution: ResolutionSettings = ResolutionSettings()
    named: ByName[NamedToolSettings] = Field(
        default_factory=ByName, description="What is set for the named tools, in place of what their code says."
    )
    observations: ToolObservationSettings = ToolObservationSettings()

    def limits(self) -> ToolCallLimits:
        """The limits that these settings mean."""
        return ToolCallLimits(
            max_calls_per_tool_default=self.max_calls_per_tool_default,
            max_calls_per_tool=self.named.select(lambda own: own.max_calls).over(self.max_calls_per_tool),
            max_total_tool_calls=self.max_total_tool_calls,
            excluded_tools=self.excluded_tools,
            on_limit_exceeded=self.on_limit_exceeded,
            max_tokens=self.max_tokens_per_turn,
            max_cost=self.max_cost_per_turn,
            prices=self.prices.select(lambda price: ModelPrice(**price.model_dump())),
        )


class NamedToolsCustomizer(ToolCustomizer):
    """Makes tools what the settings say of them, by name."""

    def __init__(self, named: ByName[NamedToolSettings]) -> None:
        self._named = named

    def customize(self, callbacks: Sequence[ToolCallback]) -> Sequence[ToolCallback]:
        """The tools as they are set, without those that are not enabled.

        Raises:
            ConfigurationError: a name from an environment variable stands for two of the tools.
        """
        if not self._named:
            return callbacks
        said = self._named.for_names(callback.definition.name for callback in callbacks)
        offered = [(callback, said.get(callback.definition.name)) for callback in callbacks]
        return [own.adjusted(callback) if own else callback for callback, own in offered if own is None or own.enabled]


@auto_configuration(before="ChatClientAutoConfiguration")
class ToolCallingAutoConfiguration:
    """Resolver, exception processor and manager."""

    @bean(order=HIGHEST_PRECEDENCE)
    @on_missing_bean(name="inject_customizer")
    def inject_customizer(self, context: ApplicationContext) -> ToolCustomizer:
        """Fills the parameters of tools that are marked `Inject` with beans."""
        return BeanInjector(context)

    @bean(order=LOWEST_PRECEDENCE)
    @on_missing_bean(name="named_tools_customizer")
    def named_tools_customizer(self, settings: ToolCallingSettings) -> ToolCustomizer:
        """Makes tools what `tools.named` says of them."""
        return NamedToolsCustomizer(settings.named)

    @bean
    @on_missing_bean
    def tool_callback_resolver(
        self,
        callbacks: list[ToolCallback],
        providers: list[ToolCallbackProvider],
        plugins: LoadedPlugins,
        customizers: list[ToolCustomizer],
    ) -> ToolCallbackResolver:
        """Finds the tools of beans and plugins by name, each asked when it is first needed (R25)."""
        contributed = [given for plugin in plugins for given in plugin.tools]
        return DelegatingToolCallbackResolver(
            [StaticToolCallbackResolver(callbacks), ProviderToolCallbackResolver([*providers, *contributed])],
            customizers=customizers,
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
    @on_missing_bean(name="approval_interceptor")
    @on_setting("tools.approval.effects")
    def approval_interceptor(self, settings: ToolCallingSettings) -> ToolCallInterceptor:
        """Suspends the turn before calls whose tools declare the effects that the settings name."""
        return ApprovalInterceptor(settings.approval.effects)

    @bean
    @on_missing_bean
    def tool_calling_manager(
        self,
        resolver: ToolCallbackResolver,
        processor: ToolExecutionExceptionProcessor,
        settings: ToolCallingSettings,
        registry: ObjectProvider[ObservationRegistry],
        convention: ToolCallingObservationConvention,
        interceptors: list[ToolCallInterceptor],
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
            interceptors=tuple(interceptors),
        )
