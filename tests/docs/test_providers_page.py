"""The page of providers tells what the code does: its tables are compared with the code, its programs run elsewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import vernal.http
from vernal import ChatModelProvider
from vernal.http import DEFAULT_TIMEOUTS, ModelError
from vernal.testing import ApplicationContextRunner
from vernal_openai import PROFILES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")


def table(first: str) -> dict[str, list[str]]:
    """The rows of the table whose first column is called so, by the name in it."""
    lines = PAGE[PAGE.index(f"| {first} |") :].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in lines]
    return {row[0]: row[1:] for row in rows}


def test_the_table_of_profiles_is_that_of_the_code() -> None:
    """Every profile, with its address, key and switch for thinking."""
    assert table("profile") == {
        name: [
            profile.base_url or profile.url_variable or "",
            profile.key_variable or "",
            next(iter(profile.thinking(False)), "") if profile.thinking else "",
        ]
        for name, profile in PROFILES.items()
    }


def test_the_table_of_providers_is_that_of_the_plugins() -> None:
    """Every provider that is installed, with the model that it takes by itself, and a key that configures it."""
    rows = table("provider")
    with ApplicationContextRunner().with_plugins().run() as run:
        providers = {provider.name: provider for provider in run.context.get_all(ChatModelProvider)}
        assert rows.keys() == providers.keys()
        for name, provider in providers.items():
            options = provider.create().default_options
            assert options is not None
            assert rows[name][2] == (options.model or "none")
            assert rows[name][0] == f"plugins/{name}"


@pytest.mark.parametrize("name", [name for name in table("provider") if name != "ollama"])
def test_each_key_of_the_table_configures_its_provider(name: str) -> None:
    """The variables are those that the plugins read."""
    for variable in re.findall(r"[A-Z_]+_KEY", table("provider")[name][1]):
        with ApplicationContextRunner().with_plugins().with_environ({variable: "k"}).run() as run:
            providers = run.context.get_all(ChatModelProvider)
            assert [provider.name for provider in providers if provider.configured] == [name]


def errors(kind: type[ModelError]) -> Iterator[type[ModelError]]:
    """The classes under one."""
    for sub in kind.__subclasses__():
        if sub.__module__ == vernal.http.errors.__name__:
            yield sub
            yield from errors(sub)


def test_the_table_of_errors_is_the_tree() -> None:
    """Every class, whether it is retried, and its cure where it has one."""
    rows = table("error")
    assert rows.keys() == {error.__name__ for error in errors(ModelError)}
    for error in errors(ModelError):
        _, retryable, cure = rows[error.__name__]
        assert retryable == ("yes" if error.default_retryable else "no")
        if error.default_cure is not None and error.__name__ != "AuthenticationError":
            assert cure == error.default_cure


def test_the_table_of_limits_has_the_defaults() -> None:
    """Every limit with its default."""
    shown = {name: row[0] for name, row in table("limit").items()}
    names = ("connect", "first_token", "between_chunks", "total")
    values = {name: getattr(DEFAULT_TIMEOUTS, name) for name in names}
    assert shown == {name: "none" if value is None else f"{value:g} s" for name, value in values.items()}
