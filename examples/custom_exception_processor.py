"""An exception processor of one's own decides what the model is told of a tool that failed: here, a JSON object.

As a bean it takes the place of the default processor, and the application's manager uses it. A manager built by hand
takes it as `DefaultToolCallingManager(tool_execution_exception_processor=…)`.

Run: python examples/custom_exception_processor.py

Prints:
    the model is told: {"result": "fail", "error": "the till is locked"}
    I could not refund it: the till is locked.
"""

import json

from dependency_injector import containers, providers

from vernal import (
    Application,
    ChatClient,
    Prompt,
    ToolExecutionException,
    ToolExecutionExceptionProcessor,
    ToolResponseMessage,
    tool,
)
from vernal.testing import ScriptedChatModel, tool_call


@tool(effects="write")
def refund(order: int) -> str:
    """Refund an order."""
    raise RuntimeError("the till is locked")


class ExampleToolExecutionExceptionProcessor(ToolExecutionExceptionProcessor):
    def process(self, exception: ToolExecutionException) -> str:
        return json.dumps({"result": "fail", "error": str(exception)})


def apologise(prompt: Prompt) -> str:
    told = prompt.last_user_or_tool_response_message
    assert isinstance(told, ToolResponseMessage)
    print("the model is told:", told.responses[0].data)
    return f"I could not refund it: {json.loads(told.responses[0].data)['error']}."


class Beans(containers.DeclarativeContainer):
    tool_execution_exception_processor = providers.Singleton(ExampleToolExecutionExceptionProcessor)
    chat_model = providers.Singleton(ScriptedChatModel, [tool_call("refund", order=42), apologise])


def main() -> None:
    with Application(Beans) as context:
        print(context.get(ChatClient).prompt("Refund order 42").tools(refund).call().content())


if __name__ == "__main__":
    main()
