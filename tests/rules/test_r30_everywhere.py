"""R30: the blocking API works inside a running loop, in threads, nested at any depth, and after fork."""

import asyncio
import linecache
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import ChatClient, ChatModel, ChatResponse, Prompt, UsageError
from vernal.runtime import portal, streams
from vernal.testing import Form, ScriptedChatModel, tool_call, tool_calls


def nested(plan: list[tuple[str, bool, int]], depth: int = 0) -> Any:
    """A request whose tool asks in the next form of the plan, and so on: a form, whether its tool is asynchronous, and
    how many calls there are at once."""
    _, asynchronous, breadth = plan[depth]

    def deeper(n: int) -> str:
        """Ask another."""
        if depth + 1 == len(plan):
            return f"bottom {n}"
        return Form(plan[depth + 1][0])._chunks(nested(plan, depth + 1))[-1].text or ""

    async def adeeper(n: int) -> str:
        """Ask another."""
        if depth + 1 == len(plan):
            return f"bottom {n}"
        return (await Form(plan[depth + 1][0])._achunks(nested(plan, depth + 1)))[-1].text or ""

    adeeper.__name__ = "deeper"
    calls = tool_calls(*(tool_call("deeper", n=n) for n in range(breadth)))
    client = ChatClient(ScriptedChatModel([calls, f"answer {depth}"]))
    return client.prompt("?").tools(adeeper if asynchronous else deeper)


STEPS = st.tuples(st.booleans(), st.booleans(), st.integers(1, 3))


@given(steps=st.lists(STEPS, min_size=1, max_size=4), first=st.sampled_from(Form))
def test_turns_nest_in_any_form_to_any_depth(steps: list[tuple[bool, bool, int]], first: Form) -> None:
    """R30: blocking tools ask in blocking forms and asynchronous ones in asynchronous forms, called and streamed, mixed
    in any order, several at once."""
    plan: list[tuple[str, bool, int]] = [(first, steps[0][1], steps[0][2])]
    for (_, above, _), (streamed, asynchronous, breadth) in pairwise(steps):
        plan.append((("a" if above else "") + ("stream" if streamed else "call"), asynchronous, breadth))
    assert first.ask(nested(plan)).text == "answer 0"


@given(blocking=st.booleans(), streamed=st.booleans(), threads=st.integers(1, 6))
def test_one_client_serves_threads_and_loops_at_once(blocking: bool, streamed: bool, threads: int) -> None:
    """R30: each thread with a loop of its own, or with none, and each inside a running loop."""

    def answer(prompt: Prompt) -> Any:
        return tool_call("look", n=1) if len(prompt.messages) == 1 else f"re: {prompt.messages[0].text}"

    async def look(n: int) -> str:
        """Look."""
        await asyncio.sleep(0)
        return "seen"

    client = ChatClient.builder(ScriptedChatModel([answer] * 99)).default_tools(look).build()
    barrier = threading.Barrier(threads)

    def ask(number: int) -> str:
        form = Form(("" if blocking else "a") + ("stream" if streamed else "call"))
        barrier.wait(10)
        if blocking and number % 2:

            async def inside() -> str:
                return form.ask(client.prompt(str(number))).text

            return asyncio.run(inside())
        return form.ask(client.prompt(str(number))).text

    with ThreadPoolExecutor(threads) as pool:
        assert list(pool.map(ask, range(threads))) == [f"re: {n}" for n in range(threads)]


def test_on_the_loop_that_does_the_work_it_is_refused_with_the_cure() -> None:
    """R30: an asynchronous tool that blocks would wait for itself for ever; it is told to await."""

    async def look() -> str:
        """Look."""
        return ChatClient(ScriptedChatModel(["never"])).prompt("?").call().content() or ""

    model = ScriptedChatModel([tool_call("look"), "done"])
    ChatClient(model).prompt("?").tools(look).call().content()
    told = model.requests[-1].messages[-1].responses[0]  # type: ignore[attr-defined]  # a tool response
    assert told.is_error
    assert "await" in told.data
    assert ".acall() for .call()" in told.data


class Waiting(ChatModel):
    """Never answers."""

    def __init__(self, begun: threading.Event) -> None:
        self.begun, self.ended = begun, threading.Event()

    async def acall(self, prompt: Prompt) -> ChatResponse:
        self.begun.set()
        try:
            return await asyncio.Future()
        finally:
            await asyncio.sleep(0)
            self.ended.set()


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("streamed", [False, True])
def test_ctrl_c_cancels_the_work_before_it_is_raised(streamed: bool, inside: bool) -> None:
    """R30: called and streamed, also inside a running loop, where the first Ctrl-C only cancels the loop's task."""
    begun = threading.Event()
    model = Waiting(begun)

    def interrupt() -> None:
        begun.wait(10)
        os.kill(os.getpid(), signal.SIGINT)

    def ask() -> None:
        spec = ChatClient(model).prompt("?")
        list(spec.stream().content()) if streamed else spec.call().content()

    async def ask_inside() -> None:
        ask()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(ask_inside()) if inside else ask()
    finally:
        signal.signal(signal.SIGINT, before)
        interrupter.join()
    assert model.ended.is_set()


class Stepping(ChatModel):
    """Takes some steps of the loop to answer, and knows how many of its answers are under way."""

    def __init__(self) -> None:
        self.running = 0

    async def acall(self, prompt: Prompt) -> ChatResponse:
        self.running += 1
        try:
            for _ in range(5):
                await asyncio.sleep(0)
            return ChatResponse.of("done")
        finally:
            self.running -= 1


def interrupted_at(line: int, work: Callable[[], object]) -> bool:
    """Do `work`, interrupted at the n-th line of this thread in the runtime; says whether it came so far."""
    places = (portal.__file__, streams.__file__)
    left = line

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal left
        if frame.f_code.co_filename not in places or frame.f_code.co_name == "__del__":
            return None
        text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        if event == "line" and not text.startswith("with "):  # an interrupt on the way out of a lock is Python's own
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("streamed", [False, True])
def test_wherever_an_interrupt_comes_the_work_has_ended_when_it_is_raised(streamed: bool) -> None:
    """R30: between any two lines of the caller, from the first to the last."""
    model = Stepping()
    client, lines = ChatClient(model), 0

    def ask() -> None:
        spec = client.prompt("?")
        list(spec.stream().content()) if streamed else spec.call().content()

    ask()  # the portal has begun: what it begins with is not the caller's work
    while interrupted_at(lines + 1, ask):
        lines += 1
        assert model.running == 0, lines
    assert lines > 20
    assert client.prompt("?").call().content() == "done"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_of_a_process_that_has_used_it_can_use_it(form: Form) -> None:
    """R30: with tools in threads, in the same client."""

    def look(n: int) -> str:
        """Look."""
        return "seen"

    def answer(prompt: Prompt) -> Any:
        return tool_calls(tool_call("look", n=1), tool_call("look", n=2)) if len(prompt.messages) == 1 else "done"

    client = ChatClient.builder(ScriptedChatModel([answer] * 9)).default_tools(look).build()
    assert form.ask(client.prompt("?")).text == "done"
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if form.ask(client.prompt("?")).text == "done" else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_client_of_a_loop_that_has_ended_says_so() -> None:
    """R30: what belongs to a loop cannot run elsewhere; the error says what to do."""
    loop = asyncio.new_event_loop()
    loop.close()
    client = ChatClient.builder(ScriptedChatModel(["never"])).event_loop(lambda: loop).build()
    with pytest.raises(UsageError, match="async with Application"):
        client.prompt("?").call().content()
