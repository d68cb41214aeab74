"""Beans of one's own, from a dependency-injector container and from a configuration class; the defaults step back.

Parameters of bean methods and unbound dependencies of containers are filled by type. `context.conditions` says of every
default why it is there or not.

Run: python examples/overriding_beans.py

Prints:
    order 42 is refunded (2 orders on file)
    refund(order=77) failed: {"result": "fail", "error": "no order 77"}
    the default processor stepped back: True
"""

import json

from dependency_injector import containers, providers

from vernal import (
    Application,
    ChatClient,
    ToolExecutionException,
    ToolExecutionExceptionProcessor,
    bean,
    configuration,
    tool,
)


class JsonErrors(ToolExecutionExceptionProcessor):
    def process(self, exception: ToolExecutionException) -> str:
        return json.dumps({"result": "fail", "error": str(exception)})


class Orders:
    def __init__(self, numbers: tuple[int, ...]) -> None:
        self.numbers = numbers


class OrderTools:
    def __init__(self, orders: Orders) -> None:
        self.orders = orders

    @tool(effects="write")
    def refund(self, order: int) -> str:
        """Refund an order."""
        if order not in self.orders.numbers:
            raise LookupError(f"no order {order}")
        return f"order {order} is refunded ({len(self.orders.numbers)} orders on file)"


class Beans(containers.DeclarativeContainer):
    orders = providers.Singleton(Orders, (41, 42))
    tool_execution_exception_processor = providers.Singleton(JsonErrors)


@configuration
class Tools:
    @bean
    def order_tools(self, orders: Orders) -> OrderTools:
        return OrderTools(orders)


def main() -> None:
    with Application(Beans, Tools, settings={"chat": {"model": "offline"}}) as context:
        client, tools = context.get(ChatClient), context.get(OrderTools)
        print(client.prompt("Refund order 42").tools(tools).call().content())
        print(client.prompt("Refund order 77").tools(tools).call().content())
        default = context.conditions["ToolCallingAutoConfiguration.tool_execution_exception_processor"]
        print("the default processor stepped back:", not default.matched)


if __name__ == "__main__":
    main()
