"""R26: copies are faithful, and neither side sees later changes of the other; layers are merged field by field."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal import (
    HIGHEST_PRECEDENCE,
    Allow,
    ChatClient,
    ChatOptions,
    DefaultToolCallingManager,
    Prompt,
    SafeGuardAdvisor,
    Suspend,
    SystemMessage,
    ToolCallingAdvisor,
    ToolCallingChatOptions,
    TurnSuspended,
    UserMessage,
)
from vernal.testing import Form, ScriptedChatModel, tool_call

FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "model": st.sampled_from(["a", "b"]),
    "temperature": st.sampled_from([0.0, 0.5, 1.0]),
    "max_tokens": st.integers(1, 9),
    "top_p": st.sampled_from([0.0, 1.0]),
    "top_k": st.integers(0, 9),
    "frequency_penalty": st.sampled_from([0.0, 1.5]),
    "presence_penalty": st.sampled_from([0.0, -1.5]),
    "stop_sequences": st.sampled_from([(), ("x",)]),
    "tool_choice": st.sampled_from(["none", "required"]),
    "parallel_tool_calls": st.booleans(),
    "tool_context": st.dictionaries(st.sampled_from(["k", "l"]), st.integers(0, 3), min_size=1),
}
LAYERS = st.fixed_dictionaries({}, optional=FIELDS)


@given(layers=st.lists(LAYERS, min_size=3, max_size=3), form=st.sampled_from(["call", "astream"]))
def test_each_field_comes_from_the_nearest_layer_that_sets_it(layers: list[dict[str, Any]], form: str) -> None:
    """R26: model < client < request, falsy values included; tool contexts are merged entry by entry."""
    of_model, of_client, of_request = (ToolCallingChatOptions(**layer) for layer in layers)
    model = ScriptedChatModel(["done"], options=of_model)
    client = ChatClient.builder(model).default_options(of_client).build()
    Form(form).ask(client.prompt("Go on.").options(of_request))
    sent = model.requests[0].options
    for name in FIELDS:
        values = [layer[name] for layer in layers if name in layer]
        if name == "tool_context":
            merged = {key: value for entries in values for key, value in entries.items()}
            assert dict(sent.tool_context or {}) == merged  # type: ignore[union-attr]  # tool-calling options
        else:
            assert getattr(sent, name) == (values[-1] if values else None)


def changed_in_every_way(spec: Any, mark: str) -> Any:
    """A request or builder with all that can be set."""
    prefix = "" if hasattr(spec, "call") else "default_"

    def call(name: str, *args: Any, **kwargs: Any) -> None:
        getattr(spec, prefix + name)(*args, **kwargs)

    def tool(n: int = 0) -> str:
        return mark

    tool.__name__ = tool.__doc__ = f"tool_{mark}"
    call("system", "{who}, " + mark, who=f"system {mark}", metadata={"s": mark})
    call("user", "{what}, " + mark, what=f"user {mark}", metadata={"u": mark})
    call("messages", UserMessage(mark))
    call("options", ToolCallingChatOptions(model=mark, tool_context={mark: mark}))
    call("tools", tool)
    call("tool_context", {"more": mark})
    call("advisors", SafeGuardAdvisor(sensitive_words=[f"never {mark}"]), parameter=mark)
    return spec


def told(client: ChatClient, model: ScriptedChatModel) -> Any:
    """All that a request of `client` sends."""
    model._script.append("done")
    context = client.prompt().call().chat_client_response().context
    prompt = model.requests[-1]
    options: Any = prompt.options
    tools = [c.definition.name for c in options.tool_callbacks or ()]
    return prompt.messages, options.model, tools, dict(options.tool_context), context.get("parameter")


@given(steps=st.lists(st.sampled_from(["mutate", "clone", "prompt"]), max_size=3))
def test_a_copy_sends_what_the_original_sends_and_neither_sees_the_other(steps: list[str]) -> None:
    """R26: builders, clients and requests, through `mutate`, `clone` and `build` in any order."""
    model = ScriptedChatModel([])
    builder = changed_in_every_way(ChatClient.builder(model), "one")
    original, copy = builder.build(), builder
    expected = told(original, model)
    assert expected[0][0] == SystemMessage("system one, one", {"s": "one"})
    for step in steps:
        if step == "clone":
            copy = copy.clone()
        else:
            copy = (copy.build() if step == "mutate" else copy.build().prompt()).mutate()
    assert told(copy.build(), model) == expected
    frozen = copy.build()
    changed_in_every_way(copy, "two")
    changed_in_every_way(original.prompt(), "three")
    assert told(original, model) == told(frozen, model) == expected
    assert told(copy.build(), model) != expected


def test_a_client_made_of_a_resuming_request_does_not_resume() -> None:
    """R26: a suspended turn is resumed once, by the request; the defaults that it leaves are what else was set."""

    def look(n: int) -> str:
        """Look."""
        return "seen"

    manager = DefaultToolCallingManager(interceptors=[lambda request: Suspend()])
    model = ScriptedChatModel([tool_call("look", n=1), "done", "hello"])
    builder = ChatClient.builder(model).tool_advisor(ToolCallingAdvisor(tool_calling_manager=manager))
    client = builder.default_tools(look).build()
    with pytest.raises(TurnSuspended) as caught:
        client.prompt("Go on.").call().content()
    state = caught.value.state
    spec = client.prompt().system("Be brief.").resume(state, {state.pending[0].id: Allow()})
    copy = spec.mutate().build()
    assert spec.call().content() == "done"
    assert copy.prompt("Hello.").call().content() == "hello"
    assert model.requests[-1].messages == (SystemMessage("Be brief."), UserMessage("Hello."))


@given(enabled=st.booleans(), offset=st.integers(1, 99))
def test_a_copied_advisor_keeps_every_field_of_its_subclass(enabled: bool, offset: int) -> None:
    """R26: fields that the base knows nothing of, and what is no field at all."""

    @dataclasses.dataclass(kw_only=True, eq=False)
    class Own(ToolCallingAdvisor):
        """With more fields."""

        audit: list[str] = dataclasses.field(default_factory=list)

    manager = DefaultToolCallingManager()
    original = Own(tool_calling_manager=manager, advisor_order=HIGHEST_PRECEDENCE + offset, audit=["a"])
    original.extra = "kept"  # type: ignore[attr-defined]  # no field
    twin = original.copy(conversation_history_enabled=enabled)
    assert type(twin) is Own
    for field in dataclasses.fields(Own):
        if field.name != "conversation_history_enabled":
            assert getattr(twin, field.name) is getattr(original, field.name)
    assert twin.extra == "kept"  # type: ignore[attr-defined]  # no field
    assert twin.conversation_history_enabled == enabled
    assert original.conversation_history_enabled


def test_a_prompt_with_options_of_another_kind_keeps_both() -> None:
    """R26: fields of the more derived kind survive plain options on top."""
    model = ScriptedChatModel(["done"], options=ToolCallingChatOptions(tool_choice="none", top_k=3))
    ChatClient(model).prompt(Prompt("Go on.", ChatOptions(temperature=0.5))).call().content()
    options: Any = model.requests[0].options
    assert (options.tool_choice, options.top_k, options.temperature) == ("none", 3, 0.5)
