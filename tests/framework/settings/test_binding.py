"""How the sources become one validated object of a settings class."""

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource

from vernal import Application
from vernal.context.settings import ByName, Environment, Settings, SettingsError, fallback


class OnLimit(Enum):
    THROW = "throw"
    RETURN = "return_error_response"


class Retry(BaseModel):
    attempts: int = 3
    on: list[OnLimit] = []


@dataclass
class Window:
    size: int = 1


class Everything(Settings, prefix="every.thing"):
    flag: bool = False
    count: int | None = None
    on_limit: OnLimit = OnLimit.THROW
    mode: Literal["fast", "very-slow"] = "fast"
    names: list[str] = Field(default=[])
    numbers: tuple[int, ...] = ()
    modes: frozenset[OnLimit] = frozenset()
    retry: Retry = Retry(attempts=7)
    headers: dict[str, str] = Field(default={})
    nested: dict[str, dict[str, int]] = Field(default={})
    tools: ByName[Retry] = ByName()
    anything: Any = None
    window: Window = Window()
    either: int | list[int] = 0
    where: Path = Path()
    renamed: int = Field(default=0, alias="other")
    key: Annotated[SecretStr | None, fallback("OTHER_KEY", "OLD_KEY")] = None


def _bind(arguments: Mapping[str, object] | None = None, /, **variables: str) -> Everything:
    environ = {f"VERNAL_EVERY__THING__{name}": value for name, value in variables.items()}
    whole = {"every": {"thing": arguments}} if arguments else {}
    return Environment.load(whole, directory=Path("/nonexistent"), environ=environ).bind(Everything)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("flag", "on", True),
        ("count", "5", 5),
        ("on_limit", "RETURN_ERROR_RESPONSE", OnLimit.RETURN),
        ("on_limit", "return-error-response", OnLimit.RETURN),
        ("on_limit", "Return", OnLimit.RETURN),
        ("mode", "VERY_SLOW", "very-slow"),
        ("names", "a, b,,c ", ["a", "b", "c"]),
        ("names", '["a,b", "c"]', ["a,b", "c"]),
        ("numbers", "1,2", (1, 2)),
        ("modes", "THROW,return", {OnLimit.THROW, OnLimit.RETURN}),
        ("headers", '{"X-Name": "v"}', {"X-Name": "v"}),
        ("anything", "[1, 2]", [1, 2]),
        ("anything", "plain", "plain"),
        ("anything", "[plain", "[plain"),
        ("window", '{"size": 4}', Window(4)),
        ("either", "[1]", [1]),
        ("either", "1", 1),
        ("where", "a/b", Path("a/b")),
        ("renamed", "4", 4),
    ],
)
def test_text_becomes_the_type_of_the_field(name: str, text: str, value: object) -> None:
    """What the environment can only say as text arrives as the type that the class declares."""
    assert getattr(_bind(**{name.upper(): text}), name) == value


@pytest.mark.parametrize("member", ["return_error_response", "RETURN-ERROR RESPONSE", "return", OnLimit.RETURN])
def test_enums_are_relaxed_in_arguments_too(member: object) -> None:
    """Enums and literals are compared without case and punctuation, whatever the source."""
    assert _bind({"on_limit": member, "modes": [member]}).on_limit is OnLimit.RETURN


def test_a_partial_override_keeps_its_siblings() -> None:
    """One nested key from a higher source leaves the others to lower sources and to the default object."""
    assert _bind(RETRY__ON="throw").retry == Retry(attempts=7, on=[OnLimit.THROW])
    bound = _bind({"retry": {"attempts": 1}}, RETRY__ON="throw", RETRY__ATTEMPTS="2")
    assert bound.retry == Retry(attempts=1, on=[OnLimit.THROW])
    assert _bind(RETRY='{"attempts": 2, "on": ["throw"]}', RETRY__ATTEMPTS="3").retry.attempts == 3


def test_an_empty_table_overrides_nothing_in_a_model() -> None:
    """An empty mapping for a nested model has no siblings to take away."""
    assert _bind({"retry": {}}, RETRY__ATTEMPTS="2").retry.attempts == 2


def test_an_empty_map_takes_lower_names_away() -> None:
    """An empty mapping for a map is a map without names."""
    assert _bind({"headers": {}}, HEADERS__A="1").headers == {}


def test_a_ready_object_is_taken_as_it_is() -> None:
    """A model given as an argument is not merged with anything."""
    assert _bind({"retry": Retry(attempts=9)}, RETRY__ON="throw").retry == Retry(attempts=9)


def test_maps_merge_by_name() -> None:
    """Each name of a map is merged over the sources on its own, at any depth."""
    bound = _bind({"nested": {"a": {"x": 1}}}, NESTED__A__X="5", NESTED__A__Y="6", NESTED__B='{"z": 7}')
    assert bound.nested == {"a": {"x": 1, "y": 6}, "b": {"z": 7}}


def test_open_values_merge_too() -> None:
    """A dataclass takes nested variables as a model does."""
    assert _bind(WINDOW__SIZE="8").window == Window(8)
    assert _bind(ANYTHING__A__B="1").anything == {"a": {"b": "1"}}


def test_the_fallback_counts_only_when_nothing_of_ours_is_set(tmp_path: Path) -> None:
    """Variables of others come in their order, after every source of ours."""
    environ = {"OLD_KEY": "old", "OTHER_KEY": "other"}
    first = Environment.load(directory=tmp_path, environ=environ).bind(Everything)
    assert first.key == SecretStr("other")
    del environ["OTHER_KEY"]
    assert Environment.load(directory=tmp_path, environ=environ).bind(Everything).key == SecretStr("old")
    (tmp_path / "vernal.toml").write_text('every.thing.key = "ours"\n')
    assert Environment.load(directory=tmp_path, environ=environ).bind(Everything).key == SecretStr("ours")


def test_an_object_made_by_hand_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the application reads the environment; what is made by hand has its arguments and defaults."""
    monkeypatch.setenv("VERNAL_EVERY__THING__COUNT", "5")
    monkeypatch.setenv("COUNT", "6")
    assert Everything().count is None
    assert Everything(count=1).count == 1


def test_a_class_may_add_a_source_of_its_own() -> None:
    """A vault, say, ranks between everything that the application found and the defaults."""

    class Vaulted(Settings, prefix="vaulted"):
        password: str = "default"
        user: str = "default"

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return init_settings, InitSettingsSource(settings_cls, {"password": "vault", "user": "vault"})

    bound = Environment.load({"vaulted.user": "me"}, environ={}).bind(Vaulted)
    assert (bound.user, bound.password) == ("me", "vault")


def test_a_subclass_keeps_its_prefix() -> None:
    """A settings class derived from another reads the same prefix, with its own fields besides."""

    class More(Everything):
        extra_field: int = 0

    environ = {"VERNAL_EVERY__THING__EXTRA_FIELD": "1", "VERNAL_EVERY__THING__COUNT": "2"}
    bound = Environment.load(environ=environ).bind(More)
    assert (bound.extra_field, bound.count) == (1, 2)


def test_two_packages_may_share_a_prefix() -> None:
    """Two classes of one prefix each read their own fields of it."""

    class Mine(Settings, prefix="shared"):
        a: int = 0

    class Theirs(Settings, prefix="shared"):
        b: int = 0

    environment = Environment.load({"shared": {"a": 1, "b": 2}}, environ={})
    assert (environment.bind(Mine).a, environment.bind(Theirs).b) == (1, 2)


def test_a_model_within_itself_can_be_bound() -> None:
    """A recursive model takes nested values without end."""

    class Tree(BaseModel):
        below: "dict[str, Tree]" = {}
        size: int = 0

    class Forest(Settings, prefix="forest"):
        tree: Tree = Tree()

    bound = Environment.load({"forest": {"tree": {"below": {"a": {"size": 2}}}}}, environ={}).bind(Forest)
    assert bound.tree.below["a"].size == 2


@given(st.dictionaries(st.sampled_from("abcd"), st.sets(st.integers(0, 2), min_size=1), max_size=4))
def test_every_name_of_a_map_comes_from_the_highest_source_that_has_it(sources: dict[str, set[int]]) -> None:
    """Argument, own variable, JSON of the whole map: each name takes the first of those that name it."""
    layers = [{name: str(rank) for name, ranks in sources.items() if rank in ranks} for rank in range(3)]
    variables = {f"HEADERS__{name.upper()}": value for name, value in layers[1].items()}
    if layers[2]:
        variables["HEADERS"] = json.dumps(layers[2])
    bound = _bind({"headers": layers[0]} if layers[0] else None, **variables)
    assert bound.headers == {name: str(min(ranks)) for name, ranks in sources.items()}


def test_the_order_of_variables_does_not_matter() -> None:
    """However the environment is ordered, the bound settings are the same."""
    variables = {"RETRY": '{"attempts": 2}', "RETRY__ATTEMPTS": "3", "TOOLS__A__ATTEMPTS": "1", "TOOLS__A__ON": "throw"}
    results = [_bind(**dict(order)) for order in itertools.permutations(variables.items())]
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize(
    "given",
    [
        {"settings": {"tools": 3}},
        {"environ": {"VERNAL_TOOLS": "3"}},
        {"environ": {"VERNAL_TOOLS": '{"timeout": "5s"}'}},
        {"settings": {"chat": {"client": "x"}, "tools": {}}},
    ],
)
def test_a_value_in_the_place_of_settings_is_refused(given: dict[str, Any]) -> None:
    """The error names the key, where it stands, and a setting that may stand below it."""
    with pytest.raises(SettingsError, match=r"(tools|chat\.client) = .* below it, such as VERNAL_(TOOLS|CHAT)__"):
        Application(**{"environ": {}, **given}).check()


@pytest.mark.parametrize("name", ["settings", "environ", "plugins"])
def test_an_argument_of_a_wrong_kind_is_refused_at_once(name: str) -> None:
    """What was given and what is wanted are said where the application is made."""
    with pytest.raises(TypeError, match=f"{name} is 'x'; a mapping is wanted"):
        Application(**{name: "x"})  # type: ignore[arg-type]  # what the test is about
