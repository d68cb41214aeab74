"""Which service the settings mean: its address and its key."""

from pydantic import SecretStr

from vernal import Environment
from vernal_openai.profiles import OPENAI, profile_for, profile_named
from vernal_openai.service import BASE_URL
from vernal_openai.settings import OpenAiSettings


def resolved(settings: OpenAiSettings, environment: Environment) -> OpenAiSettings:
    """The settings with the address of the profile that they name, and with the key that was given for the address.

    An own setting wins over the variables that other tools read too. Such a variable was given for one service, and
    its key goes nowhere else (R28): `GROQ_API_KEY` to Groq, `OPENAI_API_KEY` to OpenAI or with `OPENAI_BASE_URL`.
    """
    base_url, named = settings.base_url, profile_named(settings.profile) if settings.profile else None
    own_key, own_url = environment.lookup("openai.api_key"), environment.lookup("openai.base_url")
    if own_url is None and named is not None:
        base_url = _variable(environment, named.url_variable) or named.base_url or base_url
    settings = settings.model_copy(update={"base_url": base_url})
    if own_key is not None:
        return settings
    address = base_url or BASE_URL
    owner = profile_for(address)
    if own_url is None and named is not None and _variable(environment, named.url_variable) == address:
        owner = named
    shared = own_url is None and _variable(environment, OPENAI.url_variable) == address
    names = (OPENAI.key_variable if shared else None, owner.key_variable)
    key = next((value for name in names if (value := _variable(environment, name))), None)
    if key is not None:
        return settings.model_copy(update={"api_key": SecretStr(key)})
    return settings if settings.api_key is None else settings.without_key("OPENAI_API_KEY", address)


def _variable(environment: Environment, name: str | None) -> str | None:
    found = environment.variable(name) if name is not None else None
    return None if found is None else str(found.value)
