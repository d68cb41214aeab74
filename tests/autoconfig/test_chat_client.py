"""The auto-configuration of chat clients."""

from typing import Any

import pytest

from vernal import (
    ChatClient,
    ChatClientBuilder,
    ChatClientCustomizer,
    ChatModel,
    ChatResponse,
    DefaultToolCallingManager,
    Named,
    ToolAdvisor,
    ToolCallingAdvisor,
    ToolCallingManager,
    ToolExecutionEligibilityChecker,
    bean,
    configuration,
    hookimpl,
    primary,
    tool,
)
from vernal.advisors.tool_calling import DEFAULT_ORDER, has_tool_calls
from vernal.testing import ApplicationContextRunner, ScriptedChatModel, tool_call
from vernal_autoconfig import plugin

Beans = ApplicationContextRunner


@tool
def get_time() -> str:
    """The time."""
    return "noon"


def test_a_client_a_builder_and_a_tool_advisor_are_there(runner: Beans) -> None:
    """The client works without a line of configuration; its loop has the context's manager (CAC-02, CAC-03)."""
    model = ScriptedChatModel([tool_call("get_time"), "It is noon."])
    with runner.with_bean(ChatModel, model).run() as run:
        advisor = run.context.get(ToolAdvisor)
        client = run.context.get(ChatClient)
        assert isinstance(advisor, ToolCallingAdvisor)
        assert advisor.tool_calling_manager is run.context.get(ToolCallingManager)
        assert client.tool_advisor is advisor
        assert client.prompt("What time is it?").tools(get_time).call().content() == "It is noon."


def test_the_client_comes_after_tool_calling(runner: Beans) -> None:
    """The order of the auto-configurations does not depend on how they are listed (CAC-01, R27)."""

    class Reversed:
        @staticmethod
        @hookimpl
        def vernal_auto_configurations() -> list[type]:
            return list(reversed(plugin.vernal_auto_configurations()))

    with runner.with_plugins({"vernal-autoconfig": Reversed}).run() as run:
        assert run.context.get(ChatClient).tool_advisor is run.context.get(ToolAdvisor)


def test_the_advisor_order_is_a_setting(runner: Beans) -> None:
    """`chat.client.tool_calling.advisor_order` is the order of the tool advisor (CAC-04)."""
    with runner.run() as run:
        assert run.context.get(ToolAdvisor).order == DEFAULT_ORDER
    settings = {"chat": {"model": "offline", "client": {"tool_calling": {"advisor_order": 500}}}}
    with runner.with_settings(settings).run() as run:
        assert run.context.get(ToolAdvisor).order == 500


def test_an_eligibility_checker_bean_is_wired(runner: Beans) -> None:
    """A checker bean reaches the tool advisor; without one the default checks for tool calls (CAC-05)."""

    def never(response: ChatResponse) -> bool:
        return False

    @configuration
    class Checkers:
        @bean
        def checker(self) -> ToolExecutionEligibilityChecker:
            return never

    with runner.run() as run:
        advisor = run.context.get(ToolAdvisor)
        assert isinstance(advisor, ToolCallingAdvisor)
        assert advisor.tool_execution_eligibility_checker is has_tool_calls
    with runner.with_sources(Checkers).run() as run:
        advisor = run.context.get(ToolAdvisor)
        assert isinstance(advisor, ToolCallingAdvisor)
        assert advisor.tool_execution_eligibility_checker is never


@pytest.mark.parametrize("enabled", [True, False])
def test_the_loop_can_be_switched_off(runner: Beans, enabled: bool) -> None:
    """With `chat.client.tool_calling.enabled=false` tool calls come back unexecuted, also after mutate (CAC-06)."""
    model = ScriptedChatModel([tool_call("get_time"), "It is noon."] * 2)
    settings = {"chat": {"client": {"tool_calling": {"enabled": enabled}}}}
    with runner.with_bean(ChatModel, model).with_settings(settings).run() as run:
        for client in (run.context.get(ChatClient), run.context.get(ChatClient).mutate().build()):
            response = client.prompt("What time is it?").tools(get_time).call().chat_client_response()
            assert response.has_tool_calls is not enabled
            if not enabled:
                model._script.pop(0)


def test_a_tool_advisor_of_ones_own_replaces_the_default(runner: Beans) -> None:
    """The default steps back for a user's tool advisor, which is the prototype of the client (CAC-07, TCR-10)."""
    own = ToolCallingAdvisor(advisor_order=7)
    with runner.with_bean(ToolAdvisor, own).run() as run:
        assert run.context.get(ToolAdvisor) is own
        assert run.context.get(ChatClient).tool_advisor is own


def test_two_managers_fail_where_one_is_needed(runner: Beans) -> None:
    """Two candidates for one place end the start, naming both (CAC-08, R27)."""

    @configuration
    class Two:
        @bean
        def first_manager(self) -> ToolCallingManager:
            return DefaultToolCallingManager()

        @bean
        def second_manager(self) -> ToolCallingManager:
            return DefaultToolCallingManager()

    with runner.with_sources(Two).run() as run:
        assert run.failure is not None
        assert "first_manager" in str(run.failure)
        assert "second_manager" in str(run.failure)


def test_without_a_manager_the_client_has_its_own_loop(runner: Beans) -> None:
    """Where tool calling is excluded the builder still works, with a manager of its own (CAC-09)."""
    model = ScriptedChatModel([tool_call("get_time"), "It is noon."])
    with runner.without("ToolCallingAutoConfiguration").with_bean(ChatModel, model).run() as run:
        assert not run.context.has(ToolAdvisor)
        assert run.context.get(ChatClient).prompt("Time?").tools(get_time).call().content() == "It is noon."


def test_each_who_asks_gets_a_fresh_builder(runner: Beans) -> None:
    """The builder is a prototype; the whole can be switched off (CAC-10)."""
    with runner.run() as run:
        assert run.context.get(ChatClientBuilder) is not run.context.get(ChatClientBuilder)
    with runner.with_settings({"chat": {"client": {"enabled": False}}}).run() as run:
        assert not run.context.has(ChatClientBuilder)
        assert not run.context.has(ChatClient)


def test_customizers_run_on_every_builder_in_their_order(runner: Beans) -> None:
    """Customizers of beans and plugins change each builder, in declared order (CAC-11, CCP-02)."""

    class Customizing:
        @staticmethod
        @hookimpl
        def vernal_chat_client_customizers() -> list[Any]:
            return [lambda builder: builder.default_system("from the plugin")]

    @configuration
    class Customizers:
        @bean(order=2)
        def later(self) -> ChatClientCustomizer:
            return lambda builder: builder.default_system("later")

        @bean(order=1)
        def earlier(self) -> ChatClientCustomizer:
            return lambda builder: builder.default_system("earlier").default_user("{x}", x=1)

    plugins = {"vernal-autoconfig": plugin, "customizing": Customizing}
    model = ScriptedChatModel(["one", "two"])
    with runner.with_plugins(plugins).with_bean(ChatModel, model).run() as run:
        run.context.get(ChatClient).prompt("hi").call().content()
        assert model.requests[-1].system_message.text == "from the plugin"
    with runner.with_plugins(plugins).with_bean(ChatModel, model).with_sources(Customizers).run() as run:
        run.context.get(ChatClientBuilder).build().prompt().call().content()
        assert model.requests[-1].system_message.text == "later"
        assert model.requests[-1].user_message.text == "1"


@configuration
class TwoClients:
    @bean
    def helper(self, builder: ChatClientBuilder) -> ChatClient:
        return builder.default_system("You are a helpful assistant.").build()

    @primary
    @bean
    def plain(self, builder: ChatClientBuilder) -> ChatClient:
        return builder.build()


def test_clients_from_injected_builders_are_distinct(runner: Beans) -> None:
    """A default set on one client is not on the other; the primary one is the unqualified (CCP-01, CCP-04)."""
    model = ScriptedChatModel(["a", "b"])
    with runner.with_bean(ChatModel, model).with_sources(TwoClients).run() as run:
        run.context.get(ChatClient, name="helper").prompt("hi").call().content()
        run.context.get(ChatClient).prompt("hi").call().content()
    assert [request.system_message.text for request in model.requests] == ["You are a helpful assistant.", ""]


def test_several_models_have_a_client_each(runner: Beans) -> None:
    """Clients over named models are built by hand, each with its own model (CCP-03)."""
    from typing import Annotated

    fast, slow = ScriptedChatModel(["fast"]), ScriptedChatModel(["slow"])

    @configuration
    class Clients:
        @bean(primary=True)
        def fast_model(self) -> ChatModel:
            return fast

        @bean
        def slow_model(self) -> ChatModel:
            return slow

        @bean(primary=True)
        def fast_client(self, model: ChatModel) -> ChatClient:
            return ChatClient(model)

        @bean
        def slow_client(self, model: Annotated[ChatModel, Named("slow_model")]) -> ChatClient:
            return ChatClient(model)

    with runner.with_sources(Clients).run() as run:
        assert run.context.get(ChatClient).prompt("?").call().content() == "fast"
        assert run.context.get(ChatClient, name="slow_client").prompt("?").call().content() == "slow"


def test_an_override_of_the_model_reaches_the_client_and_is_undone(runner: Beans) -> None:
    """`context.override(ChatModel, …)` rebuilds the client and gives the old one back (R26)."""
    first, second = ScriptedChatModel(["first", "first again"]), ScriptedChatModel(["second"])
    with runner.with_bean(ChatModel, first).run() as run:
        assert run.context.get(ChatClient).prompt("?").call().content() == "first"
        with run.context.override(ChatModel, second):
            assert run.context.get(ChatClient).prompt("?").call().content() == "second"
        assert run.context.get(ChatClient).prompt("?").call().content() == "first again"
