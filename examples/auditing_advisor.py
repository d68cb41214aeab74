"""A subclass of the tool loop: one hook records what the model wants done before it is done, in calls and in streams.

A bean of the type `ToolAdvisor` takes the place of the default loop in every client. A subclass overrides the hook of a
call or its stream twin; the other follows.

Run: python examples/auditing_advisor.py

Prints:
    audit: refund {"order": 42}
    order 42 is refunded
    audit: refund {"order": 43}
    order 43 is refunded
"""

from dataclasses import dataclass

from vernal import (
    AdvisorChain,
    Application,
    ChatClient,
    ChatClientResponse,
    ToolAdvisor,
    ToolCallingAdvisor,
    ToolCallingManager,
    bean,
    configuration,
    tool,
)


@tool(effects="write")
def refund(order: int) -> str:
    """Refund an order."""
    return f"order {order} is refunded"


class AuditService:
    def record_intent(self, name: str, arguments: str) -> None:
        print(f"audit: {name} {arguments}")


@dataclass(kw_only=True, eq=False)
class AuditingToolCallingAdvisor(ToolCallingAdvisor):
    audit: AuditService

    async def do_after_call(self, response: ChatClientResponse, chain: AdvisorChain) -> ChatClientResponse:
        for call in response.tool_calls:
            self.audit.record_intent(call.name, call.arguments)
        return response


@configuration
class Auditing:
    @bean
    def audit_service(self) -> AuditService:
        return AuditService()

    @bean
    def tool_advisor(self, manager: ToolCallingManager, audit: AuditService) -> ToolAdvisor:
        return AuditingToolCallingAdvisor(tool_calling_manager=manager, audit=audit)


def main() -> None:
    with Application(Auditing, settings={"chat": {"model": "offline"}}) as context:
        client = context.get(ChatClient)
        print(client.prompt("Refund order 42").tools(refund).call().content())
        print("".join(client.prompt("Refund order 43").tools(refund).stream().content()))


if __name__ == "__main__":
    main()
