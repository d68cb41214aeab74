"""One request does not run tools by itself; all others of the same client do.

Run: python examples/opt_out_per_call.py

Prints:
    by itself: Thursday, 6 March
    opted out: None, but get_day_after {"day": "Wednesday"} is wanted
"""

from vernal import Application, ChatClient, tool


class DateTimeTools:
    @tool
    def get_day_after(self, day: str) -> str:
        """The day after a day of the week."""
        return "Thursday, 6 March"


def main() -> None:
    with Application(settings={"chat": {"model": "offline"}}) as context:
        client = context.get(ChatClient)
        question = "What is the day after Wednesday?"

        print("by itself:", client.prompt(question).tools(DateTimeTools()).call().content())

        response = (
            client.prompt(question)
            .tools(DateTimeTools())
            .advisors(tool_calling_advisor_auto_register=False)
            .call()
            .chat_client_response()
        )
        (call,) = response.tool_calls
        print(f"opted out: {response.text}, but {call.name} {call.arguments} is wanted")


if __name__ == "__main__":
    main()
