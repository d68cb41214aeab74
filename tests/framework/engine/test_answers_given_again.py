"""An advisor that answers a round with what the model said before."""

from vernal import (
    HIGHEST_PRECEDENCE,
    AssistantMessage,
    CallAdvisor,
    CallAdvisorChain,
    ChatClient,
    ChatClientRequest,
    ChatClientResponse,
)
from vernal.testing import ScriptedChatModel, assert_replayable, tool_call


class Parrot(CallAdvisor):
    """Stands inside the loop, and gives the first answer a second time instead of asking the model."""

    order = HIGHEST_PRECEDENCE + 400

    def __init__(self) -> None:
        self.given: list[ChatClientResponse] = []

    async def advise_call(self, request: ChatClientRequest, chain: CallAdvisorChain) -> ChatClientResponse:
        self.given.append(self.given[0] if len(self.given) == 1 else await chain.next_call(request))
        return self.given[-1]


def test_an_answer_that_is_given_twice_gets_ids_of_its_own_each_time() -> None:
    """Calls that an advisor repeats, as the very same object, run again under new ids (R8): the history stays
    replayable (R1)."""
    ran: list[str] = []

    def note(text: str) -> str:
        """Note a text."""
        ran.append(text)
        return "noted"

    model = ScriptedChatModel([tool_call("note", call_id="call_1", text="a"), "done"])
    client = ChatClient(model)
    assert client.prompt("Note a, twice").tools(note).advisors(Parrot()).call().content() == "done"
    assert ran == ["a", "a"]
    messages = model.requests[-1].messages
    assert_replayable(messages)
    ids = [call.id for message in messages if isinstance(message, AssistantMessage) for call in message.tool_calls]
    assert ids[0] == "call_1"
    assert len(set(ids)) == len(ids) == 2
