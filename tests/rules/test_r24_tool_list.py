"""R24: the tool list's order and bytes are deterministic, new tools at the end."""

import json
import subprocess
import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.rules.strategies import ALL_FORMS, Toolbox

from vernal import (
    ChatClient,
    DefaultToolCallingManager,
    FunctionToolCallback,
    Prompt,
    StaticToolCallbackProvider,
    ToolCallingChatOptions,
    tool_callbacks,
)
from vernal.testing import ScriptedChatModel, tool_call

NAMES = [f"tool_{letter}" for letter in "abcdefg"]


def callback(name: str) -> FunctionToolCallback:
    """A tool of that name."""

    def run(n: int = 0, *, m: str = "") -> str:
        return "ran"

    return FunctionToolCallback(run, name=name, description=name)


def offered(prompt: Prompt) -> bytes:
    """What a provider would send of the tools."""
    assert isinstance(prompt.options, ToolCallingChatOptions)
    definitions = DefaultToolCallingManager().resolve_tool_definitions(prompt.options)
    return json.dumps([[d.name, d.description, d.input_schema] for d in definitions], default=dict).encode()


def names(prompt: Prompt) -> list[str]:
    """The names on offer, in order."""
    return [each[0] for each in json.loads(offered(prompt))]


SPLIT = st.permutations(NAMES).flatmap(lambda order: st.tuples(st.just(order), st.integers(0, 7), st.integers(0, 7)))


@given(split=SPLIT, rounds=st.integers(0, 3))
def test_tools_stand_in_the_order_in_which_they_were_given(split: tuple[list[str], int, int], rounds: int) -> None:
    """R24: those of the client first, then those of the request, then those of providers; the bytes are the same in
    every round, every turn and every form."""
    order, first, second = split
    first, second = sorted((first, second))
    seen: set[bytes] = set()
    for form in ALL_FORMS:
        model = ScriptedChatModel([*(tool_call(NAMES[0], n=n) for n in range(rounds)), "done"])
        client = ChatClient.builder(model).default_tools(*map(callback, order[:first])).build()
        late = StaticToolCallbackProvider(*map(callback, order[second:]))
        form.ask(client.prompt("Go on.").tools(*map(callback, order[first:second]), late))
        for prompt in model.requests:
            assert names(prompt) == order
            seen.add(offered(prompt))
    assert len(seen) == 1


def test_an_object_s_tools_have_the_order_of_its_class_in_every_process() -> None:
    """R24: whatever the seed of hashes is."""
    script = (
        "import json; from tests.rules.strategies import Toolbox; "
        "print(json.dumps([c.definition.input_schema for c in Toolbox().callbacks()], default=dict))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    [text] = texts
    assert len(json.loads(text)) == len(Toolbox().callbacks())


def test_methods_stand_in_the_order_of_their_definition() -> None:
    """R24: those of a base class before those of the class."""
    from vernal import tool

    class Base:
        @tool
        def zeta(self) -> str:
            """Z."""
            return ""

        @tool
        def alpha(self) -> str:
            """A."""
            return ""

    class Derived(Base):
        @tool
        def beta(self) -> str:
            """B."""
            return ""

    found: list[Any] = [c.definition.name for c in tool_callbacks(Derived())]
    assert found == ["zeta", "alpha", "beta"]
