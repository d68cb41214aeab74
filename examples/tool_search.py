"""More tools than a model should be shown: it is offered a search, and the tools that it has found with it.

The plugin vernal-tool-search takes the place of the tool loop by a setting; tools are given as ever. The offline model
passes the question on to the search, a real one searches in its own words.

Run: python examples/tool_search.py

Prints:
    60 tools are given
    offered: toolSearchTool
    offered: toolSearchTool, open_blinds_attic, open_blinds_bathroom
    offered: toolSearchTool, open_blinds_attic, open_blinds_bathroom
    toolSearchTool(query="Open the blinds in the attic"): open_blinds_attic, open_blinds_bathroom
    open_blinds_attic(): the blinds in the attic: done
"""

from vernal import (
    HIGHEST_PRECEDENCE,
    AdvisorChain,
    Application,
    BaseAdvisor,
    ChatClient,
    ChatClientRequest,
    FunctionToolCallback,
    ToolCallback,
    ToolCallingChatOptions,
)

ROOMS = ("attic", "bathroom", "bedroom", "cellar", "garage", "garden", "hall", "kitchen", "nursery", "office")
DEVICES = {
    "dim_light": "Make the light darker",
    "open_blinds": "Let the daylight in through the blinds",
    "raise_heating": "Make it warmer by one degree",
    "mute_speaker": "Silence the music",
    "start_fan": "Move the air",
    "water_plants": "Give the plants some water",
}


def switch(device: str, room: str) -> ToolCallback:
    def run() -> str:
        return f"the {device.split('_')[1]} in the {room}: done"

    return FunctionToolCallback(run, name=f"{device}_{room}", description=f"{DEVICES[device]} in the {room}.")


class Watching(BaseAdvisor):
    order = HIGHEST_PRECEDENCE + 400  # inside the loop: it sees every round

    async def before(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        options = request.prompt.options
        if isinstance(options, ToolCallingChatOptions):
            print("offered:", ", ".join(tool.definition.name for tool in options.tool_callbacks or ()))
        return request


def main() -> None:
    tools = [switch(device, room) for device in DEVICES for room in ROOMS]
    print(f"{len(tools)} tools are given")
    search = {"enabled": True, "tool_index_type": "keyword", "max_results": 2}
    with Application(settings={"chat": {"model": "offline", "client": {"tool_search_advisor": search}}}) as context:
        client = context.get(ChatClient)
        request = client.prompt("Open the blinds in the attic").tools(*tools).advisors(Watching(), conversation_id="c")
        print(request.call().content())


if __name__ == "__main__":
    main()
