"""R7: only the tools on offer in this round can run; any other name is answered with those on offer."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import ALL_FORMS, TOOLS

from vernal import (
    ChatClient,
    ChatResponse,
    DefaultToolCallingManager,
    FunctionToolCallback,
    StaticToolCallbackResolver,
    ToolCall,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
    ToolResponseMessage,
)
from vernal.testing import ScriptedChatModel

NAMES = ["a", "b", "c"]


def callbacks(ran: list[str]) -> dict[str, FunctionToolCallback]:
    """Three tools that note their runs."""

    def named(name: str) -> FunctionToolCallback:
        def run(n: int = 0) -> str:
            ran.append(name)
            return "ran"

        return FunctionToolCallback(run, name=name, description=name)

    return {name: named(name) for name in NAMES}


OFFERS = st.lists(st.lists(st.sampled_from(NAMES), unique=True, max_size=3), min_size=1, max_size=3)
ASKED = st.lists(st.sampled_from([*NAMES, "A", "a ", "", "zz", *TOOLS]), min_size=1, max_size=3)


@given(offers=OFFERS, asked=ASKED, resolving=st.booleans())
def test_what_is_not_offered_does_not_run(offers: list[list[str]], asked: list[str], resolving: bool) -> None:
    """R7: a hook offers other tools each round, and a resolver knows them all; only with resolution by name switched
    on may it be asked."""
    for form in ALL_FORMS:
        ran: list[str] = []
        known = callbacks(ran)

        class Offering(ToolCallingAdvisor):
            """Offers each round's tools."""

            async def do_before_call(self, request: Any, chain: Any) -> Any:
                number = len(model.requests)  # noqa: B023  # read within the loop
                offered = offers[number] if number < len(offers) else []
                options = ToolCallingChatOptions(tool_callbacks=[known[name] for name in offered])  # noqa: B023
                return request.with_prompt(request.prompt.with_options(options))

        manager = DefaultToolCallingManager(
            tool_callback_resolver=StaticToolCallbackResolver(known.values()), resolution_fallback_enabled=resolving
        )
        rounds = [
            ChatResponse.of(
                tool_calls=[ToolCall(f"{r}-{n}", name, f'{{"n": {9 * r + n}}}') for n, name in enumerate(asked)]
            )
            for r in range(len(offers))
        ]
        model = ScriptedChatModel([*rounds, "done"])
        client = ChatClient.builder(model).tool_advisor(Offering(tool_calling_manager=manager)).build()
        assert form.ask(client.prompt("Go on.")).text == "done"
        expected = []
        for offered, request in zip(offers, model.requests[1:], strict=True):
            message = request.messages[-1]
            assert isinstance(message, ToolResponseMessage)
            for name, response in zip(asked, message.responses, strict=True):
                runs = name in offered or (resolving and name in NAMES)
                expected += [name] if runs else []
                assert response.is_error == (not runs)
                if not runs and offered:
                    assert response.data.endswith(f"Available tools: {', '.join(offered)}.")
        assert sorted(ran) == sorted(expected)
