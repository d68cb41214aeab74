"""The builder of clients, and faithful copies."""

import dataclasses

import pytest

from vernal import (
    ChatClient,
    ChatClientBuilder,
    ChatOptions,
    FunctionToolCallback,
    ObservationRegistry,
    SystemMessage,
    ToolCallback,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
    template_renderer,
)
from vernal.client.state import RequestState, Text
from vernal.testing import ScriptedChatModel


def callback(name: str) -> ToolCallback:
    def function() -> str:
        """A tool."""
        return name

    return FunctionToolCallback(function, name=name)


@pytest.fixture
def model() -> ScriptedChatModel:
    return ScriptedChatModel(["ok"] * 9)


def tools_sent(client: ChatClient, model: ScriptedChatModel) -> list[str]:
    client.prompt("x").call().content()
    options = model.requests[-1].options
    assert isinstance(options, ToolCallingChatOptions)
    return [callback.definition.name for callback in options.tool_callbacks or ()]


def full_builder(model: ScriptedChatModel) -> ChatClientBuilder:
    """A builder with every default set."""
    return (
        ChatClient.builder(model)
        .default_system("{a}", a="system", metadata={"m": 1})
        .default_user("<b>", b="user")
        .default_messages(SystemMessage("message"))
        .default_options(ChatOptions(temperature=0.5))
        .default_tools(callback("one"))
        .default_tool_context(key="value")
        .default_advisors(ToolCallingAdvisor(), param="p")
        .default_template_renderer(template_renderer("{", "}"))
        .tool_advisor(ToolCallingAdvisor(advisor_order=9))
        .observation_registry(ObservationRegistry())
    )


def state_of(client: ChatClient) -> dict[str, object]:
    state = client._defaults
    fields = {field.name: getattr(state, field.name) for field in dataclasses.fields(RequestState)}
    texts = {
        name: tuple(getattr(value, field.name) for field in dataclasses.fields(Text))
        for name, value in fields.items()
        if isinstance(value, Text)
    }
    return {**fields, **texts}


def test_copies_are_faithful_for_every_field(model: ScriptedChatModel) -> None:
    """`mutate().build()` and `clone().build()` behave like the original (CCL-15..18, CCB-01, CCB-03, R26)."""
    client = full_builder(model).build()
    for twin in (client.mutate().build(), client.mutate().clone().build()):
        assert state_of(twin) == state_of(client)
        assert twin.tool_advisor is client.tool_advisor
        assert twin._engine.observation_registry is client._engine.observation_registry
        assert twin.chat_model is client.chat_model


def test_neither_side_sees_later_changes_of_the_other(model: ScriptedChatModel) -> None:
    """A clone, a built client and a mutated one are independent (CCL-10, CCB-01, CCB-06)."""
    builder = ChatClient.builder(model).default_tools(callback("one"))
    clone, client = builder.clone(), builder.build()
    builder.default_tools(callback("two")).default_system("later")
    client.mutate().default_tools(callback("three"))
    client.prompt("x").tools(callback("four"))
    assert tools_sent(client, model) == ["one"]
    assert tools_sent(clone.build(), model) == ["one"]
    assert tools_sent(builder.build(), model) == ["one", "two"]
    assert model.requests[0].system_message.text == ""


def test_a_client_can_be_extended(model: ScriptedChatModel) -> None:
    """The new client has the old tools and the new one, the old client its own (CCL-10)."""
    client = ChatClient.builder(model).default_tools(callback("fun1"), callback("fun2")).build()
    extended = client.mutate().default_tools(callback("fun3")).build()
    assert tools_sent(extended, model) == ["fun1", "fun2", "fun3"]
    assert tools_sent(client, model) == ["fun1", "fun2"]


def test_a_request_can_become_a_client(model: ScriptedChatModel) -> None:
    """What a request has set are the defaults of the client made of it (CCL-11)."""
    client = ChatClient.builder(model).default_tools(callback("fun1")).build()
    spec = client.prompt().system("be {how}", how="kind").user("{x}", x="y", metadata={"m": 1}).tools(callback("fun5"))
    made = spec.mutate().build()
    made.prompt().call().content()
    request = model.requests[-1]
    assert (request.system_message.text, request.user_message.text) == ("be kind", "y")
    assert dict(request.user_message.metadata) == {"m": 1}
    assert tools_sent(made, model) == ["fun1", "fun5"]


def test_the_last_default_wins_and_building_twice_gives_two_clients(model: ScriptedChatModel) -> None:
    """Defaults are overridden, and each build is a client of its own (CCB-05)."""
    builder = ChatClient.builder(model).default_system("first").default_system("second").default_user("hi")
    first, second = builder.build(), builder.build()
    assert first is not second
    first.prompt().call().content()
    assert (model.requests[-1].system_message.text, model.requests[-1].user_message.text) == ("second", "hi")


def test_a_parameter_alone_survives_mutation(model: ScriptedChatModel) -> None:
    """A default that is only a parameter, or only media and metadata, is not lost (CCL-17, CCL-18)."""
    client = ChatClient.builder(model).default_advisors(tool_calling_advisor_auto_register=False).build()
    assert client.mutate().build()._defaults.parameters == {"tool_calling_advisor_auto_register": False}
    media = ChatClient.builder(model).default_user(metadata={"m": 1}, x=1).build().mutate().build()._defaults.user
    assert (dict(media.metadata), media.parameters) == ({"m": 1}, {"x": 1})


def test_a_client_of_its_own_has_a_loop_of_its_own(model: ScriptedChatModel) -> None:
    """Without a tool advisor given, the client registers one with a manager of its own (CCL-12)."""
    advisor = ChatClient(model).tool_advisor
    assert isinstance(advisor, ToolCallingAdvisor)
    assert ChatClient(model).tool_advisor is not advisor
