"""The beans of the plugin."""

from vernal import (
    ChatClientCustomizer,
    ObjectProvider,
    ToolAdvisor,
    ToolCallingManager,
    ToolExecutionEligibilityChecker,
    auto_configuration,
    bean,
    has_tool_calls,
    on_bean,
    on_missing_bean,
    on_setting,
)
from vernal_audit.advisor import AuditingToolCallingAdvisor
from vernal_audit.journal import Journal
from vernal_audit.settings import AuditSettings, LoopSettings
from vernal_audit.tools import offer_recent_tool_calls


@auto_configuration(after="ToolCallingAutoConfiguration", before="ChatClientAutoConfiguration")
@on_setting("audit.enabled", match_if_missing=True)
class AuditAutoConfiguration:
    """The tool loop that writes calls down comes before the default one, which then steps back."""

    @bean
    @on_missing_bean
    def audit_journal(self, settings: AuditSettings) -> Journal:
        """Where calls are written down."""
        return Journal(settings.path, arguments=settings.arguments)

    @bean
    @on_bean(ToolCallingManager)
    @on_missing_bean
    def tool_advisor(
        self,
        manager: ToolCallingManager,
        journal: Journal,
        settings: LoopSettings,
        checker: ObjectProvider[ToolExecutionEligibilityChecker],
    ) -> ToolAdvisor:
        """The loop that clients register."""
        return AuditingToolCallingAdvisor(
            tool_calling_manager=manager,
            tool_execution_eligibility_checker=checker.get_if_unique(has_tool_calls),
            advisor_order=settings.advisor_order,
            journal=journal,
        )

    @bean
    @on_setting("audit.offer_tool")
    @on_missing_bean(name="audit_customizer")
    def audit_customizer(self) -> ChatClientCustomizer:
        """Offers the plugin's tool; one of several customisers, so that it steps back by name, not by type."""
        return offer_recent_tool_calls
