"""R29: duplicate tool names are refused with both origins, in every place where tools meet."""

from typing import Any

import pytest

from vernal import (
    ChatClient,
    DefaultToolCallingManager,
    DuplicateToolError,
    FunctionToolCallback,
    Prompt,
    StaticToolCallbackProvider,
    StaticToolCallbackResolver,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
    tool,
    tool_callbacks,
)
from vernal.testing import Form, ScriptedChatModel, tool_call


class One:
    """Has the tool."""

    @tool
    def look(self) -> str:
        """Look."""
        return "one"


class Two:
    """Has a tool of the same name."""

    @tool
    def look(self) -> str:
        """Look."""
        return "two"


def first() -> Any:
    """A callback of the one."""
    return tool_callbacks(One())[0]


def second() -> Any:
    """A callback of the other."""
    return tool_callbacks(Two())[0]


def client(model: ScriptedChatModel | None = None) -> Any:
    """A builder of clients."""
    return ChatClient.builder(model if model is not None else ScriptedChatModel(["never"]))


OPTIONS = ToolCallingChatOptions(tool_callbacks=[first(), second()])


class Doubling(ToolCallingAdvisor):
    """Its hook offers two tools of one name."""

    async def do_before_call(self, request: Any, chain: Any) -> Any:
        return request.with_prompt(request.prompt.with_options(OPTIONS))


def hooked() -> None:
    """A hook brings them together."""
    client(ScriptedChatModel([tool_call("look")])).tool_advisor(Doubling()).build().prompt("?").call().content()


PLACES = {
    "one list": lambda: tool_callbacks(One(), Two()),
    "one list of callbacks": lambda: tool_callbacks([first()], second()),
    "one request": lambda: client().build().prompt("?").tools(One()).tools(Two()).call(),
    "client and request": lambda: client().default_tools(One()).build().prompt("?").tools(Two()).call(),
    "client twice": lambda: client().default_tools(One(), Two()).build().prompt("?").call(),
    "a provider and a request": lambda: (
        client().build().prompt("?").tools(One(), StaticToolCallbackProvider(second())).call().content()
    ),
    "two providers": lambda: (
        client().default_tools(StaticToolCallbackProvider(first())).build().prompt("?")
        .tools(StaticToolCallbackProvider(second())).call().content()
    ),
    "options": lambda: client().build().prompt("?").options(OPTIONS).call(),
    "options of a prompt": lambda: client().build().prompt(Prompt("?", OPTIONS)).call(),
    "the manager": lambda: DefaultToolCallingManager().resolve_tool_definitions(OPTIONS),
    "a resolver": lambda: StaticToolCallbackResolver([first(), second()]),
    "a hook": hooked,
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_two_tools_of_one_name_are_refused(place: str) -> None:
    """R29: the error names the tool and where each comes from."""
    with pytest.raises(DuplicateToolError) as caught:
        PLACES[place]()
    assert caught.value.name == "look"
    assert {origin.rsplit(":", 1)[1] for origin in caught.value.origins} == {"One.look", "Two.look"}
    assert all(origin in str(caught.value) for origin in caught.value.origins)


def test_the_same_name_in_two_requests_is_no_duplicate(form: Form) -> None:
    """R29: tools meet in a request, not in a client."""
    model = ScriptedChatModel([tool_call("look"), "done", tool_call("look"), "done"])
    asked = client(model).build()
    for tools, told in ((One(), "one"), (FunctionToolCallback(second()._function, name="look"), "two")):
        form.ask(asked.prompt("?").tools(tools))
        assert model.requests[-1].messages[-1].responses[0].data == told  # type: ignore[attr-defined]  # a tool response
