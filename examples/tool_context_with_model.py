"""The tool context without a chat client: it travels in the prompt's options, and the manager hands it to the tools.

Run: python examples/tool_context_with_model.py

Prints:
    customer 42 of acme is Ada Lovelace
"""

from vernal import (
    Application,
    ChatModel,
    Prompt,
    ToolCallingChatOptions,
    ToolCallingManager,
    ToolContext,
    tool,
    tool_callbacks,
)


class CustomerTools:
    @tool
    def get_customer(self, number: int, context: ToolContext) -> str:
        """Tell about a customer."""
        return f"customer {number} of {context['tenant_id']} is Ada Lovelace"


def main() -> None:
    options = ToolCallingChatOptions(
        tool_callbacks=tool_callbacks(CustomerTools()),
        tool_context={"tenant_id": "acme"},
    )
    with Application(settings={"chat": {"model": "offline"}}) as context:
        model, manager = context.get(ChatModel), context.get(ToolCallingManager)
        prompt = Prompt("Tell me about customer 42", options)
        result = manager.execute_tool_calls(prompt, model.call(prompt))
        print(model.call(Prompt(result.conversation_history, options)).text)


if __name__ == "__main__":
    main()
