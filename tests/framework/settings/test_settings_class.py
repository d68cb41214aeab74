"""Settings classes themselves: prefixes, immutability, and what importing them costs."""

import subprocess
import sys

import pytest
from pydantic import ValidationError

from vernal.context import settings
from vernal.context.settings import Settings


class Audit(Settings, prefix="audit"):
    path: str = "audit.log"


@pytest.mark.parametrize("prefix", ["Audit", "audit-log", "audit.", ".audit", "a b", "1a"])
def test_a_prefix_that_cannot_be_a_key_is_refused(prefix: str) -> None:
    """A prefix is small letters, digits and `_`, separated by dots."""
    with pytest.raises(TypeError, match=rf"the prefix '{prefix}' of .*Wrong cannot be a key"):

        class Wrong(Settings, prefix=prefix):
            pass


def test_a_class_without_prefix_is_refused() -> None:
    """A settings class must say where its keys stand."""
    with pytest.raises(TypeError, match="Wrong has no prefix; write class Wrong"):

        class Wrong(Settings):
            pass


def test_settings_are_immutable() -> None:
    """A bound object cannot be changed."""
    with pytest.raises(ValidationError):
        Audit().path = "x"


def test_an_unknown_argument_is_refused() -> None:
    """An object made by hand takes no mistyped field."""
    with pytest.raises(ValidationError):
        Audit(paht="x")  # type: ignore[call-arg]  # the very thing that must fail


def test_everything_that_is_promised_is_there() -> None:
    """Each name of `__all__` exists, the lazy ones too, and no other name is invented."""
    for name in settings.__all__:
        assert getattr(settings, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = settings.nothing  # type: ignore[attr-defined]  # the very thing that must fail


def test_looking_up_a_setting_imports_nothing_heavy() -> None:
    """An environment without files is loaded and asked without pydantic, dotenv or tomllib."""
    code = (
        "import sys; from vernal.context.settings import Environment, SettingsError\n"
        "environment = Environment.load({'a': {'b': 1}}, environ={'VERNAL_X': '1'})\n"
        "assert environment.lookup('a.b').value == 1 and environment.lookup('x').value == '1'\n"
        "heavy = {'pydantic', 'pydantic_settings', 'dotenv', 'tomllib', 'pluggy', 'dependency_injector'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/", env=_path())
    assert result.stdout.strip() == "[]", result.stderr


def _path() -> dict[str, str]:
    return {"PYTHONPATH": ":".join(path for path in sys.path if path)}
