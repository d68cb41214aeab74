"""Maps keyed by tool name: exact names from TOML and JSON, folded names from the environment."""

import copy
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal.context.settings import ByName, Environment, Settings, SettingsError
from vernal.context.settings.names import fold
from vernal.errors import ConfigurationError


class Limits(Settings, prefix="tools"):
    limits: ByName[int] = ByName()


def _bind(tmp_path: Path, toml: str = "", **variables: str) -> ByName[int]:
    (tmp_path / "vernal.toml").write_text(f"[tools.limits]\n{toml}" if toml else "")
    environ = {f"VERNAL_TOOLS__LIMITS{name}": value for name, value in variables.items()}
    return Environment.load(directory=tmp_path, environ=environ).bind(Limits).limits


@pytest.mark.parametrize("name", ["get_weather", "get-weather", "Get Weather", "GET__WEATHER"])
def test_a_name_from_the_environment_matches_folded(tmp_path: Path, name: str) -> None:
    """Case-folded, any run of non-alphanumerics as one `_`."""
    limits = _bind(tmp_path, __GET_WEATHER="3")
    assert limits[name] == 3
    assert name in limits
    assert "getWeather" not in limits


def test_a_name_from_toml_matches_exactly(tmp_path: Path) -> None:
    """A name that can be written exactly means that tool alone."""
    limits = _bind(tmp_path, "get-weather = 3\n")
    assert limits["get-weather"] == 3
    assert limits.get("get_weather") is None


def test_a_name_from_json_matches_exactly(tmp_path: Path) -> None:
    """JSON in the variable of the whole map has exact names, and single variables come on top."""
    limits = _bind(tmp_path, **{"": '{"getWeather": 1, "other": 2}', "__OTHER": "5"})
    assert dict(limits) == {"getWeather": 1, "other": 5}
    assert "getweather" not in limits


def test_a_folded_name_means_the_exact_one_that_is_given_elsewhere(tmp_path: Path) -> None:
    """The environment overrides a name of the TOML file, keeping its exact spelling."""
    assert dict(_bind(tmp_path, "Get-Weather = 3\n", __GET_WEATHER="4")) == {"Get-Weather": 4}


def test_a_folded_name_that_means_two_is_an_error(tmp_path: Path) -> None:
    """Where the TOML file names two tools that fold alike, the variable cannot say which."""
    with pytest.raises(SettingsError) as caught:
        _bind(tmp_path, "get-weather = 3\nget_weather = 4\n", __GET_WEATHER="5")
    (problem,) = caught.value.problems
    assert problem.key == "tools.limits.get_weather"
    assert problem.allowed == ("get-weather", "get_weather")
    assert "stands for both 'get-weather' and 'get_weather'" in str(caught.value)


def test_a_folded_name_that_fits_two_tools_is_an_error(tmp_path: Path) -> None:
    """Where the tools are known, one variable for two of them is refused with both names."""
    limits = _bind(tmp_path, "exact-one = 1\n", __GET_WEATHER="5")
    assert limits.for_names(["get-weather", "exact-one", "other"]) == {"get-weather": 5, "exact-one": 1}
    with pytest.raises(ConfigurationError, match="both 'get-weather' and 'Get_Weather'"):
        limits.for_names(["get-weather", "Get_Weather"])


def test_maps_may_lie_over_each_other(tmp_path: Path) -> None:
    """`over` keeps what lies above, however the name is written; `select` takes a part of each value, None left out."""
    above = _bind(tmp_path, "both = 1\n", __GET_WEATHER="5")
    below: ByName[int] = ByName({"get-weather": 7, "Both": 8, "both": 9, "other": 10})
    merged = above.over(below)
    assert (merged["get-weather"], merged["both"], merged["Both"], merged["other"]) == (5, 1, 8, 10)
    assert merged["GET WEATHER"] == 5
    halved = above.select(lambda value: f"{value}" if value > 1 else None)
    assert dict(halved) == {"get_weather": "5"}
    assert halved["Get-Weather"] == "5"


def test_it_is_a_mapping_that_can_be_copied(tmp_path: Path) -> None:
    """Iteration, equality, copies and pickles keep names and their kind."""
    limits = _bind(tmp_path, "exact-one = 1\n", __GET_WEATHER="5")
    for twin in (limits, copy.copy(limits), copy.deepcopy(limits), pickle.loads(pickle.dumps(limits))):
        assert dict(twin) == {"exact-one": 1, "get_weather": 5}
        assert len(twin) == 2
        assert twin["Get-Weather"] == 5
    assert Limits(limits=limits).limits["Get-Weather"] == 5
    assert repr(limits) == "ByName({'exact-one': 1, 'get_weather': 5})"


@given(st.text(min_size=1))
def test_every_fold_is_stable(name: str) -> None:
    """Folding a folded name changes nothing, and case never matters."""
    assert fold(fold(name)) == fold(name)
    assert fold(name.casefold()) == fold(name)
