"""A destructive tool waits for somebody's word, and the turn goes on in another process.

`ApprovalInterceptor` suspends calls of tools that are declared destructive; it is a bean, so that the application's
manager takes it. The suspended turn is plain JSON: it can lie in a database until somebody decides.

Run: python examples/approval.py

Prints:
    waits for: refund {"order": "42"} (the tool refund is destructive)
    ran so far: []
    answer: Order 42 is refunded.
    ran: ['refund 42']
"""

from vernal import (
    Allow,
    Application,
    ApprovalInterceptor,
    ChatClient,
    ChatModel,
    SuspendedTurn,
    ToolCallInterceptor,
    TurnSuspended,
    bean,
    configuration,
    tool,
)
from vernal.testing import ScriptedChatModel, tool_call


class Orders:
    """What can be done with orders; `ran` keeps what was done."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    @tool(effects="destructive")
    def refund(self, order: str) -> str:
        """Refund an order."""
        self.ran.append(f"refund {order}")
        return "refunded"


@configuration
class Beans:
    """A model that follows a script, and who decides about tool calls."""

    @bean
    def chat_model(self) -> ChatModel:
        return ScriptedChatModel([tool_call("refund", order="42"), "Order 42 is refunded."])

    @bean
    def approval(self) -> ToolCallInterceptor:
        return ApprovalInterceptor()


def main() -> None:
    """Ask, wait, decide, go on."""
    orders = Orders()
    with Application(Beans) as context:
        client = context.get(ChatClient)
        try:
            client.prompt("Refund order 42").tools(orders).call().content()
        except TurnSuspended as suspended:
            stored = suspended.state.to_json()

        state = SuspendedTurn.from_json(stored)
        (call,) = state.pending
        print(f"waits for: {call.name} {call.arguments} ({state.reasons[call.id]})")
        print(f"ran so far: {orders.ran}")
        answer = client.prompt().tools(orders).resume(state, {call.id: Allow()}).call().content()
        print(f"answer: {answer}")
        print(f"ran: {orders.ran}")


if __name__ == "__main__":
    main()
