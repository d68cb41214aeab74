"""What the plugin does in an application; run with pytest where the package is installed."""

from pathlib import Path

import pytest

from vernal import ChatClient, ChatModel, ToolAdvisor, ToolCallingAdvisor, ToolCallingManager, tool
from vernal.testing import (
    ApplicationContextRunner,
    ScriptedChatModel,
    ToolAdvisorContract,
    assert_replayable,
    tool_call,
)
from vernal_audit import AuditingToolCallingAdvisor, Journal
from vernal_audit.commands import audit


@pytest.fixture
def runner(tmp_path: Path) -> ApplicationContextRunner:
    """An application with this plugin and no other, which asks the offline model and writes to a file of its own."""
    settings = {"plugins.enabled": ["audit"], "chat.model": "offline", "audit.path": str(tmp_path / "journal")}
    return ApplicationContextRunner().with_plugins().with_settings(settings)


@tool
def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 °C in {city}"


@pytest.mark.parametrize("streaming", [False, True])
def test_each_call_is_written_down(runner: ApplicationContextRunner, streaming: bool) -> None:
    """A call is in the journal, called or streamed, and the conversation is as it would be without the plugin."""
    model = ScriptedChatModel([tool_call("get_weather", city="Oslo"), "It is mild."])
    with runner.with_bean(ChatModel, model).run() as run:
        request = run.context.get(ChatClient).prompt("How is Oslo?").tools(get_weather)
        answer = "".join(request.stream().content()) if streaming else request.call().content()
        (entry,) = run.context.get(Journal).last(10)
    assert answer == "It is mild."
    assert (entry.tool, entry.arguments) == ("get_weather", None)
    assert_replayable(model.requests[-1].messages)


def test_arguments_are_written_down_where_that_is_set(runner: ApplicationContextRunner) -> None:
    """Arguments may be private, so that they are written down only on demand."""
    model = ScriptedChatModel([tool_call("get_weather", city="Oslo"), "It is mild."])
    with runner.with_settings({"audit.arguments": True}).with_bean(ChatModel, model).run() as run:
        run.context.get(ChatClient).prompt("How is Oslo?").tools(get_weather).call().content()
        (entry,) = run.context.get(Journal).last(10)
    assert entry.arguments == '{"city": "Oslo"}'


def test_the_settings_of_the_default_hold(runner: ApplicationContextRunner) -> None:
    """The loop stands where the settings put the default one."""
    with runner.with_settings({"chat.client.tool_calling.advisor_order": 7}).run() as run:
        advisor = run.context.get(ToolAdvisor)
    assert isinstance(advisor, AuditingToolCallingAdvisor)
    assert advisor.order == 7


def test_the_default_is_there_where_the_plugin_is_off(runner: ApplicationContextRunner) -> None:
    """`audit.enabled=false` leaves the application as it would be without the plugin."""
    with runner.with_settings({"audit.enabled": False}).run() as run:
        assert type(run.context.get(ToolAdvisor)) is ToolCallingAdvisor
        assert not run.context.has(Journal)
        assert run.conditions["AuditAutoConfiguration"].failure is not None


def test_the_plugin_steps_back_for_the_user(runner: ApplicationContextRunner) -> None:
    """A user's own tool loop wins, and the report says so."""
    mine = ToolCallingAdvisor()
    with runner.with_bean(ToolAdvisor, mine, name="mine").run() as run:
        assert run.context.get(ToolAdvisor) is mine
        failure = run.conditions["AuditAutoConfiguration.tool_advisor"].failure
    assert failure is not None
    assert "'mine'" in failure.reason


def test_the_tool_tells_of_earlier_calls(runner: ApplicationContextRunner) -> None:
    """With `audit.offer_tool` a model can ask what was called before; its own question is written down too."""
    model = ScriptedChatModel(
        [tool_call("get_weather", city="Oslo"), tool_call("recent_tool_calls", count=5), "You asked about the weather."]
    )
    with runner.with_settings({"audit.offer_tool": True}).with_bean(ChatModel, model).run() as run:
        run.context.get(ChatClient).prompt("How is Oslo?").tools(get_weather).call().content()
    told = str(model.requests[-1].messages[-1])
    assert "get_weather" in told
    assert "recent_tool_calls" in told


def test_the_command_prints_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`vernal audit` prints the last calls, from the file that the settings name."""
    (tmp_path / ".env").write_text("VERNAL_AUDIT__PATH=calls\n")
    monkeypatch.chdir(tmp_path)
    journal = Journal(tmp_path / "calls", arguments=True)
    for number in range(3):
        journal.record("refund", f'{{"order": {number}}}')
    audit(last=2)
    assert [line.split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines()] == [
        'refund {"order": 1}',
        'refund {"order": 2}',
    ]


class TestContract(ToolAdvisorContract):
    """The loop of the plugin does all that a loop must."""

    @pytest.fixture(autouse=True)
    def journal(self, tmp_path: Path) -> None:
        """A journal for each test."""
        self.path = tmp_path / "journal"

    def create_advisor(self, manager: ToolCallingManager) -> ToolAdvisor:
        return AuditingToolCallingAdvisor(tool_calling_manager=manager, journal=Journal(self.path))
