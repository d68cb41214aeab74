"""The chat client, its builder and its tool advisor."""

from pydantic import BaseModel, ConfigDict, Field

from vernal.advisors.api import HIGHEST_PRECEDENCE, LOWEST_PRECEDENCE, ToolAdvisor
from vernal.advisors.tool_calling import (
    DEFAULT_ORDER,
    ToolCallingAdvisor,
    ToolExecutionEligibilityChecker,
    has_tool_calls,
)
from vernal.client.assembly import TOOL_CALLING_ADVISOR_AUTO_REGISTER
from vernal.client.builder import ChatClientBuilder, ChatClientCustomizer
from vernal.client.client import ChatClient
from vernal.context import (
    ApplicationContext,
    ObjectProvider,
    auto_configuration,
    bean,
    on_bean,
    on_missing_bean,
    on_setting,
)
from vernal.context.plugins import LoadedPlugins
from vernal.context.settings import Settings
from vernal.models.chat import ChatModel
from vernal.models.observation import ChatModelObservationConvention
from vernal.observation import ObservationRegistry
from vernal.tools.customization import ToolCustomizer
from vernal.tools.manager import ToolCallingManager


class ClientToolCallingSettings(BaseModel):
    """The tool-calling loop of chat clients."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(default=True, description="Whether the tool advisor is registered by itself.")
    advisor_order: int = Field(
        default=DEFAULT_ORDER,
        gt=HIGHEST_PRECEDENCE,
        lt=LOWEST_PRECEDENCE,
        description="Where the tool advisor stands; advisors of a greater order are inside its loop.",
    )


class ChatClientSettings(Settings, prefix="chat.client"):
    """What is set for chat clients."""

    enabled: bool = Field(default=True, description="Whether there are a chat client and its builder at all.")
    tool_calling: ClientToolCallingSettings = ClientToolCallingSettings()


@auto_configuration(after="ToolCallingAutoConfiguration")
@on_setting("chat.client.enabled", match_if_missing=True)
class ChatClientAutoConfiguration:
    """The tool advisor, the builder (a fresh one for each that asks), and a ready client."""

    @bean
    @on_bean(ToolCallingManager)
    @on_missing_bean
    def tool_advisor(
        self,
        manager: ToolCallingManager,
        settings: ChatClientSettings,
        checker: ObjectProvider[ToolExecutionEligibilityChecker],
    ) -> ToolAdvisor:
        """The loop that clients register, with the application's manager and eligibility checker."""
        return ToolCallingAdvisor(
            tool_calling_manager=manager,
            tool_execution_eligibility_checker=checker.get_if_unique(has_tool_calls),
            advisor_order=settings.tool_calling.advisor_order,
        )

    @bean(scope="prototype")
    @on_missing_bean
    def chat_client_builder(
        self,
        model: ChatModel,
        advisor: ToolAdvisor | None,
        settings: ChatClientSettings,
        customizers: list[ChatClientCustomizer],
        tool_customizers: list[ToolCustomizer],
        plugins: LoadedPlugins,
        registry: ObjectProvider[ObservationRegistry],
        convention: ObjectProvider[ChatModelObservationConvention],
        context: ApplicationContext,
    ) -> ChatClientBuilder:
        """A builder with the application's defaults; customizers run on it in their order (CAC-11).

        Turns run on the loop of the asynchronous beans, where there are some.
        """
        builder = ChatClientBuilder(model).event_loop(lambda: context.loop).tool_customizers(*tool_customizers)
        if advisor is not None:
            builder.tool_advisor(advisor)
        listening = registry.get_if_unique()
        if listening is not None:
            builder.observation_registry(listening, convention.get_if_unique())
        if not settings.tool_calling.enabled:
            builder.default_advisors(**{TOOL_CALLING_ADVISOR_AUTO_REGISTER: False})
        contributed = [customizer for plugin in plugins for customizer in plugin.chat_client_customizers]
        for customizer in (*contributed, *customizers):
            customizer(builder)
        return builder

    @bean
    @on_missing_bean
    def chat_client(self, builder: ChatClientBuilder) -> ChatClient:
        """A client with the defaults of the builder."""
        return builder.build()
