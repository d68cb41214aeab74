"""What happens in a turn, as typed events: text, tool calls with their progress, rounds with their usage, the end.

A tool reports progress through its `ToolContext`; `content()` would give the texts only.

Run: python examples/events.py

Prints:
    text: One moment.
    tool started: pack {'items': 2}
    tool progress: packing (50 %)
    tool finished: packed 2
    round 1 finished
    text: Your parcel
    text:  is packed.
    round 2 finished
    turn finished: One moment. Your parcel is packed.
"""

from vernal import (
    ChatClient,
    RoundFinished,
    TextEvent,
    ToolCallFinished,
    ToolCallProgress,
    ToolCallStarted,
    ToolContext,
    TurnFinished,
    tool,
)
from vernal.testing import ScriptedChatModel, chunks, tool_call


@tool
def pack(items: int, context: ToolContext) -> str:
    """Pack a parcel."""
    context.report_progress("packing", fraction=0.5)
    return f"packed {items}"


def main() -> None:
    """Print each event as it comes."""
    model = ScriptedChatModel([("One moment. ", tool_call("pack", items=2)), chunks("Your parcel", " is packed.")])
    with ChatClient(model).prompt("Pack two things").tools(pack).stream().events() as events:
        for event in events:
            match event:
                case TextEvent(text=text):
                    print(f"text: {text}".rstrip())
                case ToolCallStarted(name=name, arguments=arguments):
                    print(f"tool started: {name} {arguments}")
                case ToolCallProgress(message=message, fraction=fraction):
                    print(f"tool progress: {message} ({fraction or 0:.0%})".replace("%)", " %)"))
                case ToolCallFinished(response=response):
                    print(f"tool finished: {response.data}")
                case RoundFinished(number=number):
                    print(f"round {number} finished")
                case TurnFinished(response=whole):
                    print(f"turn finished: {whole.text}")


if __name__ == "__main__":
    main()
