"""The blocking face works wherever it is called from (R30)."""

import asyncio
import contextvars
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from vernal import (
    ChatClient,
    ChatModel,
    ChatResponse,
    DefaultToolCallingManager,
    Prompt,
    ToolCallingAdvisor,
    ToolCallLimits,
    UsageError,
)
from vernal.runtime.portal import run_blocking
from vernal.testing import ScriptedChatModel, tool_call, tool_calls

Tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant", default="nobody")


class Echo(ChatModel):
    """Answers with what it was asked, and where it ran."""

    async def acall(self, prompt: Prompt) -> ChatResponse:
        await asyncio.sleep(0)
        return ChatResponse.of(f"{prompt.user_message.text} {threading.current_thread().name} {Tenant.get()}")


ECHO = ChatClient(Echo())


def ask(text: str = "Hi") -> str | None:
    return ECHO.prompt(text).call().content()


def test_blocking_work_runs_on_the_portal_with_the_callers_context() -> None:
    """R30: the same thread serves all callers; context variables reach it."""
    token = Tenant.set("acme")
    try:
        assert ask() == "Hi vernal-portal acme"
    finally:
        Tenant.reset(token)
    assert ask() == "Hi vernal-portal nobody"


def test_errors_come_out_as_they_were_raised() -> None:
    """R30: the very exception, also one that is no Exception; the portal goes on."""
    for error in (LookupError("gone"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()):

        async def fail(error: BaseException = error) -> None:
            raise error

        with pytest.raises(type(error)) as caught:
            run_blocking(fail)
        assert caught.value is error or isinstance(error, asyncio.CancelledError)
    assert ask() == "Hi vernal-portal nobody"


def test_it_works_inside_a_running_loop() -> None:
    """R30: as in a notebook: the loop is blocked meanwhile, and goes on afterwards."""

    async def cell() -> list[str | None]:
        later = asyncio.create_task(ECHO.prompt("Later").acall().content())
        blocking = ask("Now")
        with ECHO.prompt("Stream").stream().content() as texts:
            streamed = "".join(texts)
        assert not later.done()
        return [blocking, streamed, await later]

    assert asyncio.run(cell()) == [
        "Now vernal-portal nobody",
        "Stream vernal-portal nobody",
        "Later MainThread nobody",
    ]


def test_it_works_in_many_threads_at_once() -> None:
    """R30: all of them are served at the same time."""
    together = threading.Barrier(20)

    def run(n: int) -> str | None:
        together.wait(20)
        return ask(str(n))

    with ThreadPoolExecutor(20) as threads:
        assert list(threads.map(run, range(20))) == [f"{n} vernal-portal nobody" for n in range(20)]


def nested(depth: int, *, streams: bool = False) -> str:
    """A turn whose blocking tool runs a turn, and so on."""
    if depth == 0:
        return "bottom"

    def deeper() -> str:
        return nested(depth - 1, streams=streams)

    client = ChatClient(ScriptedChatModel([tool_call("deeper"), lambda prompt: prompt.messages[-1].responses[0].data]))
    spec = client.prompt("Go on.").tools(deeper)
    if not streams:
        return f"{spec.call().content()}."
    with spec.stream().content() as texts:
        return "".join(texts) + "."


@pytest.mark.parametrize("streams", [False, True], ids=["call", "stream"])
def test_a_hundred_nested_turns_do_not_deadlock(streams: bool) -> None:
    """R30: in tools of tools, at any depth; no process-wide limit stands in the way."""
    assert nested(100, streams=streams) == "bottom" + "." * 100


def test_turns_nested_in_breadth_do_not_deadlock() -> None:
    """R30: many tools of one round, each with a turn of its own with tools of its own."""

    def inner() -> str:
        return "inner"

    def outer() -> str:
        calls = tool_calls(*[tool_call("inner", call_id=str(n)) for n in range(8)])
        client = ChatClient(ScriptedChatModel([calls, "inner done"]))
        return client.prompt("Go on.").tools(inner).call().content() or ""

    limits = ToolCallLimits(max_identical_calls=None)
    advisor = ToolCallingAdvisor(tool_calling_manager=DefaultToolCallingManager(limits=limits, max_parallel_calls=20))
    model = ScriptedChatModel([tool_calls(*[tool_call("outer", call_id=str(n)) for n in range(20)]), "done"])
    client = ChatClient.builder(model).tool_advisor(advisor).build()
    assert client.prompt("Go on.").tools(outer).call().content() == "done"


def test_a_nested_turn_runs_on_the_loop_of_its_tool() -> None:
    """R30, DESIGN: a blocking tool of an asynchronous turn asks on the loop of that turn, not on the portal."""

    def inner() -> str:
        return ask("Inner") or ""

    async def run() -> str | None:
        answers = [tool_call("inner"), lambda prompt: prompt.messages[-1].responses[0].data]
        return await ChatClient(ScriptedChatModel(answers)).prompt("Go on.").tools(inner).acall().content()

    assert asyncio.run(run()) == "Inner MainThread nobody"


def test_a_loop_that_would_wait_for_itself_is_refused() -> None:
    """R30: an asynchronous tool that calls the blocking face is told the cure; nothing hangs."""
    refusals: list[UsageError] = []

    async def careless() -> str:
        for attempt in (lambda: ask(), lambda: list(ECHO.prompt("Hi").stream().content())):
            try:
                attempt()
            except UsageError as refusal:
                refusals.append(refusal)
        return await ECHO.prompt("Hi").acall().content() or ""

    model = ScriptedChatModel([tool_call("careless"), "Done."])
    assert ChatClient(model).prompt("Go on.").tools(careless).call().content() == "Done."
    assert len(refusals) == 2
    assert all("await the asynchronous face" in str(refusal) for refusal in refusals)


def python(code: str) -> "subprocess.Popen[str]":
    """Runs a program of its own, since signals and forks are matters of a process."""
    return subprocess.Popen(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def output(program: "subprocess.Popen[str]", timeout: float = 40) -> list[str]:
    try:
        out, errors = program.communicate(timeout=timeout)
    finally:
        program.kill()
    assert program.returncode == 0, errors
    return out.splitlines()


HEAD = """
import asyncio, os, signal, sys, threading
from vernal import ChatClient, ChatModel, ChatResponse, Prompt
from vernal.testing import ScriptedChatModel, tool_call

def ask(text="Hi"):
    return ChatClient(ScriptedChatModel([text])).prompt(text).call().content()

def in_child(work):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        print(work(), flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


def test_it_works_after_a_fork() -> None:
    """R30: the child starts a portal and workers of its own, also where it was forked off inside a tool."""
    program = python(
        HEAD
        + """
def with_tool(text):
    def tool():
        return ask(text)
    return ChatClient(ScriptedChatModel([tool_call("tool"), text])).prompt("Go on.").tools(tool).call().content()

def forking():
    in_child(lambda: with_tool("child in tool"))
    return "forked"

print(with_tool("parent"))
in_child(lambda: with_tool("child"))
in_child(lambda: (in_child(lambda: with_tool("grandchild")), "child again")[1])
print(ChatClient(ScriptedChatModel([tool_call("forking"), "parent"])).prompt("Go on.").tools(forking).call().content())

async def in_loop():
    in_child(lambda: with_tool("child of a loop"))
asyncio.run(in_loop())
"""
    )
    assert output(program) == [
        "parent",
        "child",
        "grandchild",
        "child again",
        "child in tool",
        "parent",
        "child of a loop",
    ]


@pytest.mark.parametrize("form", ["call().content()", "stream().content().__next__()"])
def test_ctrl_c_cancels_the_work(form: str) -> None:
    """R30: not only the waiting: the model is cancelled before KeyboardInterrupt comes out; the next turn works."""
    program = python(
        HEAD
        + f"""
class Slow(ChatModel):
    async def acall(self, prompt):
        print("asked", flush=True)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            print("cancelled", flush=True)
            raise

try:
    ChatClient(Slow()).prompt("Hi").{form}
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(ask("next"))
"""
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "asked\n"
    program.send_signal(signal.SIGINT)
    assert output(program) == ["cancelled", "interrupted", "next"]


def test_ctrl_c_abandons_a_blocking_tool() -> None:
    """R30: a thread cannot be stopped, but nobody waits for it, and the program ends."""
    program = python(
        HEAD
        + """
def stuck():
    print("stuck", flush=True)
    threading.Event().wait()

try:
    ChatClient(ScriptedChatModel([tool_call("stuck")])).prompt("Hi").tools(stuck).call().content()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "stuck\n"
    program.send_signal(signal.SIGINT)
    assert output(program) == ["interrupted"]


def test_at_exit_what_still_runs_is_ended() -> None:
    """R30: a stream that was left open is closed when the program ends."""
    program = python(
        HEAD
        + """
class Endless(ChatModel):
    async def astream(self, prompt):
        try:
            yield ChatResponse.of("one")
            await asyncio.Event().wait()
        finally:
            print("closed", flush=True)

stream = ChatClient(Endless()).prompt("Hi").stream().content()
print(next(stream), flush=True)
"""
    )
    assert output(program) == ["one", "closed"]


def test_a_blocking_model_in_an_asynchronous_turn_may_ask_another() -> None:
    """R30: either face within either face."""

    class Outer(ChatModel):
        def call(self, prompt: Prompt) -> ChatResponse:
            return Echo().call(prompt)

    class OuterStream(ChatModel):
        async def astream(self, prompt: Prompt) -> AsyncIterator[ChatResponse]:
            async for chunk in Outer().astream(prompt):
                yield chunk

    assert ChatClient(OuterStream()).prompt("Hi").call().content() == "Hi vernal-portal nobody"
    assert asyncio.run(ChatClient(OuterStream()).prompt("Hi").acall().content()) == "Hi MainThread nobody"
