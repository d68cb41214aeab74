"""`vernal models`: the providers, which model answers and why, and whether it does."""

import json
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from vernal import (
    Application,
    ChatModel,
    ChatModelProvider,
    ModelError,
    ToolCallingChatOptions,
    bean,
    configuration,
)
from vernal.cli.app import program
from vernal.testing import ScriptedChatModel
from vernal_autoconfig import plugin as defaults

Show = Callable[..., Any]


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch) -> Show:
    """Run `vernal models` on an application of these sources; gives its result."""

    def run(*arguments: str, sources: tuple[type, ...] = (), model: str = "") -> Any:
        module = ModuleType("shown_models")
        vars(module)["application"] = Application(
            *sources, plugins={"defaults": defaults}, environ={"VERNAL_CHAT__MODEL": model}
        )
        monkeypatch.setitem(sys.modules, "shown_models", module)
        command = ["models", "--app", "shown_models:application", *arguments]
        return CliRunner().invoke(program(command), command)

    return run


def models(result: Any, code: int = 0) -> Any:
    """What the JSON says, once the exit code is as expected."""
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)["models"]


class Provider(ChatModelProvider):
    def __init__(self, name: str, answer: object = "ready", *, configured: bool = True) -> None:
        self._name, self._answer, self._configured = name, answer, configured

    @property
    def name(self) -> str:
        return self._name

    @property
    def configured(self) -> bool:
        return self._configured

    def create(self, model: str | None = None) -> ChatModel:
        return ScriptedChatModel([self._answer], options=ToolCallingChatOptions(model=model or "small"))


@configuration
class One:
    @bean
    def near(self) -> Provider:
        return Provider("near")

    @bean
    def far(self) -> Provider:
        return Provider("far", configured=False)


def test_the_model_that_answers_is_named_with_the_reason(show: Show) -> None:
    """The only configured provider answers with its default model; every provider is listed."""
    view = models(show("--json", sources=(One,)))
    assert (view["name"], view["reason"]) == ("near:small", "it is the only provider that is configured")
    assert [(each["name"], each["configured"], each["chosen"]) for each in view["providers"]] == [
        ("near", True, True),
        ("far", False, False),
    ]
    assert view["answer"] is None


def test_a_setting_chooses(show: Show) -> None:
    """`chat.model` wins, and a provider without a key is told."""
    view = models(show("--json", sources=(One,), model="far:large"))
    assert (view["name"], view["reason"], view["configured"]) == ("far:large", "chat.model is 'far:large'", False)
    text = show(sources=(One,), model="far:large").stdout
    assert "neither a key nor a base URL" in text


def test_the_offline_model_answers_for_want_of_another(show: Show) -> None:
    """It is named, with what to configure."""
    view = models(show("--json"))
    assert (view["name"], view["providers"]) == ("offline", [])
    assert "install a provider" in view["advice"]
    assert "offline answers" in show().stdout


def test_a_bean_of_the_user_answers(show: Show) -> None:
    """A ChatModel bean makes the choice needless; it is named with its origin, and is not built."""

    @configuration
    class Own:
        @bean
        def my_model(self) -> ChatModel:
            raise NotImplementedError("nothing is built")

    view = models(show("--json", sources=(Own, One)))
    assert view["name"] == "bean 'my_model'"
    assert "Own.my_model" in view["reason"]
    assert [each["chosen"] for each in view["providers"]] == [False, False]


def test_a_choice_that_cannot_be_made_fails(show: Show) -> None:
    """Two configured providers without a setting: the problem names both, and the exit code is 1."""

    @configuration
    class Two:
        @bean
        def near(self) -> Provider:
            return Provider("near")

        @bean
        def far(self) -> Provider:
            return Provider("far")

    assert "providers far and near are configured" in models(show("--json", sources=(Two,)), 1)["problem"]
    assert "No model answers" in show(sources=(Two,)).stdout


def test_check_asks_the_model(show: Show) -> None:
    """What it said is shown, with the time."""
    answer = models(show("--json", "--check", sources=(One,)))["answer"]
    assert (answer["text"], answer["problem"]) == ("ready", "")
    assert answer["seconds"] >= 0
    assert "After 0.0 s it said: ready" in show("--check", sources=(One,)).stdout


def test_check_tells_why_the_model_does_not_answer(show: Show) -> None:
    """The error is shown and the exit code is 1."""

    @configuration
    class Down:
        @bean
        def near(self) -> Provider:
            return Provider("near", ModelError("the service is down"))

    assert "the service is down" in models(show("--json", "--check", sources=(Down,)), 1)["answer"]["problem"]
    assert " s it failed: ModelError: " in show("--check", sources=(Down,)).stdout


class Connection: ...


@configuration
class Eager:
    @bean
    async def connection(self) -> Connection:
        return Connection()

    @bean(lazy=False)
    def other(self) -> Connection:
        raise OSError("no such server")


def test_only_providers_are_built(show: Show) -> None:
    """Beans that start with the context are not started for the view, but for `--check`, which tells how it fails."""
    assert models(show("--json", sources=(Eager, One)))["name"] == "near:small"
    result = show("--json", "--check", sources=(Eager, One))
    assert models(result, 1)["problem"] == "the application does not start"
    assert "no such server" in json.dumps(json.loads(result.stdout)["failure"])


def test_a_provider_with_asynchronous_beans_is_known_once_the_application_runs(show: Show) -> None:
    """The view says that only a start can tell; `--check` starts, and asks."""

    @configuration
    class Asynchronous:
        @bean
        async def connection(self) -> Connection:
            return Connection()

        @bean
        def near(self, connection: Connection) -> Provider:
            return Provider("near")

    view = models(show("--json", sources=(Asynchronous,)))
    assert (view["name"], view["problem"]) == (None, "")
    assert "--check" in view["reason"]
    assert "It is not known which model answers" in show(sources=(Asynchronous,)).stdout
    view = models(show("--json", "--check", sources=(Asynchronous,)))
    assert (view["name"], view["answer"]["text"]) == ("near:small", "ready")


def test_providers_are_listed_by_bean_where_the_start_fails(show: Show) -> None:
    """Their beans are known by their types, although nothing can be built."""

    class Missing: ...

    @configuration
    class Broken:
        @bean
        def broken(self, missing: Missing) -> ModuleType:
            raise NotImplementedError

    view = models(show("--json", sources=(Broken, One)), 1)
    assert view["problem"] == "the application does not start"
    assert [each["name"] for each in view["providers"]] == ["near", "far"]
