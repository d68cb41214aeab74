"""How a request is assembled: messages, options, tools, contexts, parameters."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from vernal import (
    Advisor,
    ChatClient,
    ChatClientRequest,
    ChatClientResponse,
    ChatModel,
    ChatOptions,
    ChatResponse,
    DuplicateToolError,
    FunctionToolCallback,
    Generation,
    Media,
    Prompt,
    StaticToolCallbackProvider,
    SystemMessage,
    ToolCallback,
    ToolCallbackProvider,
    ToolCallingChatOptions,
    UserMessage,
    template_renderer,
    tool,
)
from vernal.advisors.api import AdvisorChain, BaseAdvisor
from vernal.client.spec import ChatClientRequestSpec
from vernal.testing import ScriptedChatModel
from vernal.values.messages import AssistantMessage, Message
from vernal.values.options import merge_options


def callback(name: str) -> ToolCallback:
    def function(x: int = 0) -> str:
        """A tool."""
        return name

    return FunctionToolCallback(function, name=name)


def sent(spec: ChatClientRequestSpec, model: ScriptedChatModel) -> Prompt:
    """What reaches the model when `spec` is asked."""
    spec.call().content()
    return model.requests[-1]


def options_of(prompt: Prompt) -> ToolCallingChatOptions:
    assert isinstance(prompt.options, ToolCallingChatOptions)
    return prompt.options


def tool_names(prompt: Prompt) -> list[str]:
    return [callback.definition.name for callback in options_of(prompt).tool_callbacks or ()]


def texts(messages: Sequence[Message]) -> list[str | None]:
    return [message.text for message in messages]


@pytest.fixture
def model() -> ScriptedChatModel:
    return ScriptedChatModel(["ok"] * 5, options=ToolCallingChatOptions(model="m", temperature=0.1, top_k=3))


@pytest.fixture
def client(model: ScriptedChatModel) -> ChatClient:
    return ChatClient(model)


ANYTHING: Any = None

REFUSED: list[tuple[str, Any]] = [
    ("empty text", lambda c: c.prompt("")),
    ("no text", lambda c: c.prompt(5)),
    ("empty user text", lambda c: c.prompt().user("")),
    ("empty system text", lambda c: c.prompt().system("")),
    ("no message", lambda c: c.prompt("x").messages("text")),
    ("None among messages", lambda c: c.prompt("x").messages([None])),
    ("no options", lambda c: c.prompt("x").options(None)),
    ("options of another kind", lambda c: c.prompt("x").options({"temperature": 1})),
    ("no advisor", lambda c: c.prompt("x").advisors(None)),
    ("None as parameter", lambda c: c.prompt("x").advisors(key=None)),
    ("blank parameter name", lambda c: c.prompt("x").advisors(**{" ": 1})),
    ("no tools", lambda c: c.prompt("x").tools(None)),
    ("None among tools", lambda c: c.prompt("x").tools([callback("a"), None])),
    ("tool context of another kind", lambda c: c.prompt("x").tool_context(5)),
    ("None in tool context", lambda c: c.prompt("x").tool_context({"key": None})),
    ("blank key in tool context", lambda c: c.prompt("x").tool_context({" ": 1})),
    ("renderer of another kind", lambda c: c.prompt("x").template_renderer("<>")),
    ("no message at all", lambda c: c.prompt().call()),
    ("model of another kind", lambda c: ChatClient(ANYTHING)),
    ("builder without model", lambda c: ChatClient.builder(ANYTHING)),
    ("registry of another kind", lambda c: ChatClient.builder(c.chat_model).observation_registry(ANYTHING)),
    ("tool advisor of another kind", lambda c: ChatClient.builder(c.chat_model).tool_advisor(ANYTHING)),
]


@pytest.mark.parametrize(("what", "ask"), REFUSED, ids=[what for what, _ in REFUSED])
def test_what_cannot_be_meant_is_refused_when_it_is_said(client: ChatClient, what: str, ask: Any) -> None:
    """Each wrong argument is an error that shows what was given (CCL-01..05, CCB-02, CCB-04, CCU-01)."""
    with pytest.raises((TypeError, ValueError)) as raised:
        ask(client)
    assert "wanted" in str(raised.value) or "give" in str(raised.value) or "leave" in str(raised.value)


def test_system_comes_first_and_the_users_text_last(client: ChatClient, model: ScriptedChatModel) -> None:
    """Given messages stand between (CCL-22, CCU-02)."""
    between = (UserMessage("earlier"), AssistantMessage("answer"))
    prompt = sent(client.prompt("now").system("be kind").messages(*between), model)
    assert texts(prompt.messages) == ["be kind", "earlier", "answer", "now"]


def test_a_prompt_and_a_text_are_joined(client: ChatClient, model: ScriptedChatModel) -> None:
    """The messages of a `Prompt` stay, a new system text comes before its own (CCL-23)."""
    given = Prompt([SystemMessage("old"), UserMessage("first")])
    prompt = sent(client.prompt(given).user("another").system("new"), model)
    assert texts(prompt.messages) == ["new", "old", "first", "another"]


def test_defaults_are_overridden_one_by_one(model: ScriptedChatModel) -> None:
    """System text, parameters and metadata of the client hold where the request sets nothing (CCL-24, CCL-25)."""
    client = (
        ChatClient.builder(model)
        .default_system("{tone} {who}", tone="be kind,", who="robot", metadata={"a": 1, "b": 1})
        .build()
    )
    assert sent(client.prompt("x"), model).system_message.text == "be kind, robot"
    prompt = sent(client.prompt("x").system(who="human", metadata={"b": 2}), model)
    assert prompt.system_message.text == "be kind, human"
    assert dict(prompt.system_message.metadata) == {"a": 1, "b": 2}
    assert sent(client.prompt("x").system("only {who}"), model).system_message.text == "only robot"


def test_placeholders_are_filled_only_where_there_are_parameters(client: ChatClient, model: ScriptedChatModel) -> None:
    """Without parameters braces stay as they are; a missing one is named (CCL-26)."""
    assert sent(client.prompt("Hello {name}"), model).user_message.text == "Hello {name}"
    filled = client.prompt().user('Hello {name}, {"json": true}', name="Ada")
    assert sent(filled, model).user_message.text == 'Hello Ada, {"json": true}'
    with pytest.raises(ValueError, match="name"):
        client.prompt().user("Hello {name}", other="x").call()


def test_another_renderer_has_other_delimiters(client: ChatClient, model: ScriptedChatModel) -> None:
    """`template_renderer("<", ">")` leaves braces alone (CCU-06)."""
    spec = client.prompt().user("Hello <name> {x}", name="Ada").template_renderer(template_renderer("<", ">"))
    assert sent(spec, model).user_message.text == "Hello Ada {x}"


def test_media_go_with_the_users_text(client: ChatClient, model: ScriptedChatModel) -> None:
    """Images stand on the user message, rendered text beside them (CCU-02)."""
    image = Media("image/png", data=b"x")
    message = sent(client.prompt("look").user(media=[image]), model).user_message
    assert (message.text, message.media) == ("look", (image,))


def test_options_are_layered_field_by_field(model: ScriptedChatModel) -> None:
    """Model < client < prompt < request; the type is that of the model's (CCL-19..21, CCU-03, R26)."""
    client = ChatClient.builder(model).default_options(ChatOptions(model="client", max_tokens=7)).build()
    given = Prompt("x", ChatOptions(temperature=0.7))
    options = options_of(sent(client.prompt(given).options(ChatOptions(top_p=0.5)), model))
    assert (options.model, options.max_tokens, options.top_k) == ("client", 7, 3)
    assert (options.temperature, options.top_p) == (0.7, 0.5)


def test_a_model_without_options_can_call_tools_all_the_same() -> None:
    """Plain options are promoted, so that tools are never dropped (CCU-09, CCL-20)."""
    model = ScriptedChatModel(["ok", "ok"], options=ChatOptions(model="plain"))
    prompt = sent(ChatClient(model).prompt("x").tools(callback("a")), model)
    assert (tool_names(prompt), options_of(prompt).model) == (["a"], "plain")


def test_tools_of_client_and_request_are_joined_and_replace_those_in_options(model: ScriptedChatModel) -> None:
    """Calls of tools() accumulate, and stand in place of tools in options (CCL-09, CCU-04)."""
    client = ChatClient.builder(model).default_tools(callback("default")).build()
    in_options = ToolCallingChatOptions(tool_callbacks=[callback("option")])
    prompt = sent(client.prompt("x").options(in_options).tools(callback("a")).tools(callback("b")), model)
    assert tool_names(prompt) == ["default", "a", "b"]
    assert tool_names(sent(ChatClient(model).prompt("x").options(in_options), model)) == ["option"]


def test_objects_callbacks_and_providers_are_told_apart(client: ChatClient, model: ScriptedChatModel) -> None:
    """Objects are expanded at once, providers asked when the request runs, once (CCL-06..08, CCU-08, R25)."""
    asked: list[int] = []

    class Remote(ToolCallbackProvider):
        async def get_tool_callbacks(self) -> list[ToolCallback]:
            asked.append(1)
            return [callback("remote")]

    class Objects:
        @tool
        def marked(self) -> str:
            """A tool."""
            return ""

    spec = client.prompt("x").tools([callback("a"), Remote()], Objects(), StaticToolCallbackProvider(callback("s")))
    assert not asked
    assert tool_names(sent(spec, model)) == ["a", "marked", "remote", "s"]
    assert asked == [1]
    with pytest.raises(ValueError, match="@tool"):
        client.prompt("x").tools(object())


def test_two_tools_of_one_name_are_refused_wherever_they_meet(client: ChatClient) -> None:
    """In the request at once, from a provider when it runs (CCU-08, R29)."""
    with pytest.raises(DuplicateToolError, match=r"\(a\)"):
        client.prompt("x").tools(callback("a"), callback("a")).call()
    turn = client.prompt("x").tools(callback("a"), StaticToolCallbackProvider(callback("a"))).call()
    with pytest.raises(DuplicateToolError, match=r"\(a\)"):
        turn.content()


def test_tool_contexts_are_merged(model: ScriptedChatModel) -> None:
    """Client, options and request add their entries; the later win (CCU-05)."""
    client = ChatClient.builder(model).default_tool_context(a=1, b=1).build()
    options = ToolCallingChatOptions(tool_context={"b": 2, "c": 2, "d": 2})
    prompt = sent(client.prompt("x").options(options).tool_context({"c": 3}, d=4), model)
    assert dict(options_of(prompt).tool_context or {}) == {"a": 1, "b": 1, "c": 3, "d": 4}


class Contexts(BaseAdvisor):
    """Keeps the context of each request, and writes into it."""

    order = 3

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []

    async def before(self, request: ChatClientRequest, chain: AdvisorChain) -> ChatClientRequest:
        self.seen.append(dict(request.context))
        request.context["written"] = True
        return request


def test_parameters_become_context_and_no_context_leaks(model: ScriptedChatModel) -> None:
    """Each turn has a context of its own, with the parameters of client and request (CCL-13, CCU-06, CCU-10)."""
    contexts = Contexts()
    client = ChatClient.builder(model).default_advisors(contexts, a=1).build()
    spec = client.prompt("x").advisors(b=2)
    spec.call().content()
    spec.call().content()
    assert contexts.seen == [{"a": 1, "b": 2}] * 2


def test_one_request_can_be_asked_twice(model: ScriptedChatModel, client: ChatClient) -> None:
    """Asking twice asks the model twice; nothing is added twice (CCL-14)."""
    spec = client.prompt("x").tools(callback("a"))
    first = sent(spec, model)
    second = sent(spec, model)
    assert first == second
    assert len(model.requests) == 2


def test_everything_at_once(model: ScriptedChatModel) -> None:
    """Texts, messages, media, tools, contexts and parameters come together in one request (CCU-07)."""
    contexts = Contexts()
    spec = (
        ChatClient(model)
        .prompt()
        .system("You are {who}", who="kind")
        .messages(UserMessage("earlier"))
        .user("Look at {what}", what="this", media=[Media("image/png", data=b"x")])
        .tools(callback("a"))
        .tool_context(k=1)
        .advisors(contexts, conversation_id="c")
    )
    prompt = sent(spec, model)
    assert texts(prompt.messages) == ["You are kind", "earlier", "Look at this"]
    assert prompt.user_message.media
    assert tool_names(prompt) == ["a"]
    assert options_of(prompt).tool_context == {"k": 1}
    assert contexts.seen == [{"conversation_id": "c"}]


class Careless(ChatModel):
    """A model that gives what it must not."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def acall(self, prompt: Prompt) -> ChatResponse:
        answer: ChatResponse = self.answer
        return answer


def test_a_missing_response_and_a_missing_text_are_none() -> None:
    """No response, no generation and no text give None (CCL-27)."""
    turn = ChatClient(Careless(None)).prompt("x").call()
    assert turn.chat_response() is None
    assert turn.content() is None
    assert ChatClient(Careless(ChatResponse())).prompt("x").call().content() is None
    silent = ChatResponse((Generation(AssistantMessage(None)),))
    assert ChatClient(Careless(silent)).prompt("x").call().content() is None


def test_chunks_without_text_give_no_content() -> None:
    """Empty texts are not handed out (CCL-28)."""
    silent = ChatResponse((Generation(AssistantMessage(None)), Generation(AssistantMessage(""))))
    assert list(ChatClient(Careless(silent)).prompt("x").stream().content()) == []


def test_an_entity_can_be_a_list() -> None:
    """A list of objects comes from JSON text (CCL-29)."""
    model = ScriptedChatModel(['[{"name": "Ada"}, {"name": "Bob"}]'])
    people = ChatClient(model).prompt("x").call().entity(list[dict[str, str]])
    assert [person["name"] for person in people] == ["Ada", "Bob"]


def test_the_client_response_has_the_context_of_the_turn(model: ScriptedChatModel) -> None:
    """What advisors write is on the response, in every form (CCL-30, ADV-01)."""
    client = ChatClient.builder(model).default_advisors(Contexts(), a=1).build()
    response = client.prompt("x").call().chat_client_response()
    assert response.context == {"a": 1, "written": True}

    async def finished() -> ChatClientResponse:
        turn = await client.prompt("x").acall()
        return turn.chat_client_response()

    assert asyncio.run(finished()).context == {"a": 1, "written": True}
    assert [chunk.context for chunk in client.prompt("x").stream().chat_client_response()] == [
        {"a": 1, "written": True}
    ]


def test_a_turn_runs_once() -> None:
    """Later terminals read the response of the first."""
    model = ScriptedChatModel(["once"])
    turn = ChatClient(model).prompt("x").call()
    assert (turn.content(), turn.content()) == ("once", "once")
    assert turn.chat_response() is turn.chat_response()
    assert len(model.requests) == 1


def test_merging_is_the_identity_where_nothing_is_set() -> None:
    """Options without a counterpart are taken as they are (CCL-20)."""
    base = ToolCallingChatOptions(model="m")
    assert merge_options(base, None) is base
    assert merge_options(None, base) is base


def test_an_advisor_is_named_after_its_class() -> None:
    """The default name is the class's (ADV-08)."""

    class Auditor(Advisor):
        pass

    assert Auditor().name == "Auditor"
