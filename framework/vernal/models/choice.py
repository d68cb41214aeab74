"""Which model answers: the rule by which an application chooses its chat model."""

import difflib
import logging
from collections.abc import Sequence

from vernal.errors import ConfigurationError
from vernal.models.chat import ChatModel
from vernal.models.provider import ChatModelProvider

OFFLINE = "offline"

_log = logging.getLogger("vernal.models")


def choose_chat_model(
    name: str | None, providers: Sequence[ChatModelProvider], *, offline_fallback: bool = True
) -> ChatModel:
    """The chat model that `name` and the installed `providers` lead to.

    `name` is `provider:model`, a provider alone (its default model), or `offline`. Without a name it is the only
    provider that is configured (has a key or a base URL); without such a one the embedded offline model, with one
    warning.

    Raises:
        ConfigurationError: `name` names no installed provider, several providers are configured and none is named,
            or nothing is configured and `offline_fallback` is False.
    """
    if name is not None and name.strip():
        return _named(name.strip(), providers)
    configured = [provider for provider in providers if provider.configured]
    if len(configured) > 1:
        names = " and ".join(sorted(provider.name for provider in configured))
        raise ConfigurationError(
            f"the providers {names} are configured, so it is open which one answers; choose with "
            f"VERNAL_CHAT__MODEL, such as VERNAL_CHAT__MODEL={min(p.name for p in configured)}"
        )
    if configured:
        return configured[0].create()
    if not offline_fallback:
        raise ConfigurationError(
            f"no chat model is configured, and chat.offline_fallback is false; {_installed(providers)}"
        )
    _log.warning(
        "no chat model is configured: the embedded offline model answers, which knows only the tools on offer; %s. "
        "VERNAL_CHAT__MODEL=offline chooses it on purpose, without this warning",
        _installed(providers),
    )
    return _offline()


def _named(name: str, providers: Sequence[ChatModelProvider]) -> ChatModel:
    provider_name, _, model = name.partition(":")
    if provider_name == OFFLINE:
        return _offline()
    for provider in providers:
        if provider.name == provider_name:
            return provider.create(model or None)
    known = [*sorted(provider.name for provider in providers), OFFLINE]
    near = difflib.get_close_matches(provider_name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ConfigurationError(
        f"chat.model is {name!r}, but no provider {provider_name!r} is installed (there are: {', '.join(known)}){hint} "
        f"Wanted is provider:model, such as openai:gpt-5-mini; a provider comes with its plugin, such as vernal-openai"
    )


def _installed(providers: Sequence[ChatModelProvider]) -> str:
    if not providers:
        return "install a provider, such as plugins/openai, and give its key, such as OPENAI_API_KEY"
    names = ", ".join(sorted(provider.name for provider in providers))
    return f"give a key or a base URL to an installed provider ({names}), such as OPENAI_API_KEY"


def _offline() -> ChatModel:
    from vernal.models.offline import OfflineChatModel

    return OfflineChatModel()
