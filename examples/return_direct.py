"""A tool whose result is the answer: it goes to the caller as it is, and the model is not asked again.

That holds only where every call of the round is of such a tool; else the results go back to the model.

Run: python examples/return_direct.py

Prints:
    one direct tool: 'page 7: bring a coat', 1 request, finish reason returnDirect
    beside another: 'Page 7 advises a coat; it has 9 °C.', 2 requests, finish reason stop
"""

from vernal import ChatClient, tool
from vernal.testing import ScriptedChatModel, tool_call, tool_calls


class HandbookTools:
    @tool(return_direct=True)
    def look_up(self, topic: str) -> str:
        """Look a topic up in the travel handbook."""
        return "page 7: bring a coat"

    @tool
    def get_temperature(self, city: str) -> str:
        """The temperature in a city."""
        return "9 °C"


def main() -> None:
    look_up = tool_call("look_up", topic="Oslo in May")
    both = tool_calls(look_up, tool_call("get_temperature", city="Oslo"))
    scripts: dict[str, list[object]] = {
        "one direct tool": [look_up],
        "beside another": [both, "Page 7 advises a coat; it has 9 °C."],
    }
    for name, script in scripts.items():
        model = ScriptedChatModel(script)
        response = ChatClient(model).prompt("What do I wear in Oslo?").tools(HandbookTools()).call().chat_response()
        assert response is not None
        requests = f"{len(model.requests)} request{'s' if len(model.requests) > 1 else ''}"
        print(f"{name}: {response.text!r}, {requests}, finish reason {response.finish_reason}")


if __name__ == "__main__":
    main()
