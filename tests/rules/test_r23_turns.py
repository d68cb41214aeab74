"""R23: what a hook or advisor puts in holds for the rest of the turn, and never leaks to another."""

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import ALL_FORMS

from vernal import (
    BaseAdvisor,
    ChatClient,
    DefaultToolCallingManager,
    MessageChatMemoryAdvisor,
    MessageWindowChatMemory,
    SystemMessage,
    ToolCallingAdvisor,
    ToolCallLimits,
    UserMessage,
)
from vernal.testing import ScriptedChatModel, tool_call


def look(n: int) -> str:
    """Look."""
    return "seen"


class Adding(ToolCallingAdvisor):
    """In one round it adds to the messages, the options and the context, or changes the system message."""

    at = 0

    async def do_before_call(self, request: Any, chain: Any) -> Any:
        number = request.context.get("number", 0)
        request.context["number"] = number + 1
        if number != self.at:
            return request
        messages = [m for m in request.prompt.messages if not isinstance(m, SystemMessage)]
        prompt = request.prompt.with_messages([SystemMessage("changed"), *messages, UserMessage("added")])
        prompt = prompt.with_options(prompt.options.copy(temperature=0.5))
        return request.copy(prompt=prompt, context={"put": "in"})


class Inner(BaseAdvisor):
    """Inside the loop: sees what each round has in its context, and adds."""

    order = 1000

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []

    async def before(self, request: Any, chain: Any) -> Any:
        self.seen.append({k: v for k, v in request.context.items() if k in ("put", "inner")})
        request.context["inner"] = request.context.get("inner", 0) + 1
        return request


@given(rounds=st.integers(1, 4), at=st.integers(0, 3), window=st.sampled_from([None, 1, 100]))
def test_what_is_put_in_holds_to_the_end_of_the_turn(rounds: int, at: int, window: int | None) -> None:
    """R23: in every later round, in every form, with the history trimmed or not; the next turn knows nothing of it."""
    for form in ALL_FORMS:
        inner, advisor = Inner(), Adding()
        advisor.at = at
        turns = [[*(tool_call("look", n=n) for n in range(rounds)), "done"] for _ in range(2)]
        model = ScriptedChatModel([answer for turn in turns for answer in turn])
        builder = ChatClient.builder(model).tool_advisor(advisor).default_system("s").default_advisors(inner)
        client = builder.build()
        for number in range(2):
            spec = client.prompt("Go on.").tools(look)
            if window is not None:
                memory = MessageWindowChatMemory(max_messages=window)
                spec = spec.advisors(MessageChatMemoryAdvisor(chat_memory=memory), conversation_id="c")
            outcome = form.ask(spec)
            requests = model.requests[number * (rounds + 1) :]
            changed = [request.prompt_changed for request in map(_Seen, requests)]
            assert changed == [n >= at for n in range(rounds + 1)]
            contexts = inner.seen[number * (rounds + 1) :]
            assert [c.get("put") for c in contexts] == ["in" if n >= at else None for n in range(rounds + 1)]
            assert [c.get("inner", 0) for c in contexts] == list(range(rounds + 1))
            assert outcome.client_response.context["inner"] == rounds + 1


class _Seen:
    """What of the changes a request has; all or none."""

    def __init__(self, request: Any) -> None:
        system = request.messages[0] == SystemMessage("changed")
        added = sum(m == UserMessage("added") for m in request.messages)
        warm = request.options.temperature == 0.5
        assert (system, added, warm) in [(True, 1, True), (False, 0, False)]
        assert sum(isinstance(m, SystemMessage) for m in request.messages) == 1
        self.prompt_changed = system


class Trimming(ToolCallingAdvisor):
    """Sends the system message and the latest question only."""

    async def do_before_call(self, request: Any, chain: Any) -> Any:
        return request.with_prompt(request.prompt.with_messages([UserMessage("only this")]))


@given(limit=st.integers(1, 4), on_limit=st.sampled_from(["throw", "return_error_response"]))
def test_limits_count_what_ran_whatever_is_sent(limit: int, on_limit: str) -> None:
    """R23: a hook that takes everything away takes nothing from the count."""
    for form in ALL_FORMS:
        ran: list[int] = []

        def work(n: int) -> str:
            """Work."""
            ran.append(n)  # noqa: B023  # used within the loop
            return "worked"

        limits = ToolCallLimits(max_total_tool_calls=limit, on_limit_exceeded=on_limit)  # type: ignore[arg-type]  # a text
        advisor = Trimming(tool_calling_manager=DefaultToolCallingManager(limits=limits))
        model = ScriptedChatModel([tool_call("work", n=n) for n in range(9)])
        outcome = form.ask(ChatClient.builder(model).tool_advisor(advisor).build().prompt("Go on.").tools(work))
        assert outcome.chat_response.finish_reason == "toolCallLimitExceeded"
        assert len(ran) == limit


@given(forms=st.lists(st.booleans(), min_size=2, max_size=6))
def test_turns_at_once_on_one_client_keep_apart(forms: list[bool]) -> None:
    """R23: each has its own context, conversation and usage."""

    async def main() -> None:
        def answer(prompt: Any) -> Any:
            question = next(m.text for m in prompt.messages if isinstance(m, UserMessage))
            return f"re: {question}" if len(prompt.messages) > 2 else tool_call("look", n=int(question))

        class Slow(ScriptedChatModel):
            async def acall(self, prompt: Any) -> Any:
                await asyncio.sleep(0)
                return await super().acall(prompt)

        inner = Inner()
        client = ChatClient.builder(Slow([answer] * 99)).default_advisors(inner).default_tools(look).build()

        async def ask(n: int, streamed: bool) -> None:
            spec = client.prompt(str(n)).advisors(mine=n)
            if streamed:
                async with spec.astream().chat_client_response() as stream:
                    last = [chunk async for chunk in stream][-1]
            else:
                last = await spec.acall().chat_client_response()
            assert last.text == f"re: {n}"
            assert (last.context["mine"], last.context["inner"]) == (n, 2)

        await asyncio.gather(*(ask(n, streamed) for n, streamed in enumerate(forms)))

    asyncio.run(main())
