"""Wrong settings: what the errors say, and what they keep back."""

import pickle
import traceback
from pathlib import Path
from typing import Annotated, Literal, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator

from vernal.context.settings import ByName, Environment, Settings, SettingsError, fallback
from vernal.errors import ConfigurationError

SECRET = "sk-very-secret"


class Login(BaseModel):
    user: str = "me"
    password: SecretStr = SecretStr("")


class Service(Settings, prefix="service"):
    mode: Literal["fast", "slow"] = "fast"
    retries: int = Field(default=1, ge=0)
    key: Annotated[SecretStr, fallback("SERVICE_KEY")] = Field(default=SecretStr("x"), min_length=1, max_length=3)
    keys: dict[str, SecretStr] = Field(default={})
    login: Login = Login()
    limits: ByName[int] = ByName()

    @field_validator("key")
    @classmethod
    def _no_dash(cls, value: SecretStr) -> SecretStr:
        if "-" in value.get_secret_value():
            raise ValueError(f"{value.get_secret_value()} has a dash")
        return value


NOWHERE = Path("/nonexistent")


def _fail(settings_class: type[Settings] = Service, directory: Path = NOWHERE, /, **environ: str) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        Environment.load(directory=directory, environ=environ).bind(settings_class)
    return caught.value


def test_a_wrong_value_names_key_value_wish_and_origin() -> None:
    """The message says which key, what was given, what is wanted, and in which variable it stands."""
    error = _fail(VERNAL_SERVICE__MODE="rapid")
    assert isinstance(error, ConfigurationError)
    assert str(error) == (
        "service.mode = 'rapid': wanted 'fast' or 'slow' (environment variable VERNAL_SERVICE__MODE)."
    )
    (problem,) = error.problems
    assert (problem.key, problem.variable) == ("service.mode", "VERNAL_SERVICE__MODE")
    assert problem.allowed == ("fast", "slow")


def test_in_a_file_the_key_is_named_as_it_is_written_there(tmp_path: Path) -> None:
    """The origin in a file comes with the name to look for in it."""
    (tmp_path / ".env").write_text("VERNAL_SERVICE__RETRIES=-1\n")
    assert "(VERNAL_SERVICE__RETRIES in .env:1)" in str(_fail(Service, tmp_path))
    (tmp_path / ".env").write_text("")
    (tmp_path / "vernal.toml").write_text("[service]\nretries = -1\n")
    assert "service.retries = -1: wanted a value greater than or equal to 0 (service.retries in vernal.toml:2)" in str(
        _fail(Service, tmp_path)
    )


def test_all_problems_are_reported_at_once() -> None:
    """Two wrong values are two lines of one error."""
    error = _fail(VERNAL_SERVICE__MODE="rapid", VERNAL_SERVICE__LIMITS__GET_WEATHER="many")
    assert [problem.key for problem in error.problems] == ["service.mode", "service.limits.get_weather"]
    assert str(error).startswith("2 settings are wrong:\n- service.mode")
    assert "wanted a whole number" in str(error)


def test_a_missing_value_says_how_to_set_it() -> None:
    """A setting without default names the variable and the key in the file."""

    class Needy(Settings, prefix="needy.one"):
        path: str

    assert str(_fail(Needy)) == (
        "needy.one.path: not set, and it has no default. Set VERNAL_NEEDY__ONE__PATH, or needy.one.path in vernal.toml."
    )


@pytest.mark.parametrize(
    "environ",
    [
        {"VERNAL_SERVICE__KEY": SECRET},
        {"SERVICE_KEY": SECRET},
        {"VERNAL_SERVICE__KEYS": f'{{"a": "{SECRET}"'},
        {"VERNAL_SERVICE__KEYS__A": SECRET, "VERNAL_SERVICE__MODE": "x"},
        {"VERNAL_SERVICE__KEYS": f'["{SECRET}"]'},
        {"VERNAL_SERVICE__LOGIN": f'{{"password": "{SECRET}"'},
        {"VERNAL_SERVICE__LOGIN": f'["{SECRET}"]'},
        {"VERNAL_SERVICE__LOGIN": SECRET},
        {"VERNAL_SERVICE__LOGIN__PASSWORD__X": SECRET, "VERNAL_SERVICE__RETRIES": "x"},
    ],
)
def test_a_secret_is_never_shown(environ: dict[str, str]) -> None:
    """No error text, data or traceback has the secret in it, also where a validator of the user's own quotes it."""
    error = _fail(**environ)
    assert SECRET not in str(error)
    assert SECRET not in repr(error.problems)
    assert SECRET not in "".join(traceback.format_exception(error))


def test_the_siblings_of_a_secret_are_shown() -> None:
    """Only what is secret is masked."""
    error = _fail(VERNAL_SERVICE__LOGIN__USER="[1", VERNAL_SERVICE__RETRIES="many", VERNAL_SERVICE__KEY="long")
    assert "service.retries = 'many'" in str(error)
    assert "service.key = **********" in str(error)


def test_a_check_of_the_whole_class_is_reported_under_its_prefix() -> None:
    """What a model validator says stands beside the prefix, with secrets taken out."""

    class Pair(Settings, prefix="pair"):
        first: int = 1
        key: SecretStr = SecretStr("")

        @model_validator(mode="after")
        def _check(self) -> Self:
            raise ValueError(f"first and key do not fit: {self.key.get_secret_value()}")

    error = _fail(Pair, VERNAL_PAIR__KEY=SECRET)
    assert str(error) == "pair: first and key do not fit: **********."


@given(st.sampled_from(["VERNAL_SERVICE__KEY", "SERVICE_KEY", "VERNAL_SERVICE__KEYS"]), st.text(min_size=4))
def test_every_secret_that_is_refused_stays_hidden(name: str, value: str) -> None:
    """Whatever a wrong secret looks like, the error does not repeat it."""
    value = f"~{value}~"
    assert value not in str(_fail(**{name: value}))


def test_the_error_can_be_pickled() -> None:
    """It crosses processes with its data."""
    error = _fail(VERNAL_SERVICE__MODE="rapid")
    twin = pickle.loads(pickle.dumps(error))
    assert (twin.problems, str(twin)) == (error.problems, str(error))


def test_a_long_value_is_shortened() -> None:
    """A value of thousands of characters does not bury what is wrong with it."""

    class Numbers(Settings, prefix="numbers"):
        first: int = 0

    with pytest.raises(SettingsError) as caught:
        Environment.load(environ={"VERNAL_NUMBERS__FIRST": "9" * 9000}, directory=Path("/nonexistent")).bind(Numbers)
    assert len(str(caught.value)) < 500
    assert "numbers.first = '999" in str(caught.value)


def test_a_validator_that_breaks_is_named() -> None:
    """An error that is no verdict on the value goes through, with the name of the class."""

    class Judged(Settings, prefix="judged"):
        name: str = ""

        @field_validator("name")
        @classmethod
        def _judge(cls, value: str) -> str:
            raise LookupError("no list of names")

    with pytest.raises(LookupError) as caught:
        Environment.load(environ={}, directory=Path("/nonexistent")).bind(Judged)
    assert any("Judged" in note for note in caught.value.__notes__)
