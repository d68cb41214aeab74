"""A secret is masked wherever the context shows what is set: texts, data, logs, views and errors."""

import json
import logging
import pickle
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, Field, SecretStr

from vernal.context import (
    Application,
    BeanCreationError,
    MissingBeanError,
    analyze,
    bean,
    configuration,
    on_setting,
    render,
)
from vernal.context.settings import ByName, Settings, SettingsError, describe, fallback, settings_schema
from vernal.context.settings.unknown import find_unknown

SECRET = "s3cr3t-d0-n0t-sh0w"


class Login(BaseModel):
    user: str = "me"
    password: SecretStr = SecretStr("")


class VaultSettings(Settings, prefix="vault"):
    api_key: Annotated[SecretStr | None, fallback("VAULT_KEY")] = None
    keys: ByName[SecretStr] = Field(default_factory=ByName)
    login: Login = Login()
    proxy: str | None = None
    default: SecretStr = SecretStr(SECRET)


class Vault:
    pass


class Missing:
    pass


@configuration
class Beans:
    @bean
    @on_setting("vault.api_key", having="another key")
    def other(self) -> Vault:
        return Vault()

    @bean
    def vault(self, settings: VaultSettings) -> Vault:
        raise OSError("the vault is closed")


ARGUMENTS = {"vault": {"api_key": SECRET, "keys": {"a": SECRET}, "login": {"password": SECRET}}}
ENVIRON = {
    "VERNAL_VAULT__KEYS__B": SECRET,
    "VERNAL_VAULT__PROXY": f"http://me:{SECRET}@proxy:80",
    "VAULT_KEY": SECRET,
    "VERNAL_VAULT__API_KYE": SECRET,
}
DOTENV = f"VERNAL_VAULT__LOGIN__PASSWORD={SECRET}\nVERNAL_VAULT__LOGIN__PASWORD={SECRET}\nnonsense {SECRET}\n"


@pytest.fixture
def application(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Application:
    """An application with the secret in every source, and everything logged."""
    caplog.set_level(logging.DEBUG)
    (tmp_path / ".env").write_text(DOTENV)
    return Application(Beans, settings=ARGUMENTS, environ=ENVIRON, directory=tmp_path, plugins=False)


def shown(error: BaseException) -> str:
    """All that an error shows."""
    return "".join(traceback.format_exception(error)) + repr(error) + json.dumps(analyze(error).as_dict())


def test_no_view_shows_a_secret(application: Application, caplog: pytest.LogCaptureFixture) -> None:
    """Texts of settings and context, conditions, rows, unknown keys, the schema, and what was logged."""
    with application as context:
        settings, environment = context.get(VaultSettings), context.environment
        assert settings.api_key is not None
        assert settings.api_key.get_secret_value() == settings.keys["B"].get_secret_value() == SECRET
        views = [
            repr(settings),
            str(settings),
            repr(context),
            repr(context.beans),
            repr(application.beans),
            repr(application.kept_out),
            repr(environment.sources),
            repr(environment.lookup("vault.api_key")),
            str(context.conditions),
            json.dumps(context.conditions.as_dict()),
            repr(list(context.conditions)),
            json.dumps([asdict(row) for row in describe(environment, [VaultSettings])]),
            repr(list(find_unknown(environment, (VaultSettings,), ()))),
            json.dumps(settings_schema([VaultSettings])),
            caplog.text,
        ]
    assert "Settings that nothing reads" in caplog.text
    for number, view in enumerate(views):
        assert SECRET not in view, number


def test_no_error_shows_a_secret(application: Application) -> None:
    """A missing bean, and one that cannot be built from the settings."""
    with application as context:
        with pytest.raises(MissingBeanError) as missing:
            context.get(Missing)
        with pytest.raises(BeanCreationError) as unbuilt:
            context.get(Vault)
        assert "the vault is closed" in str(unbuilt.value)
        assert SECRET not in shown(missing.value) + shown(unbuilt.value)
        assert SECRET not in render(missing.value.report) + render(unbuilt.value.report)


@pytest.mark.parametrize(
    "wrong",
    [
        {"api_key": {"nested": SECRET}},
        {"keys": [SECRET]},
        {"keys": {"a": {"b": SECRET}}},
        {"login": {"password": [SECRET]}},
        {"login": SECRET},
        {"proxy": [f"http://me:{SECRET}@proxy"]},
        {"api_key": SECRET, "unknown": SECRET},
    ],
    ids=repr,
)
def test_no_wrong_setting_shows_a_secret(wrong: dict[str, object]) -> None:
    """Whatever stands where it should not: the error names the key and masks the value, also across processes."""
    with pytest.raises(SettingsError) as caught:
        Application(Beans, settings={"vault": wrong}, environ={}, plugins=False).check()
    assert SECRET not in shown(caught.value)
    assert SECRET not in shown(pickle.loads(pickle.dumps(caught.value)))
    assert "vault." in str(caught.value)
