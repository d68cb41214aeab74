"""What the plugin for pytest gives to tests."""

import pytest

pytest_plugins = ["pytester"]

# The tests that let a test ask are marked themselves: this run, too, has the plugin.
ASKING = """
import httpx, pytest
from vernal.http import HttpClients
from vernal.runtime.portal import run_blocking
from vernal.testing import RealModelBlockedError

async def asked():
    await HttpClients(transport="httpx").post(
        httpx.URL("https://no-such-host.invalid"), httpx.Headers(), b"", connect_timeout=0.1
    )

@pytest.fixture
def answer():
    try:
        run_blocking(asked)
    except RealModelBlockedError:
        return "blocked"
    except httpx.TransportError:
        return "asked"
"""


@pytest.fixture
def run(pytester: pytest.Pytester) -> pytest.Pytester:
    """A place for test files, where warnings are errors and markers must be known."""
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = --strict-markers\n")
    return pytester


def test_the_runner_is_a_fixture(run: pytest.Pytester) -> None:
    """`application_context_runner` is an empty runner, isolated from the surroundings."""
    run.makepyfile("""
        from vernal.context import ApplicationContext

        def test_it(application_context_runner, monkeypatch):
            monkeypatch.setenv("VERNAL_NO_SUCH_KEY", "1")
            with application_context_runner.with_settings({"settings": {"strict": True}}).run() as run:
                assert run.failure is None and run.context.get(ApplicationContext) is run.context
    """)
    run.runpytest_subprocess().assert_outcomes(passed=1)


def test_a_started_context_is_a_fixture(run: pytest.Pytester) -> None:
    """`application_context` has the defaults with the offline model, from the test's own runner where there is one."""
    run.makepyfile(
        test_default="""
        from vernal import ChatClient, OfflineChatModel, tool

        @tool
        def get_weather(city: str) -> str:
            "Current weather of a city."
            return f"rain in {city}"

        def test_it(application_context):
            client = application_context.get(ChatClient)
            assert isinstance(client.chat_model, OfflineChatModel)
            assert "rain in Oslo" in client.prompt("The weather in Oslo?").tools(get_weather).call().content()
        """,
        test_own="""
        import pytest
        from vernal import ChatClient, ChatModel
        from vernal.testing import ScriptedChatModel

        @pytest.fixture
        def application_context_runner(application_context_runner):
            return application_context_runner.with_bean(ChatModel, ScriptedChatModel(["Scripted."]))

        def test_it(application_context):
            assert application_context.get(ChatClient).prompt("Hello").call().content() == "Scripted."
        """,
    )
    run.runpytest_subprocess().assert_outcomes(passed=2)


@pytest.mark.real_models
def test_real_models_are_blocked_unless_the_test_is_marked(run: pytest.Pytester) -> None:
    """Fixtures of the test are blocked with it; the marker is known, and holds for one test."""
    run.makepyfile(
        ASKING
        + """
def test_blocked(answer):
    assert answer == "blocked"

@pytest.mark.real_models
def test_allowed(answer):
    assert answer == "asked"

def test_blocked_again(answer):
    assert answer == "blocked"
"""
    )
    run.runpytest_subprocess().assert_outcomes(passed=3)


@pytest.mark.real_models
def test_an_option_allows_real_models(run: pytest.Pytester) -> None:
    """`--real-models` allows them for a run."""
    run.makepyfile(ASKING + "\ndef test_it(answer):\n    assert answer == 'asked'\n")
    run.runpytest_subprocess("--real-models").assert_outcomes(passed=1)
    run.runpytest_subprocess().assert_outcomes(failed=1)


@pytest.mark.real_models
def test_a_setting_allows_real_models(pytester: pytest.Pytester) -> None:
    """`vernal_real_models = true` in the configuration of pytest allows them for good."""
    pytester.makeini("[pytest]\nvernal_real_models = true\n")
    pytester.makepyfile(ASKING + "\ndef test_it(answer):\n    assert answer == 'asked'\n")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_plugin_imports_nothing_heavy(run: pytest.Pytester) -> None:
    """A run of tests that do not use vernal does not pay for it."""
    run.makepyfile("""
        import sys

        def test_it():
            heavy = {"dependency_injector", "pydantic", "pydantic_settings", "httpx", "vernal.context"}
            assert not heavy & set(sys.modules)
    """)
    run.runpytest_subprocess("-p", "no:hypothesispytest", "-p", "no:anyio").assert_outcomes(passed=1)
